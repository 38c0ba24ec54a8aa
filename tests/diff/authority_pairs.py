"""Pairs about authority: the polarity table, and a pair for every authority rule (docs/diff.md §1–2)."""

from __future__ import annotations

from typing import Any

from tests.diff.pairs import Pair, server
from tests.policies.workspaces import Document, agent, ask, deny, extension, workspace

N = {"n": {"type": "integer"}}
OS = extension("os", {"read": N, "write": N, "delete_all": N})
LARGE = {"properties": {"n": {"type": "integer", "minimum": 100}}, "required": ["n"]}
SMALL = {"properties": {"n": {"type": "integer", "maximum": 9}}, "required": ["n"]}
HUGE = {"properties": {"n": {"type": "integer", "minimum": 900}}, "required": ["n"]}
CODE = {"policy_id": "code", "actions": ["tool_call"], "decide": "acme.guard:decide"}
WEB = extension("web", {"search": N, "fetch": N})
WRITE = {
    "description": "Write a file.",
    "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}},
}


def desk(*tools: Any, **more: Any) -> Document:
    return agent("desk", list(tools), **more)


def on(
    verdict: str,
    name: str,
    old: Any,
    new: Any,
    *changes: str,
    base: tuple[Document, ...] = (OS,),
    **more: Any,
) -> Pair:
    """A pair of one agent beside documents that stay."""
    return Pair(name=name, old=(*base, old), new=(*base, new), verdict=verdict, changes=changes, **more)


def ruled(*policies: Document, tools: tuple[Any, ...] = ("os/read", "os/write"), **more: Any) -> Document:
    return desk(*tools, policies=list(policies), **more)


_HOOKED = extension(
    "os", {"read": N}, lifecycle=[{"hook_id": "open", "phase": "install", "run": "acme.pool:open"}]
)
_ONLY = {"chain": [{"use": "timeout", "config": {"seconds": 5}}], "expose": "only"}


def lead(*tools: Any, **more: Any) -> Document:
    return agent("lead", list(tools), **more)


CHILD = agent("child", ["web/search"])
FILES = server("files", {"read_file": {}, "write_file": WRITE})

GRANTS = (
    on(
        "WIDENING",
        "a tool is selected",
        desk("os/read"),
        desk("os/read", "os/write"),
        "grant-widened os/write",
        "tool-added os/write",
        witness="desk may now call os/write (was: not among its tools)",
    ),
    on(
        "NARROWING",
        "a tool is no longer selected",
        desk("os/read", "os/write"),
        desk("os/read"),
        "grant-narrowed os/write",
        "tool-removed os/write",
        witness="desk may no longer call os/write (now: not among its tools)",
    ),
    on(
        "NARROWING",
        "a tool is excluded",
        desk("os/*"),
        desk("os/*", exclude=["os/write"]),
        "grant-narrowed os/write",
        "tool-removed os/write",
    ),
    on(
        "MIXED",
        "one tool for another",
        desk("os/read"),
        desk("os/write"),
        "grant-widened os/write",
        "grant-narrowed os/read",
        "tool-added os/write",
        "tool-removed os/read",
    ),
    on(
        "WIDENING",
        "the first tool",
        desk(extensions=["os"]),
        desk("os/read"),
        "grant-widened os/read",
        "tool-added os/read",
    ),
    on(
        "WIDENING",
        "an effect is granted",
        desk("os/read"),
        desk("os/read", grants=["memory_read"]),
        "grant-widened memory_read",
        witness="desk may now read memory (was: not granted)",
    ),
    on(
        "NARROWING",
        "an effect is no longer granted",
        desk(grants=["memory_write"]),
        desk(),
        "grant-narrowed memory_write",
    ),
    on(
        "SAME AUTHORITY",
        "a denied tool is selected",
        ruled(deny("d", "os/write"), tools=("os/read",)),
        ruled(deny("d", "os/write")),
        "tool-added os/write",
    ),
    on(
        "WIDENING",
        "a tool that is asked about is selected",
        ruled(ask("a", "os/write"), tools=("os/read",)),
        ruled(ask("a", "os/write")),
        "tool-added os/write",
        "grant-widened os/write",
    ),
    on(
        "SAME AUTHORITY",
        "a pattern in place of its tools",
        desk("os/read", "os/write", "os/delete_all"),
        desk("os/*"),
        "provenance-only desk",
    ),
    on(
        "SAME AUTHORITY",
        "a tool gets a prefix",
        desk("os/read"),
        desk("os/read", extensions=[{"use": "os", "prefix": "sys"}]),
        "tool-renamed os/read",
    ),
    on(
        "SAME AUTHORITY",
        "a tool gets another name",
        desk("os/read"),
        desk({"tool": "os/read", "as": "look"}),
        "tool-renamed os/read",
    ),
    on(
        "WIDENING",
        "a variant is minted",
        desk("os/read"),
        desk("os/read", variants={"os/read": ["audit"]}),
        "grant-widened os/read + audit",
        "tool-added os/read + audit",
    ),
    on(
        "MIXED",
        "a layer gets another config",
        desk("os/read", variants={"os/read": [{"use": "timeout", "config": {"seconds": 5}}]}),
        desk("os/read", variants={"os/read": [{"use": "timeout", "config": {"seconds": 9}}]}),
        "grant-widened os/read + timeout",
        "grant-narrowed os/read + timeout",
        "variant-chain-changed desk: read_timeout",
    ),
    on(
        "WIDENING",
        "a hidden base is exposed",
        desk("os/read", variants={"os/read": [_ONLY]}),
        desk("os/read", variants={"os/read": [_ONLY | {"expose": "all"}]}),
        "base-exposed os/read",
        "tool-added os/read",
        witness="desk may now call os/read (was: hidden behind its variants)",
    ),
    on(
        "NARROWING",
        "a base is hidden behind its variants",
        desk("os/read", variants={"os/read": [_ONLY | {"expose": "all"}]}),
        desk("os/read", variants={"os/read": [_ONLY]}),
        "grant-narrowed os/read",
        "tool-removed os/read",
        witness="desk may no longer call os/read (now: hidden behind its variants)",
    ),
    Pair(
        name="an agent is added",
        old=(OS, desk("os/read")),
        new=(OS, desk("os/read"), agent("night", ["os/write"])),
        verdict="WIDENING",
        changes=("agent-added night",),
        witness="night may now call os/write (was: not among its tools)",
    ),
    Pair(
        name="an agent is removed",
        old=(OS, desk("os/read"), agent("night", ["os/write"])),
        new=(OS, desk("os/read")),
        verdict="NARROWING",
        changes=("agent-removed night",),
    ),
    Pair(
        name="an abstract agent is no agent",
        old=(OS, desk("os/read")),
        new=(OS, desk("os/read"), agent("base", ["os/write"], abstract=True)),
        verdict="SAME AUTHORITY",
    ),
    Pair(
        name="a base brings a tool",
        old=(OS, agent("base", [], abstract=True), desk("os/read", extends=["base"])),
        new=(OS, agent("base", ["os/write"], abstract=True), desk("os/read", extends=["base"])),
        verdict="WIDENING",
        changes=("grant-widened os/write", "tool-added os/write"),
    ),
    Pair(
        name="a new remote tool under an old wildcard",
        old=(server("files", {"read_file": {}}), desk("files/*")),
        new=(server("files", {"read_file": {}, "purge": {}}), desk("files/*")),
        verdict="WIDENING",
        changes=("wildcard-captured desk: files/purge", "tool-added files/purge"),
        witness="desk may now call files/purge (was: not among its tools)",
    ),
    Pair(
        name="a new local tool under an old wildcard",
        old=(extension("os", {"read": N}), desk("os/*")),
        new=(extension("os", {"read": N, "nuke": N}), desk("os/*")),
        verdict="WIDENING",
        changes=("wildcard-captured desk: os/nuke", "tool-added os/nuke"),
    ),
    Pair(
        name="a new tool that nobody selects",
        old=(extension("os", {"read": N}), desk("os/read")),
        new=(extension("os", {"read": N, "nuke": N}), desk("os/read")),
        verdict="SAME AUTHORITY",
        changes=("unreached-changed os/nuke",),
    ),
    Pair(
        name="a server renames a tool out of a denial",
        old=(FILES, ruled(deny("no-writes", "files/write_file"), tools=("files/*",))),
        new=(
            server("files", {"read_file": {}, "file_write": WRITE}),
            ruled(deny("no-writes", "files/write_*"), tools=("files/*",)),
        ),
        verdict="WIDENING",
        changes=(
            "pattern-escaped desk: files/file_write",
            "tool-renamed files/file_write",
            "pattern-strengthened desk/no-writes",
        ),
        witness="desk may now call files/file_write (was: not among its tools)",
    ),
    Pair(
        name="a renewed pin renames a tool out of a denial, no manifest changed",
        old=(FILES, workspace(policies=[deny("no-writes", "*/write_*")]), desk("files/*")),
        new=(
            server("files", {"read_file": {}, "file_write": WRITE}),
            workspace(policies=[deny("no-writes", "*/write_*")]),
            desk("files/*"),
        ),
        verdict="WIDENING",
        changes=(
            "pattern-escaped desk: files/file_write",
            "tool-renamed files/file_write",
            "rule-ineffective acme/no-writes",
        ),
    ),
    Pair(
        name="a tool is renamed and still denied",
        old=(FILES, desk("files/*", policies=[deny("d", "files/*write*")])),
        new=(
            server("files", {"read_file": {}, "file_write": WRITE}),
            desk("files/*", policies=[deny("d", "files/*write*")]),
        ),
        verdict="SAME AUTHORITY",
        changes=("tool-renamed files/file_write",),
    ),
    on(
        "SAME AUTHORITY",
        "a rule that loses its last tool",
        ruled(deny("d", "os/write")),
        ruled(deny("d", "os/write"), tools=("os/read",)),
        "rule-ineffective desk/d",
        "tool-removed os/write",
    ),
)

VETOES = (
    on(
        "WIDENING",
        "a deny is removed",
        ruled(deny("d", "os/write")),
        ruled(),
        "deny-removed desk/d",
        witness="desk may now call os/write (was: denied by desk/d)",
    ),
    on(
        "NARROWING",
        "a deny is added",
        ruled(),
        ruled(deny("d", "os/write")),
        "deny-added desk/d",
        witness="desk may no longer call os/write (now: denied by desk/d)",
    ),
    on(
        "WIDENING",
        "a deny asks now",
        ruled(deny("d", "os/write")),
        ruled(ask("d", "os/write")),
        "deny-removed desk/d",
        witness="desk may now call os/write after a yes (was: denied by desk/d)",
    ),
    on(
        "NARROWING",
        "an ask denies now",
        ruled(ask("d", "os/write")),
        ruled(deny("d", "os/write")),
        "deny-added desk/d",
    ),
    on(
        "WIDENING",
        "an ask is removed",
        ruled(ask("a", "os/write")),
        ruled(),
        "approval-removed desk/a",
        witness="desk may now call os/write without asking (was: asked by desk/a)",
    ),
    on(
        "NARROWING",
        "an ask is added",
        ruled(),
        ruled(ask("a", "os/write")),
        "approval-added desk/a",
        witness="desk must now ask before it may call os/write (desk/a)",
    ),
    on(
        "WIDENING",
        "a deny covers fewer tools",
        ruled(deny("d", "os/*")),
        ruled(deny("d", "os/write")),
        "pattern-weakened desk/d",
        witness="desk may now call os/read (was: denied by desk/d)",
    ),
    on(
        "NARROWING",
        "a deny covers more tools",
        ruled(deny("d", "os/write")),
        ruled(deny("d", "os/*")),
        "pattern-strengthened desk/d",
    ),
    on(
        "MIXED",
        "a deny covers other tools",
        ruled(deny("d", "os/read")),
        ruled(deny("d", "os/write")),
        "pattern-weakened desk/d",
        "pattern-strengthened desk/d",
    ),
    on(
        "WIDENING",
        "a deny gets a condition",
        ruled(deny("d", "os/write")),
        ruled(deny("d", "os/write", when=LARGE)),
        "pattern-weakened desk/d",
    ),
    on(
        "NARROWING",
        "a deny loses its condition",
        ruled(deny("d", "os/write", when=LARGE)),
        ruled(deny("d", "os/write")),
        "pattern-strengthened desk/d",
    ),
    on(
        "MIXED",
        "a condition becomes another one",
        ruled(deny("d", "os/write", when=LARGE)),
        ruled(deny("d", "os/write", when=SMALL)),
        "pattern-weakened desk/d",
        "pattern-strengthened desk/d",
    ),
    on(
        "WIDENING",
        "a condition becomes a narrower one",
        ruled(deny("d", "os/write", when=LARGE)),
        ruled(deny("d", "os/write", when=HUGE)),
        "pattern-weakened desk/d",
    ),
    on(
        "WIDENING",
        "an ask with a condition gets a narrower one",
        ruled(ask("a", "os/write", when=LARGE)),
        ruled(ask("a", "os/write", when=HUGE)),
        "pattern-weakened desk/a",
    ),
    on(
        "MIXED",
        "a deny gets a wider condition and asks now",
        ruled(deny("d", "os/write", when=HUGE)),
        ruled(ask("d", "os/write", when=LARGE)),
        "deny-removed desk/d",
        "pattern-strengthened desk/d",
    ),
    on(
        "SAME AUTHORITY",
        "a condition in other words",
        ruled(deny("d", "os/write", when=LARGE)),
        ruled(deny("d", "os/write", when={**LARGE, "description": "Many."})),
        "policy-rewritten-equivalent desk/d",
    ),
    on(
        "WIDENING",
        "a deny with a condition asks now",
        ruled(deny("d", "os/write", when=LARGE)),
        ruled(ask("d", "os/write", when=LARGE)),
        "deny-removed desk/d",
    ),
    on(
        "WIDENING",
        "an ask gets a condition",
        ruled(ask("a", "os/write")),
        ruled(ask("a", "os/write", when=LARGE)),
        "pattern-weakened desk/a",
    ),
    on(
        "SAME AUTHORITY",
        "a shadowed deny is removed",
        ruled(deny("d", "os/write"), deny("e", "os/*")),
        ruled(deny("e", "os/*")),
        "deny-removed desk/d",
    ),
    on(
        "SAME AUTHORITY",
        "a shadowed ask is removed",
        ruled(ask("a", "os/write"), deny("e", "os/*")),
        ruled(deny("e", "os/*")),
        "approval-removed desk/a",
    ),
    on(
        "SAME AUTHORITY",
        "a pattern that touches no tool is weakened",
        ruled(deny("d", "os/write", "*/drop_*")),
        ruled(deny("d", "os/write", "os/drop_*")),
        "pattern-weakened desk/d",
    ),
    on(
        "SAME AUTHORITY",
        "the tools of a rule change places",
        ruled(deny("d", "os/read", "os/write")),
        ruled(deny("d", "os/write", "os/read")),
        "policy-rewritten-equivalent desk/d",
    ),
    on(
        "SAME AUTHORITY",
        "rules change places",
        ruled(deny("d", "os/read"), ask("a", "os/write")),
        ruled(ask("a", "os/write"), deny("d", "os/read")),
    ),
    on(
        "SAME AUTHORITY",
        "a rule is split",
        ruled(deny("d", "os/read", "os/write")),
        ruled(deny("d1", "os/read"), deny("d2", "os/write")),
        "policy-rewritten-equivalent desk/d",
    ),
    on(
        "SAME AUTHORITY",
        "rules are joined",
        ruled(deny("d1", "os/read"), deny("d2", "os/write")),
        ruled(deny("d", "os/read", "os/write")),
        "policy-rewritten-equivalent desk/d1",
        "policy-rewritten-equivalent desk/d2",
    ),
    on(
        "SAME AUTHORITY",
        "a rule gets another id",
        ruled(deny("d", "os/write")),
        ruled(deny("e", "os/write")),
        "policy-rewritten-equivalent desk/d",
    ),
    Pair(
        name="a rule moves to the workspace",
        old=(OS, ruled(deny("d", "os/write"))),
        new=(OS, ruled(), workspace(policies=[deny("d", "os/write")])),
        verdict="SAME AUTHORITY",
        changes=("policy-rewritten-equivalent desk/d",),
    ),
    on("WIDENING", "a deny becomes code", ruled(deny("code", "os/*")), ruled(CODE), "deny-removed desk/code"),
    on(
        "WIDENING",
        "code is removed",
        ruled(CODE),
        ruled(),
        "deny-removed desk/code",
        witness="desk may now call os/read (was: decided by the code of desk/code)",
    ),
    on("NARROWING", "code is added", ruled(), ruled(CODE), "deny-added desk/code"),
    on(
        "SAME AUTHORITY",
        "code gets another id",
        ruled(CODE),
        ruled(CODE | {"policy_id": "code2"}),
        "policy-rewritten-equivalent desk/code",
    ),
    on(
        "WIDENING",
        "code guards fewer effects",
        ruled(CODE | {"actions": ["tool_call", "model_call"]}),
        ruled(CODE),
        "pattern-weakened desk/code",
        witness="desk may now call its model (was: decided by the code of desk/code)",
    ),
    on(
        "WIDENING",
        "a deny of an effect is removed",
        desk(
            grants=["memory_write"],
            policies=[{"policy_id": "m", "deny": {"reason": "No."}, "actions": ["memory_write"]}],
        ),
        desk(grants=["memory_write"]),
        "deny-removed desk/m",
        witness="desk may now write memory (was: denied by desk/m)",
    ),
    Pair(
        name="a guardrail is no longer used",
        old=(
            OS,
            extension("rails", {}, policies=[deny("d", "os/write")]),
            desk("os/*", extensions=["os", "rails"]),
        ),
        new=(OS, extension("rails", {}, policies=[deny("d", "os/write")]), desk("os/*")),
        verdict="WIDENING",
        changes=("deny-removed rails/d",),
    ),
    Pair(
        name="a guardrail is used by everybody",
        old=(OS, extension("rails", {}, policies=[deny("d", "os/write")]), desk("os/*"), workspace()),
        new=(
            OS,
            extension("rails", {}, policies=[deny("d", "os/write")]),
            desk("os/*"),
            workspace(extensions=["rails"]),
        ),
        verdict="NARROWING",
        changes=("deny-added rails/d",),
    ),
    Pair(
        name="a guardrail that stops nothing today is no longer used",
        old=(
            OS,
            extension("rails", {}, policies=[deny("d", "*/drop_*")]),
            desk("os/*", extensions=["os", "rails"]),
        ),
        new=(OS, extension("rails", {}, policies=[deny("d", "*/drop_*")]), desk("os/*")),
        verdict="SAME AUTHORITY",
        changes=("deny-removed rails/d",),
    ),
    on(
        "WIDENING",
        "a rule over a tool is about one variant now",
        ruled(deny("d", "os/read"), tools=("os/read",), variants={"os/read": ["audit"]}),
        ruled(
            deny("d", {"variant": "os/read", "chain": ["audit"]}),
            tools=("os/read",),
            variants={"os/read": ["audit"]},
        ),
        "pattern-weakened desk/d",
        witness="desk may now call os/read (was: denied by desk/d)",
    ),
    on(
        "MIXED",
        "a condition sees the arguments of another layer",
        ruled(deny("d", "os/read", when=LARGE), tools=("os/read",), variants={"os/read": [_ONLY]}),
        ruled(
            deny("d", {"variant": "os/read", "chain": ["timeout"]}, when=LARGE),
            tools=("os/read",),
            variants={"os/read": [_ONLY]},
        ),
        "pattern-weakened desk/d",
        "pattern-strengthened desk/d",
    ),
)

MIXTURES = (
    on(
        "MIXED",
        "code in place of a question",
        ruled({"policy_id": "code", "ask": {"tools": ["os/*"]}}),
        ruled(CODE),
        "deny-added desk/code",
        "pattern-weakened desk/code",
    ),
    on(
        "MIXED",
        "a question in place of code",
        ruled(CODE),
        ruled({"policy_id": "code", "ask": {"tools": ["os/*"]}}),
        "deny-removed desk/code",
        "pattern-strengthened desk/code",
    ),
    on(
        "SAME AUTHORITY",
        "a rule that never fires is removed",
        ruled(deny("d", "os/write", when=False)),
        ruled(),
        "policy-rewritten-equivalent desk/d",
    ),
    on(
        "MIXED",
        "a rule is about an effect now",
        ruled(deny("d", "os/write")),
        ruled({"policy_id": "d", "deny": {"reason": "No."}, "actions": ["model_call"]}),
        "pattern-weakened desk/d",
        "pattern-strengthened desk/d",
        "reason-changed desk/d",
    ),
    Pair(
        name="a phase changes",
        old=(_HOOKED, desk("os/read")),
        new=(
            _HOOKED | {"lifecycle": [{"hook_id": "open", "phase": "teardown", "run": "acme.pool:open"}]},
            desk("os/read"),
        ),
        verdict="UNKNOWN",
        changes=("code-target-changed os/open phase",),
    ),
)

DELEGATION = (
    Pair(
        name="a delegate is added",
        old=(WEB, CHILD, lead("web/search")),
        new=(WEB, CHILD, lead("web/search", delegates=["child"])),
        verdict="WIDENING",
        changes=("delegation-added lead → child",),
        witness="lead may now delegate to child (was: no delegate)",
    ),
    Pair(
        name="a delegate is removed",
        old=(WEB, CHILD, lead("web/search", delegates=["child"])),
        new=(WEB, CHILD, lead("web/search")),
        verdict="NARROWING",
        changes=("delegation-removed lead → child",),
    ),
    Pair(
        name="an agent with delegates is removed",
        old=(WEB, CHILD, lead("web/search", delegates=["child"])),
        new=(WEB, CHILD),
        verdict="NARROWING",
        changes=("agent-removed lead",),
    ),
    Pair(
        name="a delegate that may exceed more and less",
        old=(WEB, CHILD, lead(delegates=[{"agent": "child", "may_exceed": ["web/*", "web/fetch"]}])),
        new=(WEB, CHILD, lead(delegates=[{"agent": "child", "may_exceed": ["web/*", "memory_read"]}])),
        verdict="WIDENING",
        changes=("delegation-widened lead → child",),
        mirror="WIDENING",
    ),
    Pair(
        name="a delegate may exceed",
        old=(WEB, CHILD, lead("web/search", delegates=["child"])),
        new=(WEB, CHILD, lead("web/search", delegates=[{"agent": "child", "may_exceed": ["web/*"]}])),
        verdict="WIDENING",
        changes=("delegation-widened lead → child",),
    ),
    Pair(
        name="a delegate may no longer exceed",
        old=(WEB, CHILD, lead("web/search", delegates=[{"agent": "child", "may_exceed": ["web/*"]}])),
        new=(WEB, CHILD, lead("web/search", delegates=["child"])),
        verdict="NARROWING",
        changes=("delegation-narrowed lead → child",),
    ),
    Pair(
        name="a child gets a tool",
        old=(WEB, CHILD, lead(delegates=[{"agent": "child", "may_exceed": ["web/*"]}])),
        new=(WEB, agent("child", ["web/*"]), lead(delegates=[{"agent": "child", "may_exceed": ["web/*"]}])),
        verdict="WIDENING",
        changes=("grant-widened web/fetch", "tool-added web/fetch"),
    ),
    Pair(
        name="a caller's deny over its child is removed",
        old=(
            WEB,
            CHILD,
            lead(delegates=[{"agent": "child", "may_exceed": ["web/*"]}], policies=[deny("d", "web/search")]),
        ),
        new=(WEB, CHILD, lead(delegates=[{"agent": "child", "may_exceed": ["web/*"]}])),
        verdict="WIDENING",
        changes=("deny-removed lead/d",),
        witness="child, called through lead, may now call web/search (was: denied by lead/d)",
    ),
    Pair(
        name="a caller's ask over its child is added",
        old=(WEB, CHILD, lead(delegates=[{"agent": "child", "may_exceed": ["web/*"]}])),
        new=(
            WEB,
            CHILD,
            lead(delegates=[{"agent": "child", "may_exceed": ["web/*"]}], policies=[ask("a", "web/search")]),
        ),
        verdict="NARROWING",
        changes=("approval-added lead/a",),
    ),
    Pair(
        name="delegating is no longer asked about",
        old=(
            WEB,
            CHILD,
            lead(
                "web/search",
                delegates=["child"],
                policies=[{"policy_id": "a", "ask": {"reason": "Sure?"}, "actions": ["delegate"]}],
            ),
        ),
        new=(WEB, CHILD, lead("web/search", delegates=["child"])),
        verdict="WIDENING",
        changes=("approval-removed lead/a",),
        witness="lead may now delegate to child without asking (was: asked by lead/a)",
    ),
    Pair(
        name="a shorter way round an ask",
        old=(
            WEB,
            CHILD,
            agent("mid", ["web/search"], delegates=["child"], policies=[ask("a", "web/search")]),
            lead("web/search", delegates=["mid"]),
        ),
        new=(
            WEB,
            CHILD,
            agent("mid", ["web/search"], delegates=["child"], policies=[ask("a", "web/search")]),
            lead("web/search", delegates=["mid", "child"]),
        ),
        verdict="WIDENING",
        changes=("delegation-added lead → child",),
    ),
    Pair(
        name="a second way that is no freer",
        old=(
            WEB,
            CHILD,
            agent("mid", ["web/search"], delegates=["child"]),
            lead("web/search", delegates=["mid", "child"]),
        ),
        new=(
            WEB,
            CHILD,
            agent("mid", ["web/search"], delegates=["child"], policies=[ask("a", "web/search")]),
            lead("web/search", delegates=["mid", "child"]),
        ),
        verdict="NARROWING",
        changes=("approval-added mid/a",),
    ),
)

_LAYER = {"name": "memo", "kind": "wrapper", "factory": "acme.wrap:memo"}
_HOOK = {"hook_id": "open", "phase": "install", "run": "acme.pool:open"}


def _os(**more: Any) -> Document:
    return extension("os", {"read": N}, **more)


def _files(**mcp: Any) -> Document:
    return server("files", {"read_file": {}}, mcp={"command": ["run", "files"]} | mcp)


def code(name: str, old: Document, new: Document, subject: str, user: Document | None = None) -> Pair:
    one = user or desk("os/read")
    return Pair(
        name=f"other code: {name}",
        old=(old, one),
        new=(new, one),
        verdict="UNKNOWN",
        changes=(f"code-target-changed {subject}",),
    )


def _invoking(target: str) -> Document:
    tool = {"name": "read", "invoke": target, "input_schema": {"type": "object"}}
    return {"kind": "extension", "name": "os", "version": "1.0", "tools": [tool]}


MEANS = (
    on(
        "WIDENING",
        "more rounds",
        desk(limits={"max_model_rounds": 5}),
        desk(limits={"max_model_rounds": 6}),
        "limit-raised max_model_rounds",
        base=(),
        witness="desk may now call its model 6 times a run (was: 5)",
    ),
    on(
        "NARROWING",
        "fewer rounds",
        desk(),
        desk(limits={"max_model_rounds": 9}),
        "limit-lowered max_model_rounds",
        base=(),
    ),
    on(
        "WIDENING",
        "no limit of tools",
        desk("os/read", limits={"tools": 4}),
        desk("os/read"),
        "limit-raised tools",
    ),
    on(
        "NARROWING",
        "a limit of the prompt",
        desk(),
        desk(limits={"prompt_chars": 900}),
        "limit-lowered prompt_chars",
        base=(),
    ),
    on(
        "WIDENING",
        "code may take longer",
        ruled(CODE),
        ruled(CODE | {"timeout": 9}),
        "limit-raised desk/code timeout",
    ),
    on(
        "NARROWING",
        "code may take less long",
        ruled(CODE),
        ruled(CODE | {"timeout": 1}),
        "limit-lowered desk/code timeout",
    ),
    Pair(
        name="a secret is read",
        old=(_files(), desk("files/*")),
        new=(_files(env={"TOKEN": "${env:FILES_TOKEN}"}), desk("files/*")),
        verdict="WIDENING",
        changes=("secret-added FILES_TOKEN", "code-target-changed files mcp.env"),
        witness="desk may now read the environment variable FILES_TOKEN",
        mirror="UNKNOWN",
    ),
    Pair(
        name="a secret is no longer read",
        old=(
            _os(tool_extensions=[_LAYER | {"config_schema": {"type": "object"}}]),
            desk("os/read", variants={"os/read": [{"use": "memo", "config": {"key": "${env:KEY}"}}]}),
        ),
        new=(_os(tool_extensions=[_LAYER | {"config_schema": {"type": "object"}}]), desk("os/read")),
        verdict="NARROWING",
        changes=("secret-removed KEY", "grant-narrowed os/read + memo", "tool-removed os/read + memo"),
    ),
    code("invoke", _invoking("acme.os:read"), _invoking("acme.os:read2"), "os/read invoke"),
    code(
        "factory",
        _os(tool_extensions=[_LAYER]),
        _os(tool_extensions=[_LAYER | {"factory": "acme.wrap:memo2"}]),
        "os/memo factory",
        desk("os/read", variants={"os/read": ["memo"]}),
    ),
    code("run", _os(lifecycle=[_HOOK]), _os(lifecycle=[_HOOK | {"run": "acme.pool:open2"}]), "os/open run"),
    code(
        "decide",
        _os(policies=[CODE]),
        _os(policies=[CODE | {"decide": "acme.guard:other"}]),
        "os/code decide",
    ),
    code("implementation", _os(), _os(implementation="acme.os:provider"), "os implementation"),
    code("command", _files(), _files(command=["run", "filez"]), "files mcp.command", desk("files/*")),
    code(
        "url",
        server("files", {"read_file": {}}, mcp={"url": "https://a.example/mcp"}),
        server("files", {"read_file": {}}, mcp={"url": "https://b.example/mcp"}),
        "files mcp.url",
        desk("files/*"),
    ),
    code(
        "headers",
        server("files", {"read_file": {}}, mcp={"url": "https://a.example/mcp"}),
        server(
            "files", {"read_file": {}}, mcp={"url": "https://a.example/mcp", "headers": {"X-Team": "desk"}}
        ),
        "files mcp.headers",
        desk("files/*"),
    ),
    Pair(
        name="other code of a tool that nobody has",
        old=(_invoking("acme.os:read"), WEB, desk("web/search", extensions=["web", "os"])),
        new=(_invoking("acme.os:read2"), WEB, desk("web/search", extensions=["web", "os"])),
        verdict="SAME AUTHORITY",
        changes=("unreached-changed os/read",),
    ),
    Pair(
        name="a hook is added",
        old=(_os(), desk("os/read")),
        new=(_os(lifecycle=[_HOOK]), desk("os/read")),
        verdict="UNKNOWN",
        changes=("hook-added os/open",),
    ),
    Pair(
        name="a hook is removed",
        old=(_os(lifecycle=[_HOOK]), desk("os/read")),
        new=(_os(), desk("os/read")),
        verdict="UNKNOWN",
        changes=("hook-removed os/open",),
    ),
    Pair(
        name="other code and a wider grant",
        old=(_invoking("acme.os:read"), WEB, desk("os/read")),
        new=(_invoking("acme.os:read2"), WEB, desk("os/read", "web/search")),
        verdict="WIDENING",
        changes=("code-target-changed os/read invoke", "grant-widened web/search", "tool-added web/search"),
        mirror="UNKNOWN",
    ),
)

PAIRS = (*GRANTS, *VETOES, *MIXTURES, *DELEGATION, *MEANS)
