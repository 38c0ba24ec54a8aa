"""Coverage: what of an agent some policy guards, what none does, and which policies reach nothing (docs/policies.md §3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from symc.composition import Composition, Policy
from symc.guarding import TOOL_CALL


@dataclass(frozen=True, slots=True)
class Guarded:
    """Something an agent may do, by name, and the policies over it, as ``owner/policy_id``, sorted."""

    name: str
    policies: tuple[str, ...] = ()
    hidden: bool = False

    @property
    def covered(self) -> bool:
        """Whether any policy is over it."""
        return bool(self.policies)


@dataclass(frozen=True, slots=True)
class Coverage:
    """The table of ``symc show --coverage``.

    ``effects`` are the granted effects, ``tools`` all tools with the policies that match them (those over the effect of
    calling any tool stand with the effect); ``unreachable`` are the policies that can stop nothing here, each with why.
    """

    effects: tuple[Guarded, ...]
    tools: tuple[Guarded, ...]
    unreachable: tuple[tuple[str, str], ...]

    @property
    def uncovered(self) -> tuple[str, ...]:
        """The granted effects that happen without any policy being asked.

        Calling tools is covered when a policy is over every call, or over each tool that can be called.
        """
        return tuple(
            one.name
            for one in self.effects
            if not one.covered
            and not (one.name == TOOL_CALL and all(tool.covered or tool.hidden for tool in self.tools))
        )

    def lines(self) -> tuple[str, ...]:
        """The table as text, one line each, without trailing blanks."""
        return tuple(line.rstrip() for line in self._lines())

    def _lines(self) -> Iterator[str]:
        marks = dict.fromkeys(self.uncovered, "nothing — uncovered")
        yield from _table(
            "effect",
            [(one.name, ", ".join(one.policies) or marks.get(one.name, "nothing")) for one in self.effects],
        )
        if self.tools:
            yield ""
            yield from _table(
                "tool",
                [
                    (one.name + (" (hidden)" if one.hidden else ""), ", ".join(one.policies) or "nothing")
                    for one in self.tools
                ],
            )
        if self.unreachable:
            yield ""
            yield from _table("policy", list(self.unreachable), "reaches nothing here")


def coverage(composition: Composition) -> Coverage:
    """What guards each effect and tool of the agent, and what guards nothing."""
    agent = composition.agent
    at_work = {key for tool in agent.tools.values() for key in tool.guarded_by}
    at_work.update(key for keys in agent.effects.values() for key in keys)
    return Coverage(
        effects=tuple(Guarded(effect, agent.effects.get(effect, ())) for effect in agent.grants),
        tools=tuple(
            Guarded(name, tool.guarded_by, not tool.exposed) for name, tool in sorted(agent.tools.items())
        ),
        unreachable=tuple(
            (key, _why(policy)) for key, policy in composition.policies.items() if key not in at_work
        ),
    )


def _why(policy: Policy) -> str:
    if policy.tools is not None:
        return "it names no tool of this agent"
    return f"not granted: {', '.join(policy.actions)}"


def _table(heading: str, rows: Sequence[tuple[str, str]], other: str = "guarded by") -> Iterable[str]:
    width = max(len(name) for name in (heading, *(name for name, _ in rows)))
    yield f"{heading:{width}}  {other}"
    for name, text in rows:
        yield f"{name:{width}}  {text}"
