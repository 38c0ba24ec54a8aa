"""Codes 4xx: grants, policies, delegation."""

from symc.diagnostics.record import Code, Level

POLICY_TOOL_UNKNOWN = Code(
    "SYM401",
    "policy-tool-unknown",
    "A rule names a tool that no extension of the workspace brings, so it would stop nothing (P12).",
    'deny: {tools: ["crm/exprot_all"]}',
    "Correct the name; a rule names tools as extension/tool, never by an exposed name.",
)
POLICY_LAYER_UNKNOWN = Code(
    "SYM402",
    "policy-layer-unknown",
    "A rule names a variant by a tool extension that no extension of the workspace brings (P10).",
    "deny: {tools: [{variant: crm/lookup, chain: [mmeo]}]}",
    "Correct the name of the tool extension.",
)
POLICY_MATCHES_NOTHING = Code(
    "SYM403",
    "policy-matches-nothing",
    "A pattern of a rule matches no tool of the whole workspace, or no agent has the variant it names (P12).",
    'deny: {tools: ["*/exprot_*"]}',
    "Correct the pattern, or remove it.",
    Level.WARN,
)
POLICY_NEVER_FIRES = Code(
    "SYM404",
    "policy-never-fires",
    "A rule that can never change a decision: its condition holds for no arguments, or it is about tools and not about "
    "calling them (P12).",
    "deny: {tools: [crm/export_all], when: {properties: {limit: {type: integer, minimum: 9, maximum: 1}}}}",
    "Correct the condition, or remove the rule.",
    Level.WARN,
)
POLICY_SHADOWED = Code(
    "SYM405",
    "policy-shadowed",
    "Another rule, always there where this one is, stops the same tools without a condition (P12).",
    "deny: {tools: [crm/export_all], when: {required: [limit]}}    # and `deny: {tools: [crm/*]}` beside it",
    "Remove the rule, or give the other one a condition.",
    Level.WARN,
)
CONDITION_PROPERTY_UNKNOWN = Code(
    "SYM406",
    "condition-property-unknown",
    "The condition of a rule is about a property that the tool's input schema does not have (P13).",
    "deny: {tools: [crm/export_all], when: {properties: {limt: {minimum: 100, type: integer}}, required: [limt]}}",
    "Name a property as the tool's input schema does.",
    Level.WARN,
)
CONDITION_PROPERTY_UNTYPED = Code(
    "SYM407",
    "condition-property-untyped",
    "A property in a condition has no fixed `type`: numeric keywords let strings pass, string keywords numbers (P13).",
    "when: {properties: {limit: {minimum: 100}}, required: [limit]}",
    "Add the `type` that the keywords are about.",
    Level.WARN,
)
CONDITION_PATH_PATTERN = Code(
    "SYM408",
    "condition-path-pattern",
    "A `pattern` on a path looks at its letters, not at where it leads: `src/../.env` matches `^src/` (P13).",
    'when: {properties: {path: {type: string, not: {pattern: "^src/"}}}, required: [path]}',
    "Keep the boundary where paths are resolved, in the tool or its server.",
    Level.WARN,
)
CONDITION_AGAINST_SCHEMA = Code(
    "SYM409",
    "condition-against-schema",
    "No value that a tool's input schema accepts satisfies the condition of a rule (P13).",
    "deny: {tools: [crm/list_orders], when: {properties: {limit: {type: string}}, required: [limit]}}",
    "Write the condition in the type and range of the tool's input schema.",
    Level.WARN,
)
PRIVILEGE_WIDENING = Code(
    "SYM410",
    "privilege-widening",
    "A delegate reaches a tool or an effect that the agent which calls it does not have (P21).",
    "delegates: [researcher]    # researcher has web/fetch, this agent has not",
    "Name it under `may_exceed` of the delegate, or take it from the delegate.",
)
MAY_EXCEED_IDLE = Code(
    "SYM411",
    "may-exceed-idle",
    "`may_exceed` allows what the delegate does not reach; it would widen unseen as soon as the delegate gets it.",
    'delegates: [{agent: researcher, may_exceed: ["web/*"]}]    # researcher has no tool of web',
    "Correct the pattern, or remove it.",
    Level.WARN,
)
POLICY_CASE_INVALID = Code(
    "SYM412",
    "policy-case-invalid",
    "A row of a table of expected decisions is no row, or names an agent or tool that is not there.",
    "support: [{tool: refund, args: {amount: 800}, expcet: deny}]",
    "Write `tool`, `expect` and, where needed, `args`, `rule`, `through`.",
)
POLICY_EXPOSED_NAME = Code(
    "SYM414",
    "policy-exposed-name",
    "A rule names a tool by the name that an agent gives it (prefix, `as`, variant, delegate). Rules go by extension and "
    "raw name and follow a tool into every name; this one would stop nothing (P10, P12).",
    'deny: {tools: ["*/px_shell"]}    # and an agent has `extensions: [{use: ops, prefix: px}]`, `tools: [ops/shell]`',
    "Name the tool as extension/tool, by its raw name.",
)
POLICY_CASE_FAILED = Code(
    "SYM413",
    "policy-case-failed",
    "A call is decided otherwise than the table of `symc policy test --cases` expects.",
    "support: [{tool: refund, args: {amount: 800}, expect: allow}]    # a policy denies it",
    "Correct the policy, or the row if the change is meant.",
)
