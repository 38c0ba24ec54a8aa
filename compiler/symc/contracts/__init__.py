"""What an extension author imports: contributions, their kinds, the provider protocol, the errors.

A leaf of the package: it imports the standard library only. docs/contracts.md §1 is the contract.
"""

from symc.contracts.bundle import ExtensionContribution, ExtensionProvider, contribution_of
from symc.contracts.contribution import (
    LifecycleContribution,
    LifecyclePhase,
    PolicyContribution,
    PromptFragment,
    ToolContribution,
)
from symc.contracts.declaration import tool
from symc.contracts.errors import (
    ConfigurationError,
    ContractViolationError,
    ExtensionContractError,
    PrivilegeWideningError,
    StructuredOutputError,
    SymfonicError,
)
from symc.contracts.frozen import FrozenDict, freeze, thaw
from symc.contracts.kinds import ConfiguredExtensionFactory, ExtensionFactory, ExtensionKind, LayerCallable
from symc.contracts.patterns import ToolPattern
from symc.contracts.verdict import ALLOW, ASK, DENY, PolicyRequest, PolicyVerdict, combine

__all__ = [
    "ALLOW",
    "ASK",
    "DENY",
    "ConfigurationError",
    "ConfiguredExtensionFactory",
    "ContractViolationError",
    "ExtensionContractError",
    "ExtensionContribution",
    "ExtensionFactory",
    "ExtensionKind",
    "ExtensionProvider",
    "FrozenDict",
    "LayerCallable",
    "LifecycleContribution",
    "LifecyclePhase",
    "PolicyContribution",
    "PolicyRequest",
    "PolicyVerdict",
    "PrivilegeWideningError",
    "PromptFragment",
    "StructuredOutputError",
    "SymfonicError",
    "ToolContribution",
    "ToolPattern",
    "combine",
    "contribution_of",
    "freeze",
    "thaw",
    "tool",
]
