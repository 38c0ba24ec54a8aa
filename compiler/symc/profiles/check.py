"""The tools of one agent under its provider's profile: names, number, texts and schemas (docs/policies.md §6).

One bad tool makes a provider refuse the whole request, with an index and no name. So each diagnostic names the tool,
its extension, the rule, the limit and the place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from symc.contracts.names import LOCAL_TOOL_NAME
from symc.diagnostics import Code, Diagnostic, Hint, Report, Span
from symc.diagnostics.codes import pins as codes
from symc.profiles.profile import Profile, Rule
from symc.profiles.schemas import Examined, examine
from symc.schema import Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class ExposedTool:
    """A tool as a model would see it, variants included.

    ``parts`` are the pieces of ``name`` in order, each with what it is (``prefix``, ``tool``, ``variant``);
    ``is_delegate`` says that it calls the agent ``raw``; ``locate`` gives the place of ``("name",)``, ``("description",)``
    or ``("input_schema", …)``.
    """

    name: str
    extension: str
    raw: str
    description: str
    input_schema: dict[str, Any]
    parts: tuple[tuple[str, str], ...]
    is_variant: bool = False
    is_delegate: bool = False
    locate: Callable[[Tokens], Span] = field(compare=False)

    @property
    def origin(self) -> str:
        """Whose tool it is: ``extension/raw``."""
        return f"{self.extension}/{self.raw}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """What a profile says of an agent's tools: ``adapted`` gives, by exposed name, the schemas that had to change."""

    diagnostics: tuple[Diagnostic, ...] = ()
    adapted: Mapping[str, Examined] = field(default_factory=dict)


Seen = MutableMapping[tuple[str, int], Examined]
"""Schemas already examined, by profile and identity, so that an extension's tools cost once and not once an agent."""


def check(
    profile: Profile,
    tools: Sequence[ExposedTool],
    *,
    agent: str,
    at: Callable[[], Span],
    most: int | None = None,
    reserved: Iterable[str] = (),
    seen: Seen | None = None,
) -> Fitted:
    """Check every exposed tool of ``agent`` (``at`` gives the place of its tools, and is asked only for a message) and adapt the schemas that the provider needs adapted.

    ``most`` is the manifest's own limit on their number, which may only tighten; ``reserved`` are names that are taken
    although no model sees them, so that none is proposed for another tool. ``seen`` may be shared between the
    agents of one compile; the schemas must then outlive it.
    """
    report = Report()
    adapted: dict[str, Examined] = {}
    seen = {} if seen is None else seen
    report.extend(_number(profile, tools, agent, at, most))
    taken = {name.lower() for name in (*reserved, *(tool.name for tool in tools))}
    for tool in tools:
        report.extend([*_name(profile, tool, taken), *_description(profile, tool)])
        key = (profile.name, id(tool.input_schema))
        examined = seen.get(key)
        if examined is None:
            examined = seen[key] = examine(profile, tool.input_schema)
        report.extend([*_schema(tool, examined)])
        if examined.adaptations:
            adapted[tool.name] = examined
    return Fitted(diagnostics=report.diagnostics, adapted=adapted)


def _number(
    profile: Profile, tools: Sequence[ExposedTool], agent: str, at: Callable[[], Span], most: int | None
) -> list[Diagnostic]:
    rule = profile.rule("tool-count")
    limits = [(limit, whose) for limit, whose in _limits(profile, rule, most) if len(tools) > limit]
    if not limits:
        return []
    limit, whose = min(limits)
    rows = Counter(tool.extension for tool in tools)
    variants = Counter(tool.extension for tool in tools if tool.is_variant)
    table = tuple(
        f"{extension}: {count}" + (f", {variants[extension]} of them variants" if variants[extension] else "")
        for extension, count in sorted(rows.items(), key=lambda row: (-row[1], row[0]))
    )
    message = f'agent "{agent}" has {len(tools)} tools; {whose} {limit}'
    diagnostic = codes.TOO_MANY_TOOLS.at(
        at(),
        message,
        notes=table,
        hint=Hint("select fewer tools, or mint fewer variants (`expose: leaf` hides the steps)"),
        subject=agent,
    )
    return [diagnostic if rule is None else replace(diagnostic, level=rule.level)]


def _limits(profile: Profile, rule: Rule | None, most: int | None) -> Iterator[tuple[int, str]]:
    if rule is not None:
        yield rule.limit, f"{profile.name} allows"
    if most is not None:
        yield most, "its `limits` allow"


def _name(profile: Profile, tool: ExposedTool, taken: set[str]) -> Iterator[Diagnostic]:
    """What is wrong with a name; the one that is proposed in its place is ``taken`` from then on, in small letters."""
    rule = profile.rule("tool-name-length")
    if rule and len(tool.name) > rule.limit:
        shares = " + ".join(f'{what} "{text}" {len(text)}' for what, text in tool.parts)
        yield _at(
            codes.TOOL_NAME_TOO_LONG,
            rule,
            tool,
            ("name",),
            f"has {len(tool.name)} characters; {profile.name} allows {rule.limit}",
            notes=(f"{shares} = {len(tool.name)}",),
            hint=f'give the agent "{tool.raw}" a shorter name'
            if tool.is_delegate
            else "shorten the prefix, or give the tool another name with `as`",
        )
    rule = profile.rule("tool-name-characters")
    if rule and rule.pattern and not rule.pattern.fullmatch(tool.name):
        yield _at(
            codes.TOOL_NAME_CHARACTERS,
            rule,
            tool,
            ("name",),
            f"is not a name that {profile.name} takes: {_bad_characters(tool.name, rule)}",
            notes=(f"{profile.name} allows {rule.legal}",),
            hint=_renamed(profile, tool, taken),
        )


def _bad_characters(name: str, rule: Rule) -> str:
    assert rule.pattern is not None
    # A letter in front, because a character that only may not come first is not bad in itself.
    bad = dict.fromkeys(letter for letter in name if not rule.pattern.fullmatch(f"a{letter}"))
    if not bad:
        return f'it must not start with "{name[:1]}"'
    return "it has " + ", ".join(
        f'"{letter}"' if letter.isprintable() else f"U+{ord(letter):04X}" for letter in bad
    )


def _renamed(profile: Profile, tool: ExposedTool, taken: set[str]) -> str:
    if tool.is_variant:
        return "name the variant with `as`"
    free = next(name for name in _legal(profile, tool.raw) if name.lower() not in taken)
    rule = profile.rule("tool-name-characters")
    assert rule is not None
    assert rule.pattern is not None
    if not free.strip("_-") or not LOCAL_TOOL_NAME.accepts(free) or not rule.pattern.fullmatch(free):
        return "give the tool another name with `as`; its server still gets the raw one"
    taken.add(free.lower())
    return f"rename it: {{tool: {tool.origin}, as: {free}}}; its server still gets the raw name"


def _legal(profile: Profile, raw: str) -> Iterator[str]:
    """The name in characters that every provider takes, then with ``_2``, ``_3`` and so on, none longer than allowed."""
    legal = "".join(
        letter if letter.isascii() and (letter.isalnum() or letter in "_-") else "_" for letter in raw
    )
    rule = profile.rule("tool-name-length")
    longest = len(legal) + len("_999") if rule is None else rule.limit
    yield legal[:longest]
    for number in count(2):
        yield f"{legal[: longest - len(f'_{number}')]}_{number}"


def _description(profile: Profile, tool: ExposedTool) -> Iterator[Diagnostic]:
    rule = profile.rule("description-length")
    if rule and len(tool.description) > rule.limit:
        yield _at(
            codes.TOOL_DESCRIPTION_TOO_LONG,
            rule,
            tool,
            ("description",),
            f"has a description of {len(tool.description)} characters; {profile.name} allows {rule.limit}",
            hint=f'shorten the description of the agent "{tool.raw}": it is what its caller reads'
            if tool.is_delegate
            else f"describe it in the agent: {{tool: {tool.origin}, description: …}}",
        )


def _schema(tool: ExposedTool, examined: Examined) -> Iterator[Diagnostic]:
    for fault in examined.faults:
        path = ("input_schema", *fault.path)
        yield _at(fault.code, fault.rule, tool, path, fault.sentence, hint=fault.hint)


def _at(
    code: Code,
    rule: Rule,
    tool: ExposedTool,
    path: Tokens,
    sentence: str,
    *,
    notes: tuple[str, ...] = (),
    hint: str,
) -> Diagnostic:
    origin = "" if tool.origin == tool.name else f" ({tool.origin})"
    source = f"rule {rule.name} of {rule.as_of}: {rule.source}"
    diagnostic = code.at(
        tool.locate(path),
        f'tool "{tool.name}"{origin} {sentence}',
        notes=(*notes, source),
        hint=hint,
        subject=tool.origin,
    )
    return replace(diagnostic, level=rule.level)
