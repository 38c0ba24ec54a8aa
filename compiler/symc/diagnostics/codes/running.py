"""Codes 7xx: the runtime."""

from symc.diagnostics.record import Code

TARGET_MISSING = Code(
    "SYM701",
    "target-missing",
    "A target of the lock must be importable where the agent runs.",
    "invoke: support_desk.crm:lookup_custommer",
    "Install the package, start where it can be imported, or correct the manifest and run `symc compile`.",
)
TARGET_BROKEN = Code(
    "SYM702",
    "target-broken",
    "The module of a target fails while it is imported.",
    "import support_desk.crm  # raises KeyError",
    "Mend the module; `python -c 'import …'` shows the whole failure.",
)
TARGET_SIGNATURE = Code(
    "SYM703",
    "target-signature",
    "What a target names has the form its use needs: a tool is async and takes the mapping of its arguments.",
    "def lookup_customer(key):  # not async, and no mapping",
    "Give the function the form that the message names.",
)
DECLARATION_DIFFERS = Code(
    "SYM704",
    "declaration-differs",
    "Code that declares itself must declare what its manifest does, or what runs is not what was reviewed.",
    'PromptFragment("etiquette", "another text", "crm")  # the manifest has other words',
    "Make manifest and code agree, then run `symc compile` and review the diff.",
)
LAYER_REFUSED = Code(
    "SYM705",
    "layer-refused",
    "A factory answers a new async callable; anything else cannot stand as a layer.",
    "def memo(func, name, description): return func",
    "Mend the factory that the message names.",
)
LAYER_SIGNATURE = Code(
    "SYM706",
    "layer-signature",
    "A layer presents the parameters of its locked schema: other ones mean another tool than the reviewed one.",
    "async def wrapper(key, depth=1): ...  # `depth` is in no schema",
    "Make the factory present what the account asks for, or change its manifest and run `symc compile`.",
)
SERVER_CHANGED = Code(
    "SYM707",
    "server-changed",
    "A server must say of its tools what the lock says of them, to the letter.",
    "a server that changed a tool's description after the pin",
    "Look at the change with `symc pin --check`; when it is fine, `symc pin` and `symc compile`, and review the diff.",
)
PROVIDER_MISMATCH = Code(
    "SYM708",
    "provider-mismatch",
    "An agent runs on the provider whose limits its tools were checked against.",
    "AnthropicProvider for an agent with `provider: openai`",
    "Pass the lock's provider, or change `provider` in the manifest and run `symc compile`.",
)
HOOK_FAILED = Code(
    "SYM709",
    "hook-failed",
    "An extension whose install hook fails is not open; what was opened before it is closed again.",
    "run: support_desk.crm:open_book  # raises",
    "Mend what the hook needs; the message names it and what it raised.",
)
SLOT_UNKNOWN = Code(
    "SYM711",
    "slot-unknown",
    "A text for a slot that no agent here has would go nowhere.",
    'state={"slots": {"support/custommer": "…"}}',
    "Name a slot of the lock as owner/id; `symc show` lists them.",
)
SLOT_MISSING = Code(
    "SYM712",
    "slot-missing",
    "A run needs the text of every required slot.",
    "agent.run(…) without state, for a slot with `required: true`",
    'Pass it: state={"slots": {"owner/id": "…"}}.',
)
SLOT_TEXT = Code(
    "SYM713",
    "slot-text",
    "The text of a slot is plain text within its length; it is refused as it is, never cut or cleaned.",
    "a slot's text with a zero-width space, or longer than its max_chars",
    "Cut or clean the text where it is made.",
)
