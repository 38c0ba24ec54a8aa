"""Codes 2xx: references between manifests."""

from symc.diagnostics.record import Code

EXTENSION_UNKNOWN = Code(
    "SYM201",
    "extension-unknown",
    "A manifest uses or requires an extension that the workspace does not have.",
    "extensions: [crmm]",
    "Correct the name, or add the extension's manifest.",
)
AGENT_UNKNOWN = Code(
    "SYM202",
    "agent-unknown",
    "A manifest extends or delegates to an agent that the workspace does not have.",
    "extends: [base-suport]",
    "Correct the name, or add the agent's manifest.",
)
REQUIREMENT_NOT_MET = Code(
    "SYM203",
    "requirement-not-met",
    "The one version of an extension that exists in the workspace is outside a specifier asked of it.",
    'extensions: [crm >=2]    # crm is version "1.4.0"',
    "Change the specifier, or bring the extension up to the version asked for.",
)
VERSION_ABSENT = Code(
    "SYM204",
    "version-absent",
    "A version is asked of an extension that states none.",
    "extensions: [files >=1]    # files is an MCP server without `version`",
    "Give the extension a `version`, or ask for it by name alone.",
)
REQUIRES_CYCLE = Code(
    "SYM205",
    "requires-cycle",
    "Extensions that require each other in a circle have no order to open in.",
    "requires: [b]    # in a, and `requires: [a]` in b",
    "Remove one of the requirements along the path.",
)
EXTENDS_CYCLE = Code(
    "SYM206",
    "extends-cycle",
    "An agent cannot be its own base.",
    "extends: [b]    # in a, and `extends: [a]` in b",
    "Remove one of the `extends` along the path.",
)
DELEGATES_CYCLE = Code(
    "SYM207",
    "delegates-cycle",
    "Agents that delegate to each other in a circle could call each other without end (P20).",
    "delegates: [b]    # in a, and `delegates: [a]` in b",
    "Remove one of the delegates along the path.",
)
DELEGATE_ABSTRACT = Code(
    "SYM208",
    "delegate-abstract",
    "An abstract agent is a base for others; it is not composed and nobody can call it.",
    "delegates: [base-support]    # base-support is abstract",
    "Delegate to an agent that extends it.",
)
PREFIX_CONFLICT = Code(
    "SYM209",
    "prefix-conflict",
    "Two documents give one extension different prefixes in one agent.",
    "extensions: [{use: files, prefix: fs}]    # a base says `prefix: disk`",
    "Give the extension one prefix.",
)
PLATFORM_REPLACED = Code(
    "SYM210",
    "platform-replaced",
    "A platform fragment of a base cannot be replaced by those that extend it.",
    "prompts: [{fragment_id: safety, …}]    # a base has a platform fragment `safety`",
    "Give the fragment another id.",
)
POLICY_CLASH = Code(
    "SYM211",
    "policy-clash",
    "A policy has an id that a base, the workspace or the agent has already; policies never replace each other.",
    "policies: [{policy_id: budget, …}]    # a base has a policy `budget`",
    "Rename one of the two.",
)
RULE_UNKNOWN = Code(
    "SYM212",
    "rule-unknown",
    "`rules` names a code that does not exist.",
    "rules: {tool-name-in-pros: off}",
    "Name a code as `symc explain` knows it.",
)
RULE_NOT_ADJUSTABLE = Code(
    "SYM213",
    "rule-not-adjustable",
    "An error stays an error: `rules` sets the level of warnings and diff rules.",
    "rules: {tool-name-collision: off}",
    "Remove the line and correct what the error says.",
)
LOCK_VERSION_NOT_WRITTEN = Code(
    "SYM214",
    "lock-version-not-written",
    "The workspace asks for a lock version that this symc does not write.",
    "lock_version: 99",
    "Install the symc that writes it, or move the workspace to a version this one writes.",
)
