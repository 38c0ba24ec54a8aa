"""Unused: variables that are declared and that no template reads (docs/manifests.md §6)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from symc.compose.link import LinkedAgent, Links
from symc.compose.typesetting import Typesetter
from symc.diagnostics import Diagnostic
from symc.diagnostics.codes import composition as codes
from symc.diagnostics.suggest import did_you_mean
from symc.manifest.checked import Checked


def unused_variables(links: Links, typesetter: Typesetter) -> tuple[Diagnostic, ...]:
    """A warning for each: of an extension, read by none of its templates; of others, by none of any agent that has it."""
    found = [
        _unused(extension, name, typesetter.mentioned(extension.name))
        for extension in links.extensions.values()
        for name in extension.body.vars
        if name not in typesetter.mentioned(extension.name)
        and typesetter.all_read(links.prompts.get(extension.name, ()))
    ]
    if links.manifests.poisoned or links.manifests.workspace_refused:
        return tuple(found)  # a refused agent may be the one whose templates read what its bases set
    used: set[tuple[str, str]] = set()
    declared: dict[str, Checked[Any]] = {}
    for agent in links.agents.values():
        documents = [doc for doc in (agent.workspace, *agent.documents) if doc is not None and doc.body.vars]
        if not documents:
            continue
        prompts = [links.prompts[name] for name in agent.closure if name in links.prompts]
        # What a refused document, or a template with a mistake, would have read is not known.
        unknown = bool(agent.poisoned) or not typesetter.all_read(chain(agent.prompts, *prompts))
        read = frozenset(_read(agent, links, typesetter))
        for document in documents:
            declared[document.name] = document
            used.update((document.name, key) for key in document.body.vars if unknown or key in read)
    readable = {f"{name}.{word}" for name in links.prompts for word in typesetter.mentioned(name)}
    found.extend(
        _unused(document, key, readable | _plain(readable))
        for document in declared.values()
        for key in document.body.vars
        if (document.name, key) not in used
    )
    return tuple(found)


def _read(agent: LinkedAgent, links: Links, typesetter: Typesetter) -> Iterator[str]:
    """The variables that templates of an agent read, as they may be set: by name, and by ``extension.name``."""
    yield from typesetter.mentioned_by(agent.prompts)
    for extension in agent.closure:
        if extension in links.prompts:
            for name in typesetter.mentioned(extension):
                yield name
                yield f"{extension}.{name}"


def _plain(qualified: set[str]) -> set[str]:
    return {name.rpartition(".")[2] for name in qualified}


def _unused(document: Checked[Any], key: str, readable: set[str] | frozenset[str]) -> Diagnostic:
    nearest = did_you_mean(key, readable)
    return codes.VARIABLE_UNUSED.at(
        document.key_span("vars", key),
        f'the variable "{key}" is set and no template uses it',
        hint=f'did you mean "{nearest}"?' if nearest else "correct the name, or remove the line",
        subject=document.name,
    )
