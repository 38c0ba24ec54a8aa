"""Codes 0xx: reading and YAML (docs/manifests.md §1, docs/policies.md §8)."""

from symc.diagnostics.record import Code

FILE_ENCODING = Code(
    "SYM001",
    "file-encoding",
    "A file of the workspace is not UTF-8; symc never guesses an encoding.",
    "an agent saved as UTF-16 or Latin-1 by an editor",
    "Save the file as UTF-8.",
)
FORBIDDEN_CHARACTER = Code(
    "SYM002",
    "forbidden-character",
    "A file holds a character that nobody sees or that readers disagree about: a control character, a lone "
    "carriage return, a line separator, a byte order mark that is not at the start.",
    'reason: "stop\\x07"   # a bell character, typed as such',
    "Delete the character, or write it as an escape inside double quotes.",
)
YAML_SYNTAX = Code(
    "SYM003",
    "yaml-syntax",
    "A manifest is not valid YAML.",
    "name: crm: lookup",
    "Mend the line; text that holds ': ' or starts with a special character needs quotes.",
)
EMPTY_FILE = Code(
    "SYM004",
    "empty-file",
    "A manifest holds nothing.",
    "# only a comment",
    "Write a manifest, or delete the file.",
)
SECOND_DOCUMENT = Code(
    "SYM005",
    "second-document",
    "A file holds more than one YAML document; one file is one manifest.",
    "kind: agent\n---\nkind: extension",
    "Move the second document to a file of its own.",
)
NOT_A_MAPPING = Code(
    "SYM006",
    "not-a-mapping",
    "A manifest or a pin is a list or a single value instead of a mapping of keys.",
    "- kind: agent",
    "Start the file with a key, such as 'kind: agent'.",
)
DUPLICATE_KEY = Code(
    "SYM007",
    "duplicate-key",
    "A key stands twice in one mapping; other readers keep one of the two without a word, and a second 'deny' would "
    "wipe the first.",
    "deny: [crm/export_*]\ndeny: []",
    "Keep one of the two, or merge their values.",
)
MERGE_KEY = Code(
    "SYM008",
    "merge-key",
    "A manifest uses the merge key '<<', which YAML 1.2 does not have.",
    "<<: *base",
    "Write the keys out, or share them by 'extends'.",
)
EXPLICIT_TAG = Code(
    "SYM009",
    "explicit-tag",
    "A value carries an explicit YAML tag; a manifest is plain data.",
    "run: !!python/name:os.system ''",
    "Remove the tag; quote the value if a string is meant.",
)
NON_STRING_KEY = Code(
    "SYM010",
    "non-string-key",
    "A key is a number, a boolean, null, a list or a mapping.",
    "404: not found",
    "Quote the key.",
)
CYCLIC_ALIAS = Code(
    "SYM011",
    "cyclic-alias",
    "An alias stands inside the value that it names.",
    "vars: &v {again: *v}",
    "Write the value out.",
)
ALIAS_BUDGET = Code(
    "SYM012",
    "alias-budget",
    "The aliases of one file repeat more text than a manifest may hold.",
    "a: &a [x, x]\nb: &b [*a, *a]   # … and so on, doubling each time",
    "Write the values out, or split the manifest.",
)
NESTING = Code(
    "SYM013",
    "nesting-too-deep",
    "Values are nested deeper than 100 levels.",
    "[[[[…]]]]",
    "Flatten the value.",
)
UNSAFE_NUMBER = Code(
    "SYM014",
    "unsafe-number",
    "A number has no canonical JSON form that every reader agrees on: infinite, not a number, or an integer beyond "
    "2^53 - 1.",
    "order: 9007199254740993",
    "Use a smaller number, or quote it if a string is meant.",
)
UNDEFINED_ALIAS = Code(
    "SYM015",
    "undefined-alias",
    "An alias names an anchor that was not set before it; often a pattern that needs quotes.",
    "tools: [*search]",
    "Quote patterns: '*' at the start of unquoted text is YAML's alias sign.",
)
JSON_SYNTAX = Code(
    "SYM016",
    "json-syntax",
    "A .json file is not valid JSON.",
    '{"tools": [],}',
    "Write the file again with 'symc pin', or mend the place.",
)
LONE_SURROGATE = Code(
    "SYM017",
    "lone-surrogate",
    "A text holds half a surrogate pair, which is no character and has no UTF-8 form.",
    '{"description": "\\ud83d"}',
    "Write the character itself, or the whole pair.",
)
PATH_ESCAPE = Code(
    "SYM020",
    "path-escape",
    "A path or a link leads out of the workspace; nothing outside it is read.",
    "file: ../../etc/passwd",
    "Copy the file into the workspace.",
)
LINK_LOOP = Code(
    "SYM023",
    "link-loop",
    "A link leads back to itself or to a folder that holds it.",
    "agents/all -> ../agents",
    "Remove the link.",
)
NOT_A_FILE = Code(
    "SYM024",
    "not-a-file",
    "Something that is no regular file has the name of one: a folder, a pipe, a socket, a device.",
    "mkfifo manifests/agents/support.yaml",
    "Rename or remove it.",
)
FILE_NAME = Code(
    "SYM025",
    "file-name",
    "The name of a file or folder is not UTF-8, or holds a control character or a backslash; or a manifest would be "
    "passed over because its ending is in capitals.",
    "a file named 'caf\\xe9.yaml' in Latin-1",
    "Rename the file.",
)
CASE_COLLISION = Code(
    "SYM026",
    "case-collision",
    "Two names of files or folders differ only in case; on other systems they are one.",
    "agents/Support.yaml beside agents/support.yaml",
    "Rename one of them.",
)
NO_WORKSPACE = Code(
    "SYM027",
    "no-workspace",
    "The folder to compile does not exist, is not a folder, or holds no manifest.",
    "symc compile manifest",
    "Name the folder that holds the manifests, or run 'symc init'.",
)
UNREADABLE_FILE = Code(
    "SYM028",
    "unreadable-file",
    "The operating system does not let symc read a file or folder of the workspace.",
    "chmod 000 manifests/agents/support.yaml",
    "Change its permissions.",
)
FILE_TOO_LARGE = Code(
    "SYM029",
    "file-too-large",
    "A file is larger than 64 MiB.",
    "a recording saved as notes.txt",
    "Split the file, or move it out of the workspace.",
)
BROKEN_LINK = Code(
    "SYM030",
    "broken-link",
    "A link in the workspace points at nothing.",
    "agents/base.yaml -> removed.yaml",
    "Remove the link, or restore what it points at.",
)
TOO_MANY_LINKS = Code(
    "SYM031",
    "too-many-links",
    "Links to folders multiply the files of the workspace beyond reason.",
    "ten levels of folders that each link twice to the next",
    "Remove the links to folders.",
)
FOLDED_ITEM = Code(
    "SYM032",
    "folded-item",
    "A list item that is indented further than the one above it: YAML takes it for the end of that one's text.",
    "tools:\n  - crm/find\n    - crm/list",
    "Begin both in the same column.",
)
