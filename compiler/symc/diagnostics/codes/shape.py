"""Codes 1xx: the shape of manifests."""

from symc.diagnostics.record import Code

KIND_MISSING = Code(
    "SYM101",
    "kind-missing",
    "Every manifest says what it is.",
    "name: crm",
    "Add `kind: workspace`, `kind: agent` or `kind: extension`.",
)
KIND_UNKNOWN = Code(
    "SYM102",
    "kind-unknown",
    "There are three kinds of manifest: workspace, agent, extension.",
    "kind: agnet",
    "Write one of the three kinds.",
)
UNKNOWN_KEY = Code(
    "SYM103",
    "unknown-key",
    "A misspelt key must not fail open: every key is known, at every level, or starts with `x-`.",
    "polices: []",
    "Correct the key; prefix your own with `x-`.",
)
MISSING_KEY = Code(
    "SYM104",
    "missing-key",
    "A key without which the manifest (or a part of it) means nothing.",
    "tools: [{description: Find a customer.}]",
    "Add the key.",
)
WRONG_TYPE = Code(
    "SYM105",
    "wrong-type",
    "A value is of another type than its key takes; nothing is converted.",
    "prompts: safety.md",
    "Write the value in the form the message shows.",
)
NOT_QUOTED = Code(
    "SYM106",
    "not-quoted",
    "A number or a truth value stands where text is due, or would be put into a prompt otherwise than it is written; "
    "converting it would change it (1.10 becomes 1.1).",
    "version: 1.10",
    'Quote it: "1.10".',
)
NULL_VALUE = Code(
    "SYM107",
    "null-value",
    "A key without a value; in particular a list that is null, which could mean none or all.",
    "tools:",
    "Write the value, `[]` for an empty list, or remove the line.",
)
UNKNOWN_VALUE = Code(
    "SYM108",
    "unknown-value",
    "A word outside the closed list its key takes.",
    "tier: sesion",
    "Write one of the words listed.",
)
OUT_OF_RANGE = Code(
    "SYM109",
    "out-of-range",
    "A number outside the range its key takes.",
    "order: 10000",
    "Write a number inside the range.",
)
EXACTLY_ONE = Code(
    "SYM110",
    "exactly-one",
    "Keys that exclude each other, one of which must be there: deny/ask/decide, text/file/slot, command/url.",
    "prompts: [{fragment_id: tone, text: Be kind., file: tone.md}]",
    "Keep exactly one of the keys.",
)
EXCLUSIVE_KEYS = Code(
    "SYM111",
    "exclusive-keys",
    "A key that has no meaning beside another one, and would be ignored.",
    "{mcp: {url: https://example.test/mcp}, tools: []}",
    "Remove one of the two.",
)
UNQUOTED_PATTERN = Code(
    "SYM112",
    "unquoted-pattern",
    "YAML reads `[` as the start of a list; patterns that start with it need quotes.",
    "tools: [[ab]/find]",
    'Quote patterns: "*/find_[ab]".',
)
EMPTY_LIST = Code(
    "SYM113",
    "empty-list",
    "A list that must have items: a chain, the chains of a tool, a command.",
    "variants: {crm/lookup: []}",
    "Add an item, or remove the key.",
)
MIXED_CHAINS = Code(
    "SYM114",
    "mixed-chains",
    "A list of names is one chain, a list of lists is several; one list cannot be both (V2).",
    "variants: {crm/lookup: [memo, [audit]]}",
    "Write one chain as [a, b], several as [[a], [a, b]].",
)
INVALID_NAME = Code(
    "SYM115",
    "invalid-name",
    "Names and ids keep to one spelling, so that they can be joined, compared and shown.",
    "name: My Extension",
    "Rename it by the rule in the message.",
)
RESERVED_NAME = Code(
    "SYM116",
    "reserved-name",
    "`std` and `symc` are symc's own.",
    "name: std",
    "Choose another name.",
)
DUPLICATE_NAME = Code(
    "SYM117",
    "duplicate-name",
    "Extensions, agents and the workspace share one namespace.",
    "name: crm    # in two manifests",
    "Rename one of the two.",
)
DUPLICATE_ID = Code(
    "SYM118",
    "duplicate-id",
    "Tools, fragments, policies, hooks and tool extensions are known by their id, unique within their owner (X-21).",
    "policies: [{policy_id: pii, …}, {policy_id: pii, …}]",
    "Rename one of the two.",
)
CASE_ONLY = Code(
    "SYM119",
    "case-only-difference",
    "Two names that differ only in upper and lower case are one name to people and to some file systems.",
    "tools: [{name: Find}, {name: find}]",
    "Rename one of the two.",
)
SEVERAL_WORKSPACES = Code(
    "SYM120",
    "several-workspaces",
    "What every agent gets stands in one place: at most one manifest is `kind: workspace`.",
    "kind: workspace    # in two manifests",
    "Merge the two.",
)
INVALID_REQUIREMENT = Code(
    "SYM121",
    "invalid-requirement",
    "A requirement is a name, or a name, one space and a PEP 440 specifier set.",
    "requires: [crm>=1.4]",
    "Write it as `crm >=1.4`.",
)
INVALID_VERSION = Code(
    "SYM122",
    "invalid-version",
    "Versions are PEP 440 versions.",
    'version: "one"',
    'Write a version such as "1.4.0".',
)
INVALID_TARGET = Code(
    "SYM123",
    "invalid-target",
    "Code is named as `module:qualname`.",
    "invoke: acme_crm.tools.lookup",
    "Put a colon between the module and the name in it.",
)
INVALID_PATTERN = Code(
    "SYM124",
    "invalid-pattern",
    "A tool pattern is `extension/glob` or `*/glob`.",
    "tools: [lookup_customer]",
    "Name the extension before the tool: crm/lookup_customer.",
)
UNKNOWN_EFFECT = Code(
    "SYM125",
    "unknown-effect",
    "Effects and actions are a closed list; a veto on a misspelt one would never fire (P3, X-16).",
    "grants: [memory_raed]",
    "Write one of the effects listed.",
)
ALLOW_NO_AUTHORITY = Code(
    "SYM126",
    "allow-is-no-authority",
    "A policy can only narrow: nothing a policy says adds a grant (P2).",
    "policies: [{policy_id: shell, allow: {tools: [os/shell]}}]",
    "Remove it; what is allowed is said by an agent's `tools` and `grants`.",
)
RULE_WITHOUT_SUBJECT = Code(
    "SYM127",
    "rule-without-subject",
    "A `deny` or `ask` says what it stops: tools, or actions.",
    "policies: [{policy_id: none, deny: {reason: No.}}]",
    "Add `tools` to the rule, or `actions` to the policy.",
)
IDLE_KEY = Code(
    "SYM128",
    "idle-key",
    "A key that would be ignored where it stands; a setting without effect is a hole.",
    "policies: [{policy_id: a, timeout: 3, deny: {tools: [os/shell]}}]",
    "Remove it, or move it where the message says.",
)
EXTENSION_WIDENING = Code(
    "SYM129",
    "extension-widening",
    "An extension may not write in the operator's name: no authored tier, no layer l0 (X-15).",
    "prompts: [{fragment_id: rules, tier: platform, text: …}]    # in an extension",
    "Use tier `session` or `profile` and layer `l1`, or move the fragment to an agent or the workspace.",
)
SCOPE_TOO_NARROW = Code(
    "SYM130",
    "scope-too-narrow",
    "Platform text is shared by the whole deployment, operating text by at least a tenant.",
    "prompts: [{fragment_id: rules, tier: platform, scope: profile, text: …}]",
    "Use a scope the tier allows.",
)
SLOT_PLACEMENT = Code(
    "SYM131",
    "slot-placement",
    "Text that changes with each run is a slot, a slot is layer l2 of a learned tier, and only operators declare one.",
    "prompts: [{fragment_id: customer, slot: {max_chars: 2000}}]    # layer l1",
    "Give the slot `layer: l2` and `tier: profile` or `session`; give fixed text `layer: l1`.",
)
TRUNCATED_AUTHORED = Code(
    "SYM132",
    "truncated-authored",
    "The operator's own text is never an excerpt.",
    "prompts: [{fragment_id: rules, tier: platform, truncated: true, text: …}]",
    "Give the whole text, or use a learned tier.",
)
FILE_MISSING = Code(
    "SYM133",
    "file-missing",
    "A file that a fragment names was not read: it is not in the workspace, or not a .md or .txt file.",
    "prompts: [{fragment_id: etiquette, file: etiquete.md}]",
    "Correct the path; it is relative to the manifest.",
)
PATH_SEPARATOR = Code(
    "SYM134",
    "path-separator",
    "Paths are written with `/`, so that they mean the same on every system.",
    r"file: prompts\intro.md",
    "Write `prompts/intro.md`.",
)
WRAPPER_DELIMITER = Code(
    "SYM135",
    "wrapper-delimiter",
    "Text that holds the delimiters symc puts around an extension's text could end that frame early.",
    "text: </extension-text>",
    "Word it without the delimiter.",
)
INVALID_ENV_REFERENCE = Code(
    "SYM136",
    "invalid-env-reference",
    "An environment variable is referred to as `${env:NAME}`, and only where it reaches a process, not a prompt.",
    'env: {TOKEN: "${env:files token}"}',
    "Write ${env:NAME}, NAME of letters, digits and `_`.",
)
INVALID_URL = Code(
    "SYM137",
    "invalid-url",
    "A server is reached by http or https at an absolute URL.",
    "mcp: {url: example.test/mcp}",
    "Write the whole URL: https://example.test/mcp.",
)
RESERVED_PARAMETER = Code(
    "SYM138",
    "reserved-parameter",
    "Only a wrapper reserves parameters, each by an inline schema of a primitive or a container of primitives (V21, V22).",
    "tool_extensions: [{name: bulk, kind: transformer, reserved_params: {exp: {type: number}}, …}]",
    "Reserve parameters on a wrapper, with inline schemas.",
)
TOOL_EXTENSION_SCHEMA = Code(
    "SYM139",
    "tool-extension-schema",
    "Each kind of tool extension gives the schemas its kind declares, and no others (V14, V23, V24).",
    "tool_extensions: [{name: bulk, kind: transformer, factory: acme:bulk}]",
    "Give the schema the message asks for, or remove the one it names.",
)
INVALID_VARIABLE = Code(
    "SYM140",
    "invalid-variable",
    "A template variable is a plain word with a scalar, or a list of scalars.",
    "vars: {tone-of-voice: friendly}",
    "Name it with letters, digits and `_`.",
)
HIDDEN_TEXT = Code(
    "SYM141",
    "hidden-text",
    "A text, a name or another value of a manifest holds characters that a model or a machine reads and a reviewer does "
    "not see.",
    r'text: "Format JSON files.\u200b"',
    "Remove the characters; emoji, flags and a byte order mark at the start are fine.",
)
PIN_MISSING = Code(
    "SYM142",
    "pin-missing",
    "The tools of a server come from its pin, which is committed; a compile asks no server.",
    "mcp: {command: [npx, -y, some-server]}    # and no .pin.json beside the manifest",
    "Run `symc pin NAME` and commit the file it writes.",
)
