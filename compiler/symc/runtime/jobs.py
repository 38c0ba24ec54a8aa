"""Jobs: a call into a worker and what comes back, as JSON (docs/variants.md V33).

The layer of a backend makes a `Job` of a call and has it carried to a worker by whatever means it stands on; there
`perform` runs it in the worker's `Workshop`. `answer_of` turns what comes back into the answer or the error of the call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self

from symc.contracts.frozen import freeze, thaw
from symc.runtime.diagnosed import DiagnosedError
from symc.runtime.gates import Reason, RefusedError
from symc.runtime.sites import Site

if TYPE_CHECKING:
    from symc.runtime.workshop import Passage, Workshop

__all__ = ["CANCELLED", "Job", "answer_of", "failure", "perform"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One call for a worker: the place of the calling layer (see `Site`), the arguments, and the call's passage."""

    opened: str
    digest: str
    agent: str
    tool: str
    depth: int
    arguments: Mapping[str, Any]
    passage: Passage

    @classmethod
    def of(cls, site: Site, arguments: Mapping[str, Any]) -> Self:
        """The job of the call under way, made by the layer at `site`; it takes the call's passage."""
        from symc.runtime.workshop import Passage

        return cls(
            opened=site.opened,
            digest=site.digest,
            agent=site.agent,
            tool=site.tool,
            depth=site.depth,
            arguments=arguments,
            passage=Passage.taken(),
        )

    def to_json(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "opened": self.opened,
            "digest": self.digest,
            "agent": self.agent,
            "tool": self.tool,
            "depth": self.depth,
            "arguments": thaw(freeze(self.arguments)),
            "passage": thaw(freeze(self.passage.to_json())),
        }

    @classmethod
    def from_json(cls, json: Mapping[str, Any]) -> Self:
        """From what `to_json` wrote; KeyError or TypeError for anything else."""
        from symc.runtime.workshop import Passage

        known = {**json, "passage": Passage.from_json(json["passage"])}
        return cls(**known)


async def perform(workshop: Workshop, json: Mapping[str, Any]) -> dict[str, Any]:
    """What becomes of the job in this workshop, as JSON for `answer_of`; only cancellation propagates."""
    try:
        job = Job.from_json(json)
    except (KeyError, TypeError):
        return _failed(Reason.TOOL_ERROR, "the worker got a job in a form that it does not know")
    try:
        answer = await workshop.call(
            job.arguments,
            opened=job.opened,
            digest=job.digest,
            agent=job.agent,
            tool=job.tool,
            depth=job.depth,
            passage=job.passage,
        )
    except Exception as error:
        return failure(error)
    return {"answer": answer}


def failure(error: Exception) -> dict[str, Any]:
    """An error as JSON for `answer_of`: a refusal as it is, anything else as an error of the tool, its type in front."""
    if isinstance(error, RefusedError):
        return _failed(error.reason, error.detail)
    if isinstance(error, DiagnosedError):
        said = "; ".join(one.message for one in error.diagnostics)
        return _failed(Reason.TOOL_ERROR, f"the worker refuses to start: {said}")
    return _failed(Reason.TOOL_ERROR, f"{type(error).__name__}: {error}")


def answer_of(json: Mapping[str, Any]) -> str:
    """The answer; raises the `RefusedError` that `perform` wrote down, and one for what it did not write."""
    match json:
        case {"answer": str(answer)}:
            return answer
        case {"error": {"reason": str(reason), "detail": str(detail)}} if reason in tuple(Reason):
            raise RefusedError(Reason(reason), detail)
    raise RefusedError(Reason.TOOL_ERROR, "the worker answered in a form that is not known here")


def _failed(reason: Reason, detail: str) -> dict[str, Any]:
    return {"error": {"reason": str(reason), "detail": detail}}


CANCELLED: Final = _failed(Reason.TOOL_ERROR, "the call was cancelled in the worker")
"""What becomes of a job that was cancelled."""
