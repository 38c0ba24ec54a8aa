"""Codes 3xx: composing tools, variants and prompts."""

from symc.diagnostics.record import Code, Level

TOOL_NAME_COLLISION = Code(
    "SYM301",
    "tool-name-collision",
    "Two tools of an agent have one name; a model could not say which it calls, so neither wins.",
    "extensions: [web, wiki]  # both bring a tool `search`",
    "Give one extension a prefix, or rename a tool with `as`.",
)
TOOL_EXTENSION_UNKNOWN = Code(
    "SYM302",
    "tool-extension-unknown",
    "A chain names a tool extension that no extension of the agent brings.",
    "variants: {crm/*: [audti]}",
    "Correct the name, or use the extension that brings it.",
)
TOOL_EXTENSION_AMBIGUOUS = Code(
    "SYM303",
    "tool-extension-ambiguous",
    "A chain names a tool extension that two extensions of the agent bring.",
    "variants: {crm/*: [memo]}  # both acme and other bring `memo`",
    "Write it as extension/name.",
)
VARIANT_KEY_UNKNOWN = Code(
    "SYM304",
    "variant-key-unknown",
    "A key of `variants` names no tool of the workspace.",
    "variants: {crm/lokup: [audit]}",
    "Name a tool the agent selects, as extension/tool.",
)
VARIANT_KEY_UNSELECTED = Code(
    "SYM305",
    "variant-key-unselected",
    "A key of `variants` names a tool the agent does not select, so nothing would be minted.",
    "tools: [crm/lookup]\nvariants: {crm/update: [audit]}",
    "Select the tool under `tools`, or remove the key.",
)
VARIANT_KEY_IS_VARIANT = Code(
    "SYM306",
    "variant-key-is-variant",
    "A key of `variants` names a variant; chains attach to the tool itself.",
    "variants: {crm/lookup_memo: [audit]}",
    "Write the whole chain at the tool: `crm/lookup: [memo, audit]`.",
)
VARIANT_CONFIG = Code(
    "SYM307",
    "variant-config",
    "A layer's config does not satisfy the tool extension's `config_schema`, or it takes no config.",
    "variants: {crm/lookup: [{use: memo, config: {ttl: soon}}]}",
    "Correct the config by the schema that the message points at.",
)
VARIANT_SECOND_BACKEND = Code(
    "SYM308",
    "variant-second-backend",
    "A tool has two execution backends; its body can run in one place only.",
    "variants: {crm/lookup: [[process], [celery]]}",
    "Use one backend, with one config, in all chains of the tool.",
)
VARIANT_LOCALITY = Code(
    "SYM309",
    "variant-locality",
    "A layer that must run where the tool's body runs stands outside a layer that moves the body elsewhere.",
    "variants: {crm/lookup: [process, proxy]}",
    "Put it before the backend: `[proxy, process]`.",
)
VARIANT_SCHEMA = Code(
    "SYM310",
    "variant-schema",
    "A layer cannot present a schema over the one it receives (a parameter is taken, the root is closed, …).",
    "variants: {crm/lookup: [memo, memo]}  # memo reserves `exp`",
    "Change the chain, or the tool extension's schema, as the message says.",
)
VARIANT_NAMED_TWICE = Code(
    "SYM311",
    "variant-named-twice",
    "Two chains give one variant different names with `as`.",
    "variants: {crm/lookup: [{chain: [memo], as: find}, {chain: [memo], as: get}]}",
    "Give the chain one name.",
)
VARIANT_ONLY_MIXED = Code(
    "SYM312",
    "variant-only-mixed",
    "One chain of a tool hides the tool (`expose: only`), another shows it again.",
    "variants: {crm/lookup: [{chain: [audit], expose: only}, {chain: [memo]}]}",
    "Write `expose: only` at every chain of the tool.",
)
TOOL_UNKNOWN = Code(
    "SYM330",
    "tool-unknown",
    "`tools` or `exclude` names a tool, or an extension, that is not there.",
    "tools: [crm/lokup_customer]",
    "Correct the name.",
)
TOOL_OF_UNUSED_EXTENSION = Code(
    "SYM331",
    "tool-of-unused-extension",
    "`tools` or `exclude` names a tool of an extension that the agent does not use.",
    "extensions: [files]\ntools: [crm/lookup_customer]",
    "Add the extension to `extensions`.",
)
ROW_SELECTS_NOTHING = Code(
    "SYM332",
    "row-selects-nothing",
    "A pattern under `tools` matches no tool of the extensions the agent uses.",
    "tools: [crm/lokup_*]",
    "Correct the pattern, or remove the row.",
)
TOOL_ROW_TWICE = Code(
    "SYM333",
    "tool-row-twice",
    "Two rows say how one tool is exposed.",
    "tools: [{tool: crm/lookup, as: find}, {tool: crm/lookup, as: get}]",
    "Merge them into one row.",
)
SELECTED_AND_EXCLUDED = Code(
    "SYM334",
    "selected-and-excluded",
    "One tool is both selected and excluded by name.",
    "tools: [crm/export_all]\nexclude: [crm/export_all]",
    "Remove one of the two.",
)
EXCLUDE_MATCHES_NOTHING = Code(
    "SYM335",
    "exclude-matches-nothing",
    "A pattern under `exclude` matches no tool of the extensions the agent uses, so it protects from nothing.",
    "exclude: [crm/exprot_*]",
    "Correct the pattern, or remove it.",
    Level.WARN,
)
PROMPT_TOO_LARGE = Code(
    "SYM340",
    "prompt-too-large",
    "The static prompt of an agent has more characters than its limit; nothing is ever cut.",
    "limits: {prompt_chars: 2000}",
    "Shorten a fragment, drop an extension, or raise the limit.",
)
EXTENSION_PROMPT_TOO_LARGE = Code(
    "SYM341",
    "extension-prompt-too-large",
    "The fragments of one extension have more characters than an agent allows an extension.",
    "limits: {extension_prompt_chars: 500}",
    "Shorten the extension's fragments, or raise the limit.",
)
TEMPLATE_SYNTAX = Code(
    "SYM342",
    "template-syntax",
    "A template is not well-formed.",
    "prompts: [{fragment_id: tone, template: true, text: 'Be {{ tone.'}]",
    "Close the tag; text with braces of its own needs no `template: true`.",
)
TEMPLATE_NOT_ALLOWED = Code(
    "SYM343",
    "template-not-allowed",
    "A template uses more than the language of templates: variables, conditions on them, loops over lists, five filters.",
    "prompts: [{fragment_id: tone, template: true, text: '{{ tone.upper() }}'}]",
    "Write it with what the message lists; everything else belongs into a variable.",
)
TEMPLATE_UNDECLARED = Code(
    "SYM344",
    "template-undeclared",
    "A template uses a variable that neither its extension nor workspace, bases or agent declare.",
    "prompts: [{fragment_id: tone, template: true, text: 'Be {{ tone }}.'}]    # no `vars`",
    "Declare it under `vars`.",
)
TEMPLATE_VALUE = Code(
    "SYM345",
    "template-value",
    "A variable has a value that cannot stand where the template uses it: a list that is printed, a loop over a word.",
    "vars: {topics: [a, b]}\nprompts: [{fragment_id: t, template: true, text: 'About {{ topics }}'}]",
    "Join the list, or correct the value.",
)
TEMPLATE_TOO_LARGE = Code(
    "SYM346",
    "template-too-large",
    "A template has more tags than any prompt needs, or could render to more text than any prompt holds.",
    "prompts: [{fragment_id: t, template: true, text: '{% for x in thousands %}…{% endfor %}'}]",
    "Split the fragment, or loop over a shorter list.",
)
VARIABLE_UNUSED = Code(
    "SYM347",
    "variable-unused",
    "A variable is declared and no template uses it, so setting it changes nothing.",
    "vars: {tonne: friendly}",
    "Correct the name, or remove the line.",
    Level.WARN,
)
TOOL_NAME_IN_PROSE = Code(
    "SYM360",
    "tool-name-in-prose",
    "A prompt or a description tells the model to use a tool by a name it does not have in this agent.",
    "extensions: [{use: crm, prefix: c}]\ninstructions: Find people with `lookup_customer`.",
    "Write the name the message shows, or select the tool.",
    Level.WARN,
)
