"""Policies: exactly one way to object, to something that exists, and never a way to allow (docs/policies.md §2)."""

from __future__ import annotations

from typing import Any

from symc.contracts.names import MEMBER_ID
from symc.diagnostics import Edit, Hint
from symc.diagnostics.codes import shape as codes
from symc.diagnostics.suggest import did_you_mean
from symc.manifest import words
from symc.manifest.keys import Path
from symc.manifest.model import Policy, Rule, VariantSelector
from symc.manifest.schemata import check_schema
from symc.manifest.submission import Submission
from symc.manifest.texts import plain_text
from symc.schema.drafts import KEYWORDS, Role
from symc.schema.survey import members

_WAYS = ("deny", "ask", "decide")


def check_policies(submission: Submission, policies: tuple[Policy, ...]) -> tuple[Policy, ...]:
    """The policies, with the actions of rules on tools filled in."""
    for index, policy in words.present(policies):
        _policy(submission, ("policies", index), policy)
    words.unique(
        submission,
        ((("policies", i, "policy_id"), p.policy_id) for i, p in words.present(policies)),
        "policy id",
    )
    return tuple(_with_actions(policy) for _, policy in words.present(policies))


def _with_actions(policy: Policy) -> Policy:
    rule = policy.deny or policy.ask
    if rule is None or not rule.tools or policy.actions is not None:
        return policy
    return policy.model_copy(update={"actions": ("tool_call",)})


def _policy(submission: Submission, path: Path, policy: Policy) -> None:
    name = policy.policy_id
    words.name(submission, (*path, "policy_id"), name, MEMBER_ID, "policy id")
    ways = [way for way in _WAYS if getattr(policy, way) is not None]
    if len(ways) > 1:
        submission.refuse(
            codes.EXACTLY_ONE,
            (*path, ways[1]),
            f'policy "{name}" has {" and ".join(f"`{way}`" for way in ways)}',
            at_key=True,
            secondary=submission.also((*path, ways[0]), f"`{ways[0]}` is given here"),
            hint="make it one policy for each",
        )
    elif not ways:
        submission.refuse(
            codes.EXACTLY_ONE,
            path,
            f'policy "{name}" objects to nothing',
            hint="add `deny:` or `ask:` with the tools it stops, or `decide:` with the code that decides",
        )
    for index, action in enumerate(policy.actions or ()):
        words.effect(submission, (*path, "actions", index), action, "action")
    if policy.actions == ():
        submission.refuse(
            codes.EMPTY_LIST,
            (*path, "actions"),
            f'policy "{name}" is about no action at all, so it never objects',
            hint="name the actions, or remove the key",
        )
    for way in ("deny", "ask"):
        rule: Rule | None = getattr(policy, way)
        if rule is not None:
            _rule(submission, (*path, way), rule, policy)
    if policy.decide is not None:
        words.target(submission, (*path, "decide"), policy.decide)
    elif policy.timeout is not None:
        submission.refuse(
            codes.IDLE_KEY,
            (*path, "timeout"),
            f'policy "{name}" has a `timeout` and no code that could take time',
            at_key=True,
            hint="remove it; it belongs to `decide`",
        )


def _rule(submission: Submission, path: Path, rule: Rule, policy: Policy) -> None:
    for index, selector in enumerate(rule.tools):
        place = (*path, "tools", index)
        if isinstance(selector, VariantSelector):
            _variant(submission, place, selector)
        else:
            words.pattern(submission, place, selector)
    if not rule.tools:
        if "tools" in rule.model_fields_set:
            submission.refuse(
                codes.EMPTY_LIST,
                (*path, "tools"),
                f'policy "{policy.policy_id}" lists no tools',
                hint="name the tools, or remove the key and name `actions`",
            )
        elif policy.actions is None:
            submission.refuse(
                codes.RULE_WITHOUT_SUBJECT,
                path,
                f'policy "{policy.policy_id}" does not say what it stops',
                at_key=True,
                hint="add `tools` here, or `actions` beside it",
            )
    if isinstance(rule.when, dict):
        when = (*path, "when")
        if check_schema(submission, when, rule.when, policy.policy_id, "condition", arguments=True):
            _keywords(submission, when, rule.when)
    plain_text(submission, (*path, "reason"), rule.reason, "the reason")


def _keywords(submission: Submission, path: Path, when: dict[str, Any]) -> None:
    """P12: every keyword is one; a validator passes over what it does not know, and the rule over what it should stop."""
    waiting: list[tuple[Any, Path, Role]] = [(when, path, Role.SCHEMA)]
    while waiting:
        node, here, role = waiting.pop()
        if role is Role.SCHEMA and isinstance(node, dict):
            for key in node:
                if key not in KEYWORDS and not key.startswith("x-"):
                    _unknown_keyword(submission, (*here, key))
        if role is not Role.DATA and isinstance(node, dict | list):
            waiting += [(value, (*here, key), below) for key, value, below in members(node, role)]


def _unknown_keyword(submission: Submission, path: Path) -> None:
    key = str(path[-1])
    nearest = did_you_mean(key, KEYWORDS)
    submission.refuse(
        codes.UNKNOWN_KEY,
        path,
        f"a condition has no keyword `{key}`",
        at_key=True,
        notes=(
            "JSON Schema passes over keywords that it does not know: the rule would not stop what it says",
        ),
        hint=Hint(f"did you mean `{nearest}`?", Edit(submission.key_span(path), nearest))
        if nearest
        else "write a keyword of JSON Schema 2020-12, or prefix your own with `x-`",
    )


def _variant(submission: Submission, path: Path, selector: VariantSelector) -> None:
    words.pattern(submission, (*path, "variant"), selector.variant, literal=True)
    if not selector.chain:
        submission.refuse(
            codes.EMPTY_LIST,
            (*path, "chain"),
            f'the chain of a variant of "{selector.variant}" is empty',
            hint=f'write "{selector.variant}" to name the tool itself',
        )
