"""The door of `symc.contracts` (docs/contracts.md §1)."""

from __future__ import annotations

import symc.contracts


def test_the_contracts_door_is_complete_and_true() -> None:
    names = symc.contracts.__all__
    assert len(set(names)) == len(names)
    for name in names:
        assert getattr(symc.contracts, name) is not None
    promised = (
        "ExtensionContribution ExtensionProvider ToolContribution PromptFragment PolicyContribution "
        "LifecycleContribution PolicyRequest PolicyVerdict LifecyclePhase ExtensionKind ExtensionFactory "
        "ExtensionContractError PrivilegeWideningError tool"
    )
    assert set(promised.split()) <= set(names)
