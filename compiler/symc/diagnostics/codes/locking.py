"""Codes 6xx: the lockfile."""

from symc.diagnostics.record import Code

LOCK_MISSING = Code(
    "SYM601",
    "lock-missing",
    "A lock that is to be read must be there.",
    "symc compile --check, before the first symc compile",
    "Run `symc compile` and commit symc.lock.",
)
LOCK_UNREADABLE = Code(
    "SYM602",
    "lock-unreadable",
    "A lock is a regular file of UTF-8 text that holds one JSON object.",
    '{"agents": {"support": {',
    "Run `symc compile`: it writes the lock anew from the manifests.",
)
LOCK_CONFLICT = Code(
    "SYM603",
    "lock-conflict",
    "A merge left conflict markers in the lock; the merged manifests decide what belongs there.",
    "<<<<<<< HEAD",
    "Resolve the manifests, then run `symc compile`: it never reads the old lock.",
)
LOCK_VERSION_NEWER = Code(
    "SYM604",
    "lock-version-newer",
    "A lock of a newer version may hold vetoes that this symc does not know, so it is not read.",
    '{"lock_version": 99}',
    "Install a symc that knows this version, or compile with a lower `lock_version` in the workspace manifest.",
)
LOCK_VERSION_UNKNOWN = Code(
    "SYM605",
    "lock-version-unknown",
    "The version of a lock says how the rest is read; without a known one nothing is.",
    '{"lock_version": "one"}',
    "Run `symc compile`.",
)
LOCK_STRUCTURE = Code(
    "SYM606",
    "lock-structure",
    "Every key, type and reference of a lock is known; anything else is the mark of a bad merge or of an edit by hand.",
    '{"agents": {"support": {"extentions": []}}}',
    "See what was changed with `git diff symc.lock` and restore it; where the manifests changed on purpose, run `symc compile`.",
)
LOCK_DUPLICATE_KEY = Code(
    "SYM607",
    "lock-duplicate-key",
    "A key that stands twice means two things to two readers; a merge that kept both sides leaves one.",
    '{"fragments": {"safety": {}, "safety": {}}}',
    "See what was changed with `git diff symc.lock` and restore it; where the manifests changed on purpose, run `symc compile`.",
)
LOCK_DIGEST = Code(
    "SYM608",
    "lock-digest",
    "A part of the lock is not what its digest was made of: it was edited by hand or merged badly.",
    'changing one word of a "text" in symc.lock',
    "See what was changed with `git diff symc.lock` and restore it; what is wanted is changed in the manifests, then run `symc compile`.",
)
LOCK_DERIVED = Code(
    "SYM609",
    "lock-derived",
    "What a lock derives from its policies (`guarded_by`, `effects`) must be what follows from them.",
    'removing a policy from a tool\'s "guarded_by" in symc.lock',
    "See what was changed with `git diff symc.lock` and restore it; where the manifests changed on purpose, run `symc compile`.",
)
LOCK_EXPECTATION = Code(
    "SYM610",
    "lock-expectation",
    "What runs must be what was reviewed: its digest is not the one that was expected.",
    'symc.runtime.load("symc.lock", expect="sha256:…") after another compile',
    "Review the change with `symc diff`, then take the new digest from `symc digest`.",
)
LOCK_STALE = Code(
    "SYM611",
    "lock-stale",
    "The lock is not what the manifests compile to.",
    "symc compile --check, after an edit of a manifest",
    "Run `symc compile` and commit symc.lock.",
)
LOCK_UNWRITABLE = Code(
    "SYM612",
    "lock-unwritable",
    "The lock could not be written; the old one is untouched.",
    "symc compile, on a full disk",
    "Make room, or allow writing in the folder, and run `symc compile` again.",
)
LOCK_AGENT_UNKNOWN = Code(
    "SYM613",
    "lock-agent-unknown",
    "Only an agent that the lock holds can be opened or shown.",
    "symc digest suport",
    "Name an agent of the lock; an abstract one is not in it.",
)
ACCEPTANCE_INVALID = Code(
    "SYM620",
    "acceptance-invalid",
    "A stanza of symc.accept.yaml names one exact change, says why it is wanted, and who says so.",
    'accept: [{fingerprint: "sha256:…", rule: grant-widened, reason: ""}]',
    "Take the stanza from `symc diff --format accept` and fill in `reason` and `by`.",
)
ACCEPTANCE_UNUSED = Code(
    "SYM621",
    "acceptance-unused",
    "An acceptance that accepts nothing was meant for a change that is now another one, or gone.",
    "symc.accept.yaml accepts a grant of crm/refund_order that this branch no longer makes",
    "Look at the change again, and take the stanza anew from `symc diff --format accept`.",
)
