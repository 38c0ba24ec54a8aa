"""The dialect: the subset of Jinja2 that templates are written in (docs/manifests.md §6), and how it is rendered.

An allow-list over Jinja2's syntax tree decides what may stand in a template; what passes is rendered in Jinja2's
immutable sandbox, after its size was bounded from above. Imported only for templates that are not plain.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

from jinja2 import StrictUndefined, TemplateSyntaxError, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from symc.compose.plain import DEEPEST, JOIN_IT, MOST_BRANCHES, MOST_TAGS, NOT_NAMES
from symc.compose.variable import Fault, Mention
from symc.diagnostics.codes import composition as codes
from symc.rendering import printed

LARGEST: Final = 1_000_000
"""Characters that one template may render to; far above any prompt, far below what hurts."""

LONGEST_TAGS: Final = 50_000
"""Characters that stand in its tags, all together."""

_TAG: Final = re.compile(r"\{[{%]")
_TAG_OR_COMMENT: Final = re.compile(r"\{[{%#]")
_END: Final = re.compile(r"[}%]\}")

# Each filter with the most arguments it takes here.
_FILTERS: Final[Mapping[str, int]] = {"upper": 0, "lower": 0, "trim": 1, "join": 1, "default": 2}
# Jinja2's own would write a number or a truth value as Python does.
_PRINTING: Final[Mapping[str, Callable[..., str]]] = {
    "upper": lambda value: printed(value).upper(),
    "lower": lambda value: printed(value).lower(),
    "trim": lambda value, ends=None: printed(value).strip(None if ends is None else printed(ends)),
    "join": lambda items, between="": printed(between).join(map(printed, items)),
}
_ORDERINGS: Final = frozenset({"lt", "lteq", "gt", "gteq"})
_COMPARISONS: Final = _ORDERINGS | {"eq", "ne"}


class DialectTemplate:
    """A template that passed the allow-list; ``names`` are the variables it reads, each once, ``mentions`` their places."""

    __slots__ = ("_jinja", "_tree", "mentions", "names")

    def __init__(self, tree: nodes.Template, mentions: tuple[Mention, ...]) -> None:
        self._tree = tree
        self._jinja: Any = None
        self.mentions = mentions
        self.names = tuple(dict.fromkeys(mention.name for mention in mentions))

    def faults(self, values: Mapping[str, Any]) -> tuple[Fault, ...]:
        """Why it cannot be rendered with these values; every mentioned variable has one."""
        measure = _Measure(values)
        parts = [part for node in self._tree.body for part in _parts(node)]
        sizes = [measure.part(part) for part in parts]
        if not measure.faults and sum(sizes) > LARGEST:
            largest = parts[sizes.index(max(sizes))]
            message = f"the template may render to {sum(sizes):,} characters; at most {LARGEST:,} are allowed"
            hint = "loop over a shorter list"
            measure.faults.append(Fault(codes.TEMPLATE_TOO_LARGE, message, largest.lineno - 1, 0, hint))
        return tuple(measure.faults)

    def render(self, values: Mapping[str, Any]) -> str:
        """The rendered text; ``faults`` found none for these values."""
        if self._jinja is None:
            self._jinja = _environment().from_string(self._tree)
        text: str = self._jinja.render(values)
        return text


def dialect_template(text: str) -> DialectTemplate | tuple[Fault, ...]:
    """The template, or what keeps it from being one."""
    if fault := _too_much(text):
        return (fault,)
    try:
        tree = _environment().parse(text)
    except TemplateSyntaxError as error:
        line = max(0, error.lineno - 1)
        message = f"the template does not parse: {(error.message or '').rstrip('.')}"
        return (
            Fault(codes.TEMPLATE_SYNTAX, message, line, _wrong_tag(text, line, error.message), _LEGAL_TAGS),
        )
    except RecursionError:
        return (Fault(codes.TEMPLATE_SYNTAX, "the template is nested too deeply"),)
    except ValueError:
        return (Fault(codes.TEMPLATE_SYNTAX, "the template holds a number that is too long"),)
    reader = _Reader(text)
    reader.block(tree.body, 0)
    return tuple(reader.faults) or DialectTemplate(tree, tuple(reader.mentions))


def _too_much(text: str) -> Fault | None:
    """Why the template is not even read: in bounded time, nobody could tell what else is wrong with it."""
    length = 0
    for count, tag in enumerate(_TAG.finditer(text), 1):
        end = _END.search(text, tag.end())
        length += (end.end() if end else len(text)) - tag.start()
        if count > MOST_TAGS or length > LONGEST_TAGS:
            much = f"{MOST_TAGS} tags" if count > MOST_TAGS else f"{LONGEST_TAGS:,} characters in its tags"
            line = text.count("\n", 0, tag.start())
            column = tag.start() - text.rfind("\n", 0, tag.start()) - 1
            hint = "split the fragment, or write what never changes as text"
            return Fault(codes.TEMPLATE_TOO_LARGE, f"the template has more than {much}", line, column, hint)
    return None


@cache  # nothing is ever set on it
def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
        cache_size=0,
        finalize=printed,
    )
    environment.globals.clear()
    environment.tests.clear()
    environment.filters = {"default": environment.filters["default"], **_PRINTING}
    return environment


def _wrong_tag(text: str, line: int, message: str | None) -> int:
    """The column of the tag that the parser gave up at: Jinja2 tells its line alone.

    The first tag of the line that is wrong in the same way by itself, else the first.
    """
    lines = text.split("\n")
    tags = list(_TAG_OR_COMMENT.finditer(lines[line])) if line < len(lines) else []
    for tag in tags:
        end = _END.search(lines[line], tag.end())
        try:
            _environment().parse(lines[line][tag.start() : end.end() if end else None])
        except TemplateSyntaxError as error:
            if error.message == message:
                return tag.start()
        except (RecursionError, ValueError):
            return tag.start()
    return _first_tag(text, line)


def _first_tag(text: str, line: int) -> int:
    lines = text.split("\n")
    found = _TAG_OR_COMMENT.search(lines[line]) if line < len(lines) else None
    return found.start() if found else 0


class _Reader:
    """Walks a syntax tree by the allow-list; whatever is not named here is refused."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = text.split("\n")
        self._seen: dict[tuple[int, str], int] = {}
        self.faults: list[Fault] = []
        self.mentions: list[Mention] = []

    def block(self, body: list[nodes.Node], depth: int, item: str = "") -> None:
        """Statements; ``item`` is the loop's own name inside a loop."""
        for node in body:
            if isinstance(node, nodes.Output):
                for part in node.nodes:
                    if not isinstance(part, nodes.TemplateData):
                        self._value(part, item)
            elif depth >= DEEPEST and isinstance(node, nodes.If | nodes.For):
                self._refuse(node, f"tags are nested more than {DEEPEST} deep", "")
            elif isinstance(node, nodes.If):
                self._branches(node, depth, item)
            elif isinstance(node, nodes.For):
                self._loop(node, depth, item)
            else:
                self._refuse(node, f"`{_tag(node)}` is not part of the template language", _LEGAL_TAGS)

    def _branches(self, node: nodes.If, depth: int, item: str) -> None:
        if len(node.elif_) > MOST_BRANCHES:
            self._refuse(node, f"a condition has more than {MOST_BRANCHES} branches", "")
            return
        for branch in (node, *node.elif_):
            self._condition(branch.test, item)
            self.block(branch.body, depth + 1, item)
        self.block(node.else_, depth + 1, item)

    def _loop(self, node: nodes.For, depth: int, item: str) -> None:
        if item:
            self._refuse(node, "a loop stands inside a loop", "loops are one deep")
        elif node.recursive or node.test is not None or node.else_:
            self._refuse(
                node, "a loop has `if`, `else` or `recursive`", "write {% for x in list %}…{% endfor %}"
            )
        elif not isinstance(node.target, nodes.Name) or node.target.name in NOT_NAMES:
            self._refuse(
                node, "a loop names something other than one plain variable", "write {% for x in list %}"
            )
        elif not isinstance(node.iter, nodes.Name):
            self._refuse(node, "a loop is over something other than a declared list", "name a variable")
        else:
            self._name(node.iter, "")
            self.block(node.body, depth + 1, node.target.name)

    def _condition(self, test: nodes.Node, item: str) -> None:
        if isinstance(test, nodes.Name):
            self._name(test, item)
            return
        if isinstance(test, nodes.Compare) and len(test.ops) == 1:
            sides = (test.expr, test.ops[0].expr)
            names = [side for side in sides if isinstance(side, nodes.Name)]
            if test.ops[0].op in _COMPARISONS and len(names) == 1 and any(map(_is_constant, sides)):
                self._name(names[0], item)
                return
        self._refuse(
            test,
            "a condition is neither a variable nor a comparison of one with a constant",
            'write {% if name %} or {% if name == "value" %}',
        )

    def _value(self, node: nodes.Expr, item: str) -> None:
        depth = 0
        while isinstance(node, nodes.Filter):
            depth += 1
            if not self._filter(node) or node.node is None or depth > DEEPEST:
                if depth > DEEPEST:
                    self._refuse(node, f"more than {DEEPEST} filters follow each other", "")
                return
            node = node.node
        if isinstance(node, nodes.Name):
            self._name(node, item)
        elif not _is_constant(node):
            self._refuse(
                node,
                f"{_EXPRESSIONS.get(type(node), 'an expression')} is not part of the template language",
                "a template prints variables, with the filters " + ", ".join(_FILTERS),
            )

    def _filter(self, node: nodes.Filter) -> bool:
        most = _FILTERS.get(node.name)
        if most is None:
            legal = f"the filters are {', '.join(_FILTERS)}"
            self._refuse(node, f'the filter "{node.name}" is not part of the template language', legal)
            return False
        if (
            len(node.args) > most
            or node.kwargs
            or node.dyn_args is not None
            or node.dyn_kwargs is not None
            or not all(map(_is_constant, node.args))
        ):
            self._refuse(
                node, f'the filter "{node.name}" has arguments it does not take', "give it constants"
            )
            return False
        return True

    def _name(self, node: nodes.Name, item: str) -> None:
        if node.name in NOT_NAMES:
            self._refuse(node, f'"{node.name}" is a word of the template language, not a variable', "")
        elif node.name != item or not item:
            line = node.lineno - 1
            self.mentions.append(Mention(node.name, line, self._column(line, node.name)))

    def _column(self, line: int, name: str) -> int:
        """The next place of the name on its line; Jinja2 keeps lines only."""
        text = self._lines[line] if line < len(self._lines) else ""
        start = self._seen.get((line, name), _first_tag(self._text, line))
        found = re.compile(rf"\b{re.escape(name)}\b").search(text, start)
        self._seen[line, name] = found.end() if found else start
        return found.start() if found else start

    def _refuse(self, node: nodes.Node, message: str, hint: str) -> None:
        # Jinja2 wraps some tags in a node that has no line; what is inside has.
        lines = (one.lineno for one in (node, *node.find_all(nodes.Node)))
        line = next((number for number in lines if number), 1) - 1
        self.faults.append(
            Fault(codes.TEMPLATE_NOT_ALLOWED, message, line, _first_tag(self._text, line), hint)
        )


_LEGAL_TAGS = "the tags are {% if %}, {% elif %}, {% else %} and {% for %}"
_EXPRESSIONS: Final[Mapping[type[nodes.Node], str]] = {
    nodes.Call: "a call",
    nodes.Getattr: "an attribute",
    nodes.Getitem: "an item",
    nodes.Test: "a test",
    nodes.CondExpr: "an inline `if`",
    nodes.Compare: "a printed comparison",
    nodes.Concat: "a concatenation",
    nodes.List: "a list",
    nodes.Tuple: "a tuple",
    nodes.Dict: "a mapping",
    nodes.And: "`and`",
    nodes.Or: "`or`",
    nodes.Not: "`not`",
    **dict.fromkeys(
        (
            nodes.Add,
            nodes.Sub,
            nodes.Mul,
            nodes.Div,
            nodes.FloorDiv,
            nodes.Mod,
            nodes.Pow,
            nodes.Pos,
            nodes.Neg,
        ),
        "arithmetic",
    ),
}
_TAGS: Final[Mapping[type[nodes.Node], str]] = {
    nodes.Assign: "set",
    nodes.AssignBlock: "set",
    nodes.FromImport: "from",
    nodes.FilterBlock: "filter",
    nodes.CallBlock: "call",
    nodes.ScopedEvalContextModifier: "autoescape",
    nodes.Scope: "autoescape",
}


def _tag(node: nodes.Node) -> str:
    return _TAGS.get(type(node), type(node).__name__.lower())


def _is_constant(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Const) or (
        isinstance(node, nodes.Neg)
        and isinstance(node.node, nodes.Const)
        and type(node.node.value) in (int, float)
    )


def _parts(node: nodes.Node) -> list[nodes.Node]:
    """A statement, or what an output consists of: texts and printed expressions."""
    return list(node.nodes) if isinstance(node, nodes.Output) else [node]


class _Measure:
    """Bounds the size of a rendering from above, and finds the values that do not suit their place.

    An expression is followed as the tuple of values it may have: one for a variable, each item for a loop's own name.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        self.faults: list[Fault] = []

    def part(self, node: nodes.Node, item: str = "", items: tuple[Any, ...] = ()) -> int:
        """The most characters that a part writes; ``item`` and ``items`` are those of the loop around it."""
        if isinstance(node, nodes.TemplateData):
            return len(node.data)
        if isinstance(node, nodes.Expr):
            return self._printed(node, item, items)
        if isinstance(node, nodes.If):
            sizes = []
            for branch in (node, *node.elif_):
                self._compared(branch.test, item, items)
                sizes.append(self._block(branch.body, item, items))
            return max(*sizes, self._block(node.else_, item, items))
        assert isinstance(node, nodes.For)
        assert isinstance(node.iter, nodes.Name)
        assert isinstance(node.target, nodes.Name)
        values = self._values[node.iter.name]
        if not isinstance(values, list | tuple):
            self._fault(node, f'the loop is over "{node.iter.name}", which is no list', "declare a list")
            return 0
        return len(values) * self._block(node.body, node.target.name, tuple(values))

    def _block(self, body: list[nodes.Node], item: str, items: tuple[Any, ...]) -> int:
        return sum(self.part(part, item, items) for node in body for part in _parts(node))

    def _printed(self, node: nodes.Expr, item: str, items: tuple[Any, ...]) -> int:
        filters = []
        while isinstance(node, nodes.Filter):
            filters.append(node)
            assert node.node is not None
            node = node.node
        values = self._possible(node, item, items)
        is_list = any(isinstance(value, list | tuple) for value in values)
        size = max(map(_length, values), default=0)
        for each in reversed(filters):
            arguments = [printed(_constant(argument)) for argument in each.args]
            if each.name == "join":
                if not is_list:
                    self._fault(node, "`join` is for lists", "remove the filter")
                    return 0
                size += max(map(len, values)) * max(map(len, arguments), default=0)
                is_list = False
            elif each.name == "default":
                size = max(size, *map(len, arguments), 0)
            elif is_list:
                self._fault(node, f"a list goes through `{each.name}`", JOIN_IT)
                return 0
            else:
                size *= 3  # the longest any character becomes in another case
        if is_list:
            self._fault(node, "a list is printed", JOIN_IT)
        return size

    def _compared(self, test: nodes.Node, item: str, items: tuple[Any, ...]) -> None:
        if not isinstance(test, nodes.Compare) or test.ops[0].op not in _ORDERINGS:
            return
        sides = (test.expr, test.ops[0].expr)
        kinds = {_kind(value) for side in sides for value in self._possible(side, item, items)}
        if len(kinds) > 1 or not kinds <= {"text", "number"}:
            said = " with ".join(sorted(kinds))
            self._fault(test, f"a comparison by size is of {said}", "compare a number with a number")

    def _possible(self, node: nodes.Expr, item: str, items: tuple[Any, ...]) -> tuple[Any, ...]:
        if isinstance(node, nodes.Name):
            return items if item and node.name == item else (self._values[node.name],)
        return (_constant(node),)

    def _fault(self, node: nodes.Node, message: str, hint: str) -> None:
        self.faults.append(Fault(codes.TEMPLATE_VALUE, message, max(0, node.lineno - 1), 0, hint))


def _constant(node: nodes.Expr) -> Any:
    if isinstance(node, nodes.Neg):
        assert isinstance(node.node, nodes.Const)
        return -node.node.value
    assert isinstance(node, nodes.Const)
    return node.value


def _length(value: Any) -> int:
    if isinstance(value, list | tuple):
        return sum(len(printed(item)) for item in value)
    return len(printed(value))


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return "text"
    if isinstance(value, int | float):
        return "number"
    return "nothing" if value is None else "a list"
