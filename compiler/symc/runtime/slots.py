"""The prompt of an opened agent: its layout, with the texts that each run brings for its slots (docs/prompts.md §4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from symc import hidden
from symc.composition import Composition, Slot
from symc.contracts.frozen import FrozenDict
from symc.diagnostics import Diagnostic, Span
from symc.diagnostics.codes import running
from symc.diagnostics.suggest import suggestion
from symc.rendering import neutral, piece
from symc.runtime.diagnosed import DiagnosedError
from symc.runtime.model import SystemPart

__all__ = ["SLOTS", "Prompt", "slots_of"]

SLOTS: Final = "slots"
"""The key of a run's `state` that holds the texts of slots, by the slots' ids."""


def slots_of(composition: Composition) -> dict[str, Slot]:
    """The slots of an agent's prompt by their ids, `owner/id`."""
    return {joined_id: part for joined_id, part, _ in composition.layout if isinstance(part, Slot)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What an agent's model is told before the conversation.

    `layout` holds, in order, the static parts ready to send, and the places of slots with their ids. `known` are the
    slots of all agents that are open together, for which a run may bring text; `place` finds the agent in the lock.
    """

    agent: str
    layout: tuple[SystemPart | tuple[str, Slot], ...]
    known: Mapping[str, Slot]
    place: Callable[[], Span]

    @classmethod
    def of(cls, composition: Composition, *, known: Mapping[str, Slot], place: Callable[[], Span]) -> Prompt:
        """The prompt of a composition, with cache breakpoints where its plan has them (docs/prompts.md §6)."""
        plan = composition.agent.cache_plan
        breaks = {plan.deployment, plan.static} - {""}
        layout: list[SystemPart | tuple[str, Slot]] = []
        for joined_id, part, text in composition.layout:
            if isinstance(part, Slot):
                layout.append((joined_id, part))
            else:
                sent = piece(joined_id, text, tier=part.tier, truncated=part.truncated)
                layout.append(SystemPart(sent, cache_break=joined_id in breaks))
        return cls(agent=composition.name, layout=tuple(layout), known=known, place=place)

    def check(self, state: Mapping[str, Any]) -> None:
        """Refuse the slots of a run's state with `DiagnosedError`: nothing of them is cut, cleaned or ignored."""
        texts = state.get(SLOTS, FrozenDict())
        faults = list(self._faults(texts))
        if faults:
            raise DiagnosedError(faults)

    def parts(self, state: Mapping[str, Any]) -> tuple[SystemPart, ...]:
        """The parts of the system text, each slot in its place; a slot without text takes none."""
        texts: Mapping[str, str] = state.get(SLOTS, FrozenDict())
        return tuple(self._parts(texts))

    def _parts(self, texts: Mapping[str, str]) -> Iterator[SystemPart]:
        for each in self.layout:
            if isinstance(each, SystemPart):
                yield each
            elif text := texts.get(each[0], ""):
                yield SystemPart(piece(each[0], neutral(text), tier=each[1].tier))

    def _faults(self, texts: object) -> Iterator[Diagnostic]:
        if not isinstance(texts, Mapping):
            yield self._fault(
                running.SLOT_TEXT,
                f'state["{SLOTS}"] is a mapping from slots to texts, not a {type(texts).__name__}',
            )
            return
        for key, text in texts.items():
            slot = self.known.get(key) if isinstance(key, str) else None
            if slot is None:
                hint = suggestion(str(key), self.known) or "a slot is declared in `prompts` of a manifest"
                yield self._fault(running.SLOT_UNKNOWN, f'no agent here has a slot "{key}"', hint)
            else:
                yield from self._text_faults(key, text, slot)
        for each in self.layout:
            if not isinstance(each, SystemPart) and each[1].required and not texts.get(each[0]):
                yield self._fault(
                    running.SLOT_MISSING,
                    f'agent "{self.agent}" does not run without a text for its slot "{each[0]}"',
                    f'pass it: state={{"{SLOTS}": {{"{each[0]}": "…"}}}}, or to `symc run`: --slot {each[0]}=TEXT',
                )

    def _text_faults(self, key: str, text: object, slot: Slot) -> Iterator[Diagnostic]:
        # The text itself is never repeated: it may hold what only this run's user may read.
        if not isinstance(text, str):
            yield self._fault(running.SLOT_TEXT, f'slot "{key}" takes a text, not a {type(text).__name__}')
            return
        if len(text) > slot.max_chars:
            yield self._fault(
                running.SLOT_TEXT,
                f'the text for slot "{key}" has {len(text)} characters; at most {slot.max_chars} are taken',
                "shorten it where it is made; symc never cuts a text",
            )
        for run, said in hidden.told(text):
            yield self._fault(
                running.SLOT_TEXT,
                f'the text for slot "{key}" holds {said} at character {run.offset + 1}',
                "remove it where the text is made",
            )

    def _fault(self, code: Any, message: str, hint: str | None = None) -> Diagnostic:
        diagnostic: Diagnostic = code.at(self.place(), message, hint=hint, subject=self.agent)
        return diagnostic
