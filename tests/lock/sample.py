"""A small lock that holds one of everything, built by hand."""

from __future__ import annotations

from symc.composition import (
    Agent,
    Author,
    BoundTool,
    CachePlan,
    Delegate,
    Extension,
    Fragment,
    Hook,
    Layer,
    Limits,
    Lock,
    Policy,
    Selector,
    Server,
    Slot,
    Tool,
    ToolExtension,
)
from symc.contracts.frozen import FrozenDict, freeze

LOOKUP = Tool(
    name="lookup_customer",
    description="Find a customer.\nBy e-mail address or id.",
    invoke="acme_crm.tools:lookup_customer",
    origin="https://crm.example",
    input_schema=freeze({"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}),
    output_schema=freeze({"type": "object"}),
    annotations=freeze({"readOnlyHint": True}),
)
READ = Tool(
    name="read_file",
    title="Read",
    description="Read a file.",
    input_schema=freeze({"type": "object", "properties": {"path": {"type": "string", "maxLength": 1.5e3}}}),
)

CRM = Extension(
    name="crm",
    source="extensions/crm.yaml",
    version="1.4.0",
    description="Customers.",
    requires=("guardrails >=2",),
    implementation="acme_crm.extension:provider",
    vars=freeze({"tone": "friendly", "channels": ["mail", "chat"]}),
    tools={"lookup_customer": LOOKUP},
    fragments={
        "etiquette": Fragment(
            fragment_id="etiquette",
            text="Be {{ tone }}.\n",
            template=True,
            rendered="Be friendly.\n",
            order=50,
        ),
        "notes": Fragment(fragment_id="notes", text="Older notes", tier="profile", truncated=True),
    },
    policies={
        "no-bulk-export": Policy(
            policy_id="no-bulk-export",
            effect="deny",
            actions=("tool_call",),
            tools=(
                Selector(pattern="crm/*"),
                Selector(variant="crm/lookup_customer", chain=("memo", "std/audit")),
            ),
            when=freeze({"properties": {"limit": {"minimum": 100}}, "required": ["limit"]}),
            reason="Bulk exports need a human.",
        ),
    },
    hooks={
        "open-pool": Hook(hook_id="open-pool", phase="install", run="acme_crm.pool:open"),
        "close-pool": Hook(hook_id="close-pool", phase="teardown", run="acme_crm.pool:close"),
    },
    tool_extensions={
        "memo": ToolExtension(
            name="memo",
            kind="wrapper",
            factory="acme_cache.wrap:memo",
            description="{description} Answers are kept.",
            reserved_params=freeze({"exp": {"type": "number"}}),
            config_schema=freeze({"type": "object", "properties": {"ttl": {"type": "number"}}}),
        ),
        "bulk": ToolExtension(
            name="bulk",
            kind="transformer",
            factory="acme_batch.wrap:bulk",
            requires_body_locality=True,
            inherit_properties=True,
            input_schema=freeze({"type": "object", "properties": {"params": {"$ref": "symc:input"}}}),
            output_schema=freeze({"type": "array"}),
            annotations=freeze({"idempotentHint": True}),
        ),
    },
)
FILES = Extension(
    name="files",
    source="extensions/files.yml",
    mcp=Server(
        command=("npx", "-y", "files@1"),
        env=FrozenDict(TOKEN="${env:FILES_TOKEN}"),
        headers=FrozenDict(a="b"),
        url="u",
    ),
    tools={"read_file": READ},
)
GUARDRAILS = Extension(
    name="guardrails",
    source="extensions/guardrails.yaml",
    version="2.0",
    policies={
        "pii": Policy(
            policy_id="pii",
            effect="decide",
            actions=("tool_call",),
            decide="acme_guard.pii:decide",
            timeout=2.5,
        ),
        "no-reads": Policy(
            policy_id="no-reads",
            effect="ask",
            actions=("tool_call",),
            tools=(Selector(pattern="*/read_*"),),
            when=True,
        ),
    },
)
STD = Extension(
    name="std",
    source="symc:std",
    version="1",
    tool_extensions={"audit": ToolExtension(name="audit", kind="wrapper", factory="symc.std.audit:wrap")},
)
WORKSPACE = Author(
    name="acme",
    source="workspace.yaml",
    fragments={
        "kernel": Fragment(fragment_id="kernel", text="Never lie.", layer="l0", tier="platform", order=0)
    },
    policies={
        "budget": Policy(policy_id="budget", effect="ask", actions=("model_call",), reason="Costs money.")
    },
)
BASE = Author(
    name="base-support",
    source="agents/base.yaml",
    fragments={"safety": Fragment(fragment_id="safety", text="Be safe.\n", tier="platform", order=10)},
    slots={
        "customer": Slot(
            fragment_id="customer", tier="profile", scope="profile", order=100, max_chars=2000, required=True
        )
    },
    policies={
        "night": Policy(
            policy_id="night", effect="deny", actions=("delegate",), reason="Not at night.\nNever."
        )
    },
)
GUARDS = ("crm/no-bulk-export",)
SUPPORT = Agent(
    name="support",
    source="agents/support.yaml",
    description="Answers customers.",
    provider="anthropic",
    model="claude-sonnet-4-5",
    bases=("base-support",),
    extensions=("guardrails", "crm", "files"),
    prefixes=FrozenDict(files="fs"),
    grants=("delegate", "model_call", "tool_call"),
    limits=Limits(max_model_rounds=12, prompt_chars=9000, extension_prompt_chars=4000, tools=20),
    vars=freeze({"crm.tone": "formal"}),
    env=("FILES_TOKEN",),
    prompt=(
        "acme/kernel",
        "base-support/safety",
        "support/instructions",
        "crm/etiquette",
        "crm/notes",
        "base-support/customer",
    ),
    fragments={
        "instructions": Fragment(
            fragment_id="instructions",
            text="You answer customers.\nÄ “quoted” line\u2028.\n",
            tier="operating",
            order=0,
        )
    },
    rendered={"crm/etiquette": "Be formal.\n"},
    cache_plan=CachePlan(deployment="support/instructions", static="crm/notes"),
    tools={
        "find_customer": BoundTool(
            name="find_customer",
            extension="crm",
            raw="lookup_customer",
            selected_by="crm/*",
            chain=(
                Layer(extension="crm", name="memo", config=freeze({"ttl": 5})),
                Layer(extension="std", name="audit", config=FrozenDict()),
            ),
            description="Find a customer. Answers are kept.",
            input_schema=freeze({"type": "object", "properties": {"key": {}, "exp": {"type": "number"}}}),
            output_schema=None,
            annotations=freeze({"readOnlyHint": True}),
            guarded_by=GUARDS,
        ),
        "fs_read_file": BoundTool(
            name="fs_read_file",
            extension="files",
            raw="read_file",
            selected_by="files/*",
            description="Read one document.",
            input_schema=freeze({"type": "object", "properties": {}}),
            adaptations=("properties-added",),
            overrides=("description",),
            guarded_by=("guardrails/no-reads",),
        ),
        "lookup_customer": BoundTool(
            name="lookup_customer",
            extension="crm",
            raw="lookup_customer",
            selected_by="crm/*",
            exposed=False,
            description=LOOKUP.description,
            input_schema=LOOKUP.input_schema,
            output_schema=LOOKUP.output_schema,
            annotations=LOOKUP.annotations,
            guarded_by=GUARDS,
        ),
    },
    policies={
        "quiet": Policy(policy_id="quiet", effect="deny", tools=(Selector(pattern="web/*"),), when=False)
    },
    effects={
        "delegate": ("base-support/night",),
        "model_call": ("acme/budget",),
        "tool_call": ("guardrails/pii",),
    },
    install=("crm/open-pool",),
    teardown=("crm/close-pool",),
    delegates={
        "researcher": Delegate(
            agent="researcher", tool="ask_researcher", description="Looks things up.", may_exceed=("web/*",)
        )
    },
)
RESEARCHER = Agent(
    name="researcher",
    source="agents/researcher.yaml",
    description="Looks things up.",
    grants=("model_call",),
    prompt=("acme/kernel",),
    effects={"model_call": ("acme/budget",)},
)
LOCK = Lock(
    agents={"support": SUPPORT, "researcher": RESEARCHER},
    bases={"base-support": BASE},
    extensions={"crm": CRM, "files": FILES, "guardrails": GUARDRAILS, "std": STD},
    workspace=WORKSPACE,
)
