"""Codes 5xx: pins, tool schemas, provider limits, secrets."""

from symc.diagnostics.record import Code, Level

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
PIN_INVALID = Code(
    "SYM511",
    "pin-invalid",
    "A pin is not what an MCP server answers to `tools/list`.",
    '{"tools": [{"description": "a tool without a name"}]}',
    "Run symc pin; do not write pins by hand.",
)
PIN_SCHEMA_MISSING = Code(
    "SYM512",
    "pin-schema-missing",
    "A pinned tool has no input schema, so nobody knows which arguments it takes.",
    '{"tools": [{"name": "search", "description": "Search."}]}',
    "Leave the server out until its author gives the tool an `inputSchema`; without parameters that is {type: object}.",
)
PIN_DUPLICATE_TOOL = Code(
    "SYM513",
    "pin-duplicate-tool",
    "A server has two tools of one name; a call could reach either.",
    '{"tools": [{"name": "search", …}, {"name": "search", …}]}',
    "Tell the server's author; a server that answers so cannot be used.",
)
PIN_TOOL_NAME = Code(
    "SYM514",
    "pin-tool-name",
    "A server's tool has a name that MCP does not allow.",
    '{"tools": [{"name": "delete everything", …}]}',
    "Tell the server's author: 1 to 128 letters, digits, `_`, `.`, `-` and `/`.",
)
PIN_DRIFT = Code(
    "SYM521",
    "pin-drift",
    "A live server says something else of a tool than its pin, which is what was reviewed.",
    "symc pin --check  # the description now also asks for a copy to somebody",
    "Review old and new; run symc pin to take the new one over.",
)
PIN_TOOL_ADDED = Code(
    "SYM522",
    "pin-tool-added",
    "A live server has a tool that is not in its pin.",
    "symc pin --check  # after an update of the server",
    "Review it; after symc pin the patterns of agents may select it.",
)
PIN_TOOL_REMOVED = Code(
    "SYM523",
    "pin-tool-removed",
    "A live server no longer has a tool that is in its pin.",
    "symc pin --check  # after an update of the server",
    "Run symc pin, and take the tool out of the agents that name it.",
)
SERVER_NOT_STARTED = Code(
    "SYM531",
    "server-not-started",
    "A server that is to be pinned could not be started or reached.",
    "mcp: {command: [mcp-server-tiem]}",
    "Install the server, and name its program or address as it is from the folder that holds the workspace.",
)
SERVER_EXITED = Code(
    "SYM532",
    "server-exited",
    "A server ended before it had answered.",
    "mcp: {command: [mcp-server-git, --repository, ./nowhere]}",
    "Read the end of its standard error; start it by hand with the same arguments.",
)
SERVER_SILENT = Code(
    "SYM533",
    "server-silent",
    "A server did not answer within the time that symc pin allows.",
    "mcp: {command: [cat, /dev/null]}",
    "Allow more time with --timeout, or start the server by hand and look what it waits for.",
)
SERVER_GARBAGE = Code(
    "SYM534",
    "server-garbage",
    "A server wrote something to its standard output that is no MCP message.",
    "mcp: {command: [echo, hello]}",
    "Make the server log to its standard error; standard output belongs to the protocol.",
)
SERVER_ERROR = Code(
    "SYM535",
    "server-error",
    "A server answered the greeting or a page of its tools with an error.",
    'mcp: {url: "https://example.test/mcp"}  # which wants a token',
    'Read what it said; most servers want a credential: headers: {Authorization: "Bearer ${env:NAME}"}.',
)
SERVER_CURSOR = Code(
    "SYM536",
    "server-cursor",
    "A server's list of tools does not come to an end: its cursor comes back, or there is always one more page.",
    "symc pin broken",
    "Tell the server's author; a list that does not end cannot be pinned.",
)
PIN_HOLDS_SECRET = Code(
    "SYM538",
    "pin-holds-secret",
    "A server repeats the value of a variable in the texts of its tools; pinned, it would stand in the repository.",
    'mcp: {command: [server], env: {TOKEN: "${env:TOKEN}"}}  # and a description that says the token',
    "Tell the server's author; if the value is no secret, write it into the manifest instead of ${env:NAME}.",
)
ENV_MISSING = Code(
    "SYM537",
    "env-missing",
    "A variable that a server needs is not set in the environment.",
    'mcp: {command: [server], env: {TOKEN: "${env:FILES_TOKEN}"}}',
    "Set it and run again; the pin and the lock hold its name only.",
)
TOOL_NAME_TOO_LONG = Code(
    "SYM541",
    "tool-name-too-long",
    "The name under which a model would see a tool is longer than the agent's provider allows.",
    "extensions: [{use: observability, prefix: workspace_observability}]  # and variants: [cached, traced]",
    "Shorten the prefix, or name the tool or the variant with `as`.",
)
TOOL_NAME_CHARACTERS = Code(
    "SYM542",
    "tool-name-characters",
    "A tool's name has characters that its server may use and the agent's provider refuses.",
    "tools: [cal/calendar.read]  # with provider: openai",
    "Rename it: {tool: cal/calendar.read, as: calendar_read}; the server still gets the raw name.",
)
TOO_MANY_TOOLS = Code(
    "SYM543",
    "too-many-tools",
    "An agent exposes more tools, variants included, than its provider or its own limits allow.",
    "tools: [everything/*]  # 142 tools, with provider: openai",
    "Select fewer tools, or hide the steps of chains with `expose: leaf`.",
)
TOOL_DESCRIPTION_TOO_LONG = Code(
    "SYM544",
    "tool-description-too-long",
    "A tool's description is longer than the agent's provider allows; it is never cut.",
    "tools: [docs/resolve]  # described in 2780 characters, with provider: openai",
    "Describe the tool in the agent: {tool: docs/resolve, description: …}.",
)
SCHEMA_ROOT_COMBINATOR = Code(
    "SYM545",
    "schema-root-combinator",
    "An input schema combines schemas at its root, which the agent's provider refuses.",
    "input_schema: {type: object, anyOf: [{required: [a]}, {required: [b]}]}  # with provider: anthropic",
    "Move the combination into a property, or check it in the tool and say it in the description.",
)
SCHEMA_PROPERTY_KEY = Code(
    "SYM546",
    "schema-property-key",
    "A parameter's name has characters, or a length, that the agent's provider refuses.",
    'input_schema: {type: object, properties: {"filter[id]": {type: string}}}  # with provider: anthropic',
    "Rename the parameter, or mint a variant whose schema names it otherwise.",
)
SCHEMA_ARRAY_ITEMS = Code(
    "SYM547",
    "schema-array-items",
    "An array in an input schema does not say what it holds; the agent's provider wants to know, and symc never guesses.",
    "input_schema: {type: object, properties: {ids: {type: array}}}  # with provider: openai",
    "Say under `items` what the array holds.",
)
SCHEMA_UNION_TYPE = Code(
    "SYM548",
    "schema-union-type",
    "A schema names several types, or any, where the agent's provider takes one, and no equal with single types exists.",
    "input_schema: {type: object, properties: {value: true}}  # with provider: gemini",
    "Name one type, or alternatives under `anyOf`.",
)
SCHEMA_REF_UNSUPPORTED = Code(
    "SYM549",
    "schema-ref-unsupported",
    "A schema refers to a part of itself in a way that cannot be inlined, and the agent's provider takes no references.",
    'input_schema: {type: object, properties: {child: {$ref: "#"}}}  # with provider: gemini',
    "Give the tool a schema without the reference in a variant, or leave the tool out.",
)
SCHEMA_TOO_NESTED = Code(
    "SYM550",
    "schema-too-nested",
    "An input schema nests objects and arrays deeper than the agent's provider follows.",
    "input_schema: {type: object, properties: {a: {type: object, properties: {…}}}}  # 11 levels, with provider: openai",
    "Make the arguments flatter.",
    Level.WARN,
)
SECRET_LITERAL = Code(
    "SYM561",
    "secret-literal",
    "A manifest holds a literal that looks like a credential; it would stand in the lock and in the history for ever.",
    "mcp: {command: [server], env: {API_TOKEN: hunter2}}",
    "Revoke it if it was committed, set it in the environment, and write ${env:NAME}.",
)
