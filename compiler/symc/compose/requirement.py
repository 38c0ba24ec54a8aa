"""Requirements: a name and the versions of it that will do (docs/manifests.md §2). Checked, never solved."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Requirement:
    """``crm >=1.4``: an extension and a PEP 440 specifier set, empty when any version will do."""

    name: str
    specifier: str = ""

    @classmethod
    def parse(cls, text: str) -> Requirement:
        """The parts of a requirement that passed the check stage."""
        name, _, specifier = text.partition(" ")
        return cls(name, specifier)

    def admits(self, version: str) -> bool:
        """Whether this version will do. Only one exists in a workspace, so a pre-release counts as what it is."""
        return not self.specifier or _within(self.specifier, version)

    def __str__(self) -> str:
        return f"{self.name} {self.specifier}" if self.specifier else self.name


@lru_cache(maxsize=4096)
def _within(specifier: str, version: str) -> bool:
    from packaging.specifiers import SpecifierSet

    return SpecifierSet(specifier).contains(version, prereleases=True)
