"""Files made to hurt: bounded time and memory, and no traceback (docs/diagnostics.md §3)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

IN_CI = os.environ.get("CI") == "true"

_CHILD = """
import resource, sys, time
from symc.source import Workspace, parse
workspace = Workspace.of({sys.argv[1]: sys.stdin.buffer.read()})
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start = time.process_time()
names = sorted({found.name for found in parse(workspace).diagnostics})
seconds = time.process_time() - start
print(seconds, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024, *names)
"""


def _measured(path: str, text: str) -> tuple[float, int, list[str]]:
    """Seconds of processor time, further MiB, and the names of all diagnostics, of parsing in a process of its own."""
    ran = subprocess.run(
        [sys.executable, "-c", _CHILD, path],
        input=text.encode(),
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr.decode()[-2000:]
    seconds, memory, *names = ran.stdout.decode().split()
    return float(seconds), int(memory), names


def _bomb() -> str:
    lines = ["a0: &a0 [" + "x, " * 9 + "]"]
    lines += [f"a{n}: &a{n} [" + f"*a{n - 1}, " * 9 + "]" for n in range(1, 60)]
    return "\n".join(lines)


def _lines(line: str, count: int) -> str:
    return "".join(line.replace("N", str(number)) + "\n" for number in range(count))


ONE_SECOND: dict[str, tuple[str, Callable[[], str], list[str]]] = {
    # name of the file, its text, the codes
    "billion laughs": ("x.yaml", _bomb, ["alias-budget"]),
    "a long text, again and again": ("x.yaml", lambda: "a: &a " + "x" * 500_000 + "\n" + _lines("bN: *a", 200), ["alias-budget"]),
    "a wide list, again and again": ("x.yaml", lambda: "a: &a [" + "x," * 9_000 + "]\n" + _lines("bN: *a", 2_000), ["alias-budget"]),
    "a cycle": ("x.yaml", lambda: "a: &a {b: *a}\n", ["cyclic-alias"]),
    "cycles": ("x.yaml", lambda: "a: &a [" + "*a, " * 5_000 + "]\n", ["cyclic-alias"]),
    "anchors inside anchors": ("x.yaml", lambda: "a: " + "".join(f"&x{n} [" for n in range(5_000)), ["nesting-too-deep"]),
    "brackets": ("x.yaml", lambda: "a: " + "[" * 1_000_000, ["nesting-too-deep"]),
    "closed brackets": ("x.yaml", lambda: "a: " + "[" * 500_000 + "]" * 500_000, ["nesting-too-deep"]),
    "braces": ("x.yaml", lambda: "{a: " * 300_000, ["nesting-too-deep"]),
    "hyphens": ("x.yaml", lambda: "- " * 500_000 + "x", ["nesting-too-deep"]),
    "question marks": ("x.yaml", lambda: "? " * 500_000 + "x", ["nesting-too-deep", "non-string-key"]),
    "stairs": ("x.yaml", lambda: "".join(" " * n + "a:\n" for n in range(1_500)), ["nesting-too-deep"]),
    "tags": ("x.yaml", lambda: _lines("aN: !x 1", 50_000), ["explicit-tag"]),
    "numbers for keys": ("x.yaml", lambda: _lines("N: 1", 50_000), ["non-string-key"]),
    "a long number": ("x.yaml", lambda: "a: " + "9" * 3_000_000, ["unsafe-number"]),
    "aliases to nothing": ("x.yaml", lambda: "a:\n" + _lines("  - *xN", 50_000), ["undefined-alias"]),
    "a quote that is not closed": ("x.yaml", lambda: 'a: "' + "x y\n" * 300_000, ["yaml-syntax"]),
    "colons": ("x.yaml", lambda: "a: " + ":" * 1_000_000, ["yaml-syntax"]),
    "control characters": ("x.yaml", lambda: "a: '" + "\x07" * 500_000, ["forbidden-character"]),
    "control characters in a text": ("x.md", lambda: "\x07" * 500_000, ["forbidden-character"]),
    "brackets in a pin": ("x.json", lambda: "[" * 3_000_000, ["nesting-too-deep"]),
    "closed brackets in a pin": ("x.json", lambda: "[" * 5_000 + "]" * 5_000, ["nesting-too-deep"]),
    "numbers in a pin": ("x.json", lambda: "[" + "NaN," * 300_000 + "1]", ["unsafe-number"]),
    "a long number in a pin": ("x.json", lambda: '{"a": ' + "9" * 3_000_000 + "}", ["unsafe-number"]),
    "quotes in a pin": ("x.json", lambda: '{"a": "' + '\\"' * 1_000_000, ["json-syntax"]),
    "half surrogates": ("x.json", lambda: '{"a": "' + "\\ud800" * 100_000 + '"}', ["lone-surrogate"]),
}  # fmt: skip


@pytest.mark.parametrize("case", ONE_SECOND)
def test_within_a_second_and_200_mib(case: str) -> None:
    path, text, codes = ONE_SECOND[case]
    seconds, memory, names = _measured(path, text())
    assert names == codes
    assert seconds < 1 * (1 if not IN_CI else 3)  # a shared machine is slow at times
    assert memory < 200


@pytest.mark.parametrize("lines", [50_000, 100_000])
def test_duplicates_take_linear_time(lines: int) -> None:
    seconds, memory, names = _measured("x.yaml", _lines("a: 1", lines))
    assert names == ["duplicate-key"]
    assert seconds < 4e-5 * lines
    assert memory < 200


def test_a_long_plain_manifest_is_accepted() -> None:
    prompt = "  A line of a prompt that goes on for as long as the author likes it to go on.\n"
    text = "kind: agent\nname: long\ninstructions: |\n" + prompt * (20 * 2**20 // len(prompt))
    seconds, memory, names = _measured("x.yaml", text)
    assert names == []
    assert seconds < 10
    assert memory < 400


@pytest.mark.ci
@pytest.mark.skipif(not IN_CI, reason="half a minute; runs in CI, or with CI=true")
def test_a_plain_manifest_of_20_mb_with_many_values_is_accepted() -> None:
    tool = "  - name: tool_N\n    description: A tool that does something with an answer, at some length.\n"
    text = "kind: extension\nname: long\ntools:\n" + _lines(tool.rstrip("\n"), 20 * 2**20 // len(tool))
    _, memory, names = _measured("x.yaml", text)
    assert names == []
    assert memory < 1000
