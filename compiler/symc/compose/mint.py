"""Mint: tools → variants, by the laws of docs/variants.md, from data alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from symc.compose.link import Place, Registration
from symc.compose.select import SelectedTool


@dataclass(frozen=True, slots=True, kw_only=True)
class MintedLayer:
    """One layer of a minted chain with the config it got (None: the extension takes none) and where it was written."""

    registration: Registration
    config: dict[str, Any] | None
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class MintedTool:
    """A tool of the agent: a selected base (empty ``chain``) or a variant of it, with its computed surface."""

    name: str
    base: SelectedTool
    chain: tuple[MintedLayer, ...] = ()
    exposed: bool = True
    description: str = ""
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None = None
    annotations: dict[str, Any] | None = None
    place: Place
    adaptations: tuple[str, ...] = ()
