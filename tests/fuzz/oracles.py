"""What must hold whatever the bytes are (docs/diagnostics.md §3): each function takes bytes and raises `FindingError` if it does not."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, TypeVar

from symc.cli.acceptances import read_acceptances
from symc.compose import Compilation
from symc.compose import compile as compile_workspace
from symc.composition import Lock
from symc.composition.cover import seal
from symc.diagnostics import Diagnostic, Span
from symc.diagnostics.record import BUILT_IN
from symc.diagnostics.renderers import github, sarif, text
from symc.diagnostics.renderers import json as json_renderer
from symc.diff import Comparison, Verdict, compare
from symc.diff.renderers import accept as diff_accept
from symc.diff.renderers import github as diff_github
from symc.diff.renderers import json as diff_json
from symc.diff.renderers import markdown as diff_markdown
from symc.diff.renderers import text as diff_text
from symc.lock import LockError, digest_lines, dumps, loads, verify
from symc.source import Workspace, parse

SECONDS: Final = 2.0
"""Processor time that one small input may take; a hundred times what it usually takes."""

_INTERNALS: Final = re.compile(
    r"pydantic|Traceback|<class |object at 0x|(?<![\x22'])\b(?:None|True|False)\b(?![\x22'])|[a-z]Error\b|input_value|input_type|"
    r"\bsymc\.(?!std\b)[a-z]+\.|__\w+__|dataclass|frozenset|mappingproxy|FrozenDict|deque\(|jsonschema|yaml\.|line \d+, in "
)
_UNSEEN: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


T = TypeVar("T")


class FindingError(AssertionError):
    """Something that must hold does not."""


def bounded(call: Callable[[], T], seconds: float = SECONDS) -> T:
    """What the call returns; raises when it takes more processor time than this."""
    start = time.perf_counter()
    answer = call()
    if time.perf_counter() - start > seconds:
        # A busy machine makes everything slow: only what the call takes by itself counts.
        start = time.process_time()
        call()
        taken = time.process_time() - start
        if taken > seconds:
            raise FindingError(f"{taken:.1f} s of processor time")
    return answer


def workspace(files: Mapping[str, bytes], *, thorough: bool = True) -> Compilation:
    """Compile these files: diagnostics or a lock, nothing else. ``thorough`` compiles twice, and reads the lock back."""
    found = bounded(lambda: compile_workspace(Workspace.of(files)))
    diagnostics(found.diagnostics, files, found.texts, in_every_format=thorough)
    if not found.ok and not found.diagnostics:
        raise FindingError("no lock, and no word on why")
    if thorough:
        again = compile_workspace(Workspace.of(files))
        if again.diagnostics != found.diagnostics:
            raise FindingError("the same files, other diagnostics")
    if found.lock is not None:
        written = dumps(found.lock)
        if thorough and dumps(again.lock or Lock()) != written:
            raise FindingError("the same files, another lock")
        read = loads(written)
        verify(read)
        if dumps(read) != written or digest_lines(read) != digest_lines(found.lock):
            raise FindingError("a lock that is not what it reads as")
        if read != found.lock:
            raise FindingError("a lock that does not equal what it was written from")
    return found


def readable(files: Mapping[str, bytes]) -> bool:
    """Whether every file reads as data or as a text; what is wrong is said as it should be."""
    found = bounded(lambda: parse(Workspace.of(files)))
    written = {
        path: content.decode("utf-8-sig", "replace").replace("\r\n", "\n") for path, content in files.items()
    }
    diagnostics(found.diagnostics, files, written, in_every_format=False)
    if found.refused and not found.diagnostics:
        raise FindingError("a file that is refused without a word")
    return not found.refused


def lock(content: bytes, sound: Iterable[bytes], *, thorough: bool = True) -> bool:
    """Bytes in the place of a lock are refused with `LockError`, or every agent in them is one of the ``sound`` locks'.

    ``thorough`` writes a refusal in every format; else as text.
    """
    read = bounded(lambda: _read(content, in_every_format=thorough))
    if read is None:
        return False
    known = {line for one in sound for line in _agent_lines(one)}
    other = [line for line in digest_lines(read)[1:] if line not in known]
    if other:
        raise FindingError(f"accepted with another meaning: {other}")
    _reads_as_written(read)
    return True


def resealed_lock(tree: Any, sound: Lock) -> bool:
    """A lock whose digests fit whatever it says — those do not hold off an attacker — is refused or usable."""
    with suppress(Exception):  # a tree of another form cannot be sealed; its digests are then wrong, too
        seal(tree)
    read = bounded(lambda: _read(json.dumps(tree).encode()))
    if read is None:
        return False
    _reads_as_written(read)
    difference(sound, read)
    difference(read, sound)
    return True


def _read(content: bytes, *, in_every_format: bool = True) -> Lock | None:
    """The lock in these bytes, read and verified whole; None when it is refused as it should be."""
    try:
        read = loads(content)
        verify(read)
    except LockError as error:
        name = "symc.lock"
        text_of = {name: content.decode("utf-8", "replace")}
        diagnostics(error.diagnostics, {name: content}, text_of, in_every_format=in_every_format)
        return None
    return read


def difference(old: Lock, new: Lock) -> Comparison:
    """Two locks compare, in every format, whatever they say; a lock and itself do not differ."""
    found = bounded(lambda: compare(old, new))
    if compare(new, new).changes:
        raise FindingError("a lock differs from itself")
    if (found.verdict is Verdict.SAME) and compare(new, old).verdict is not Verdict.SAME:
        raise FindingError("the same authority in one direction only")
    comment, annotations = diff_markdown.render(found), diff_github.render(found)
    stanzas = diff_accept.render(found.changes, head=True)
    for page in (diff_text.render(found), comment, annotations, stanzas):
        _plain(page)
    if len(comment) >= 65_536:
        raise FindingError("a comment that GitHub refuses")
    headline, *commands = annotations.splitlines()
    if headline.startswith("::") or not all(line.startswith("::") for line in commands):
        raise FindingError("a line that is no annotation")
    if len(json.loads(diff_json.render(found))["changes"]) != len(found.changes):
        raise FindingError("JSON that lost a change")
    # Who accepts says why and who: nothing else is left to fill in.
    accepting = read_acceptances("symc.accept.yaml", stanzas.replace(': ""', ": wanted").encode())
    if found.changes and (accepting.diagnostics or len(accepting.stanzas) != len(found.changes)):
        raise FindingError("stanzas that do not read as they are written")
    return found


def acceptances(content: bytes) -> bool:
    """Bytes in the place of the acceptances are stanzas, or diagnostics."""
    found = bounded(lambda: read_acceptances("symc.accept.yaml", content))
    diagnostics(found.diagnostics, {"symc.accept.yaml": content}, {"symc.accept.yaml": found.text})
    return not found.diagnostics


def diagnostics(
    found: Sequence[Diagnostic],
    files: Mapping[str, bytes],
    texts: Mapping[str, str],
    *,
    in_every_format: bool = True,
) -> None:
    """No internals in a message, spans inside their files, and renderings that no text breaks out of."""
    lines: dict[str, list[str]] = {}
    for one in found:
        said = [one.message, *one.notes, *(each.label for each in one.secondary)]
        said += [one.hint.text] if one.hint else []
        for sentence in said:
            if match := _INTERNALS.search(sentence):
                raise FindingError(f"internals in a message: {match.group()!r} of {sentence!r}")
            if len(sentence) > 4_000:
                raise FindingError(f"a message of {len(sentence)} characters: {sentence[:80]!r}…")
        spans = [one.primary, *(each.span for each in one.secondary)]
        spans += [one.hint.edit.span] if one.hint and one.hint.edit else []
        for span in spans:
            if not (span.is_whole_file or span.file.startswith(BUILT_IN)):
                if span.file not in files:
                    raise FindingError(f"{span} of {one.code} is in no file")
                if span.file not in lines:
                    lines[span.file] = as_counted(files[span.file]).split("\n")
                _inside(span, lines[span.file], one)
    if len(set(found)) != len(found):
        raise FindingError("the same diagnostic twice")
    _plain(text.render(found, texts, limit=0))
    if in_every_format:
        rendered(found, texts)


def rendered(found: Sequence[Diagnostic], texts: Mapping[str, str]) -> None:
    """Every format holds what was found, and nothing that a terminal or a log acts upon."""
    annotations = github.render(found)
    _plain(annotations)
    if annotations.count("\n") != len(found):
        raise FindingError("a message that ends its annotation")
    if len(json.loads(json_renderer.render(found, ok=False))["diagnostics"]) != len(found):
        raise FindingError("JSON that lost a diagnostic")
    if len(json.loads(sarif.render(found, texts))["runs"][0]["results"]) != len(found):
        raise FindingError("SARIF that lost a diagnostic")


def _plain(page: str) -> None:
    if match := _UNSEEN.search(page):
        raise FindingError(
            f"{match.group()!r} in an output: {page[max(0, match.start() - 60) : match.end() + 10]!r}"
        )


def as_counted(content: bytes) -> str:
    """A file as its places are counted: LF, no byte order mark."""
    return content.decode("utf-8-sig", "replace").replace("\r\n", "\n")


def _inside(span: Span, lines: Sequence[str], one: Diagnostic) -> None:
    if not span.start <= span.end:
        raise FindingError(f"{span} of {one.code} ends before it starts")
    for place in (span.start, span.end):
        if not (1 <= place.line <= len(lines) and 1 <= place.column <= len(lines[place.line - 1]) + 1):
            raise FindingError(f"{place} of {one.code} is outside of {span.file}")


def _reads_as_written(read: Lock) -> None:
    written = dumps(read)
    again = loads(written)
    verify(again)
    if dumps(again) != written or digest_lines(again) != digest_lines(read):
        raise FindingError("a lock that is not what it reads as")


_lines: dict[bytes, tuple[str, ...]] = {}


def _agent_lines(content: bytes) -> tuple[str, ...]:
    if content not in _lines:
        _lines[content] = digest_lines(loads(content))[1:]
    return _lines[content]


def minimal(content: bytes, fails: Callable[[bytes], bool]) -> bytes:
    """A smaller input that fails, too: lines, then pieces, are left out as long as it does."""
    for size in (1 << power for power in range(len(content).bit_length(), -1, -1)):
        at = 0
        while at < len(content):
            shorter = content[:at] + content[at + size :]
            if fails(shorter):
                content = shorter
            else:
                at += size
    return content
