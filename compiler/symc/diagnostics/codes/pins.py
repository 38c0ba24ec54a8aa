"""Codes 5xx: pins, tool schemas, provider limits, secrets."""

from symc.diagnostics.record import Code

SCHEMA_INVALID = Code(
    "SYM501",
    "schema-invalid",
    "A schema is not valid under the JSON Schema draft it declares (2020-12 where it declares none).",
    "input_schema: {type: objekt}",
    "Correct the value at the JSON pointer; for a pinned tool, tell the server's author.",
)
SCHEMA_DIALECT = Code(
    "SYM502",
    "schema-dialect",
    "A schema names a dialect in `$schema` that symc does not know; nothing is fetched to find out.",
    'input_schema: {$schema: "https://example.test/my-dialect", type: object}',
    "Use draft-04, draft-06, draft-07, 2019-09 or 2020-12.",
)
SCHEMA_REF_DANGLING = Code(
    "SYM503",
    "schema-ref-dangling",
    "A `$ref` leads to a place in the schema where no schema stands.",
    'input_schema: {properties: {k: {$ref: "#/$defs/Missing"}}}',
    "Point it to an existing definition, or add the definition.",
)
SCHEMA_REF_REMOTE = Code(
    "SYM504",
    "schema-ref-remote",
    "A `$ref` leads to another document, which would make the tool depend on what stands there today.",
    'input_schema: {properties: {k: {$ref: "https://example.test/s.json"}}}',
    "Copy the definition under `$defs` and refer to it there.",
)
SCHEMA_TOO_DEEP = Code(
    "SYM505",
    "schema-too-deep",
    "A schema is nested deeper than validators and providers follow.",
    "input_schema: {properties: {a: {properties: {a: …}}}}  # more than 100 levels",
    "Name the inner parts under `$defs` and refer to them, or make the arguments flatter.",
)
SCHEMA_PATTERN = Code(
    "SYM506",
    "schema-pattern",
    "A pattern of a schema is no regular expression that arguments can be matched against.",
    'input_schema: {properties: {id: {type: string, pattern: "["}}}',
    "Correct the pattern; symc takes what the JSON Schema recommendation for regular expressions has.",
)
SCHEMA_NOT_OBJECT = Code(
    "SYM507",
    "schema-not-object",
    "An input schema describes something else than an object, but the arguments of a tool are always one.",
    "input_schema: {type: array}",
    "Make the root `type: object` and name the arguments under `properties`.",
)
HIDDEN_TOOL_TEXT = Code(
    "SYM508",
    "hidden-tool-text",
    "A text of a tool that the model reads holds characters that a reviewer cannot see.",
    'description: "Format files.\\u200b"',
    "Remove the characters; of a pinned tool, do not use it before its author explained them.",
)
