"""What a provider allows, as data: one JSON file a provider, each rule with its date and source."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

from symc.diagnostics import Level

RULES: Final = (
    "tool-name-characters",
    "tool-name-length",
    "tool-count",
    "description-length",
    "root-type",
    "root-combinators",
    "property-keys",
    "references",
    "single-type",
    "array-items",
    "object-properties",
    "schema-depth",
)
"""Every rule a profile may have, in the order in which they are checked."""

ADAPTATIONS: Final = ("inline-refs", "split-types", "add-type", "add-properties")
"""Changes to an input schema that keep its meaning, in the order in which they are made (docs/policies.md §6)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One limit of one provider.

    ``limit`` is a number of characters, tools or levels; ``pattern`` what a whole name must match and ``legal`` the
    same in words; ``keywords`` what is refused. With an ``adaptation`` a schema that breaks the rule is changed
    instead of refused, where that loses nothing.
    """

    name: str
    as_of: str
    source: str
    level: Level = Level.ERROR
    limit: int = 0
    pattern: re.Pattern[str] | None = None
    legal: str = ""
    keywords: tuple[str, ...] = ()
    adaptation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """All rules of one provider; ``title`` is its API in words."""

    name: str
    title: str
    rules: Mapping[str, Rule]

    def rule(self, name: str) -> Rule | None:
        """The rule with this name, None where the provider has none."""
        assert name in RULES
        return self.rules.get(name)


def parse(data: Mapping[str, Any]) -> Profile:
    """A profile from the JSON of its file; ValueError for a rule or a key that does not exist."""
    rules = {name: _rule(name, row) for name, row in data["rules"].items()}
    return Profile(name=data["name"], title=data["title"], rules=rules)


def _rule(name: str, row: Mapping[str, Any]) -> Rule:
    known = {"as_of", "source", "level", "limit", "pattern", "legal", "keywords", "adaptation"}
    if (
        name not in RULES
        or not row.keys() <= known
        or row.get("adaptation", ADAPTATIONS[0]) not in ADAPTATIONS
    ):
        raise ValueError(f"the rule {name!r} is none that symc checks")
    return Rule(
        name=name,
        as_of=row["as_of"],
        source=row["source"],
        level=Level(row.get("level", "error")),
        limit=row.get("limit", 0),
        pattern=re.compile(row["pattern"]) if "pattern" in row else None,
        legal=row.get("legal", ""),
        keywords=tuple(row.get("keywords", ())),
        adaptation=row.get("adaptation", ""),
    )


def _load(name: str) -> Profile:
    return parse(json.loads(files(__package__).joinpath(f"{name}.json").read_text(encoding="utf-8")))


# Read once, with the code: a check touches no file.
PROFILES: Final[Mapping[str, Profile]] = {
    name: _load(name) for name in ("anthropic", "bedrock", "gemini", "none", "openai")
}
"""Every profile by the name that manifests use."""


def profile(name: str) -> Profile:
    """The profile that ``provider: NAME`` means; KeyError for a name the manifests' check let through by mistake."""
    return PROFILES[name]
