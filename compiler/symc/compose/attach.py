"""Attach: the keys of ``variants`` → the chains of each tool, by the laws of keys (V2, V15)."""

from __future__ import annotations

from collections.abc import Mapping

from symc.compose.chains import ResolvedChain, resolve_chain
from symc.compose.link import LinkedAgent, Links, VariantRow
from symc.compose.select import SelectedTool
from symc.contracts.patterns import ToolPattern
from symc.diagnostics import Diagnostic, LabelledSpan, Report
from symc.diagnostics.codes import composition as codes
from symc.diagnostics.suggest import did_you_mean


def resolved(agent: LinkedAgent, report: Report) -> dict[str, tuple[ResolvedChain, ...]]:
    """The legal chains of each key. V10: every chain is resolved, also one whose tool is not selected."""
    return {
        row.key: tuple(
            legal for chain in row.chains if (legal := resolve_chain(chain, row, agent, report)) is not None
        )
        for row in agent.variants
    }


def attach(
    agent: LinkedAgent,
    selected: list[SelectedTool],
    chains: Mapping[str, tuple[ResolvedChain, ...]],
    links: Links,
    report: Report,
) -> dict[tuple[str, str], tuple[ResolvedChain, ...]]:
    """The chains of each selected tool: an exact key replaces what patterns give (V2)."""
    by_identity = {tool.identity: tool for tool in selected}
    exact: dict[tuple[str, str], tuple[ResolvedChain, ...]] = {}
    by_pattern: dict[tuple[str, str], list[ResolvedChain]] = {}
    for row in sorted(agent.variants, key=lambda row: row.key):
        pattern = ToolPattern.parse(row.key)
        if pattern.literal:
            identity = (str(pattern.extension), pattern.name)
            if identity in by_identity:
                exact[identity] = chains[row.key]
            elif not agent.poisoned and not _is_misspelt(identity, agent, links):
                # What a refused document would have brought is not known; a row that names no tool was told already.
                report.add(_unattached(row, identity, agent, chains, by_identity, links))
            continue
        matched = [identity for identity in by_identity if pattern.matches(*identity)]
        for identity in matched:
            by_pattern.setdefault(identity, []).extend(chains[row.key])
        if not matched and not agent.poisoned:
            report.add(
                codes.VARIANT_KEY_UNSELECTED.at(
                    row.place.manifest.key_span(*row.place.path),
                    f'the variants key "{row.key}" matches no tool that agent "{agent.name}" selects',
                    hint="select a tool it matches under `tools`, or remove the key",
                    subject=row.place.owner,
                )
            )
    return {**{identity: tuple(found) for identity, found in by_pattern.items()}, **exact}


def _is_misspelt(identity: tuple[str, str], agent: LinkedAgent, links: Links) -> bool:
    """Whether the agent means to select the tool, in a row that names none: by a near name, or of another extension."""
    for row in agent.tools:
        pattern = ToolPattern.parse(row.pattern)
        if not pattern.literal or pattern.extension is None:
            continue
        extension = links.extensions.get(pattern.extension)
        if extension is not None and pattern.name in {tool.name for tool in extension.body.tools}:
            continue
        if pattern.name == identity[1]:
            return True
        if pattern.extension == identity[0] and did_you_mean(pattern.name, [identity[1]]):
            return True
    return False


def _unattached(
    row: VariantRow,
    identity: tuple[str, str],
    agent: LinkedAgent,
    chains: Mapping[str, tuple[ResolvedChain, ...]],
    selected: Mapping[tuple[str, str], SelectedTool],
    links: Links,
) -> Diagnostic:
    """V15: a key that names no tool, an unselected tool, or a variant: each in its own words."""
    span = row.place.manifest.key_span(*row.place.path)
    extension = links.extensions.get(identity[0])
    declared = [tool.name for tool in extension.body.tools] if extension else []
    if identity[1] in declared:
        exclusion = next(
            (place for text, place in agent.exclude if ToolPattern.parse(text).matches(*identity)), None
        )
        if exclusion is not None:
            return codes.VARIANT_KEY_UNSELECTED.at(
                span,
                f'the variants key "{row.key}" names a tool that agent "{agent.name}" excludes',
                secondary=(LabelledSpan(exclusion.span(), "excluded here"),),
                hint="remove the exclusion, or the key",
                subject=row.place.owner,
            )
        return codes.VARIANT_KEY_UNSELECTED.at(
            span,
            f'the variants key "{row.key}" names a tool that agent "{agent.name}" does not select',
            hint=f"add {row.key} to `tools`, or remove the key",
            subject=row.place.owner,
        )
    for base in selected:
        for chain in (chain for found in chains.values() for chain in found):
            for depth in range(1, len(chain.layers) + 1):
                suffix = "".join("_" + layer.name for layer in chain.layers[:depth])
                if base[0] == identity[0] and base[1] + suffix == identity[1]:
                    written = [layer.name for layer in chain.layers[:depth]]
                    return codes.VARIANT_KEY_IS_VARIANT.at(
                        span,
                        f'the variants key "{row.key}" names a variant; chains attach to the tool itself',
                        hint=f"write the whole chain at {'/'.join(base)}: [{', '.join([*written, '…'])}]",
                        subject=row.place.owner,
                    )
    candidates = [
        f"{name}/{tool.name}" for name, other in links.extensions.items() for tool in other.body.tools
    ]
    nearest = did_you_mean(row.key, candidates)
    return codes.VARIANT_KEY_UNKNOWN.at(
        span,
        f'the variants key "{row.key}" names no tool of the workspace',
        hint=f'did you mean "{nearest}"?' if nearest else "name a tool as extension/tool",
        subject=row.place.owner,
    )
