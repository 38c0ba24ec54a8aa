"""Canaries in every variable of the environment and in every place for a literal: nothing of them comes out.

Neither as they are nor in base64, in hexadecimal, percent-encoded or as a digest: in outputs of every command and format,
in the lock, in pins, in the cache, in logs and in tracebacks (docs/policies.md §7).
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from symc.cli import frame

ROOT = Path(__file__).parents[2]
STUB = ROOT / "tests/pins/stub_server.py"
NEEDED = ("PATH", "SYSTEMROOT", "TMPDIR", "LD_LIBRARY_PATH", "COVERAGE_PROCESS_START")
CANARY = "cAnArY-7f3Kq9ZxW2/{}+pLm"
LITERAL = CANARY.format("LITERAL")


def _canaries() -> dict[str, str]:
    """Every variable of this process, and those that the manifests name, each with a canary for its value."""
    names = {
        *os.environ,
        "TOKEN",
        "ROOT_FOLDER",
        "HOST_KEY",
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "GITHUB_TOKEN",
    }
    return {
        name: CANARY.format(name)
        for name in names
        if name not in NEEDED and not name.startswith(("PYTHON", "COV", "LC_", "LANG"))
    }


def _forms(value: str) -> Iterator[str]:
    """The value, and what it can be recognised by."""
    raw = value.encode()
    yield value
    yield value.replace("/", "%2F").replace("+", "%2B")
    yield raw.hex()
    for digest in (hashlib.sha256, hashlib.sha1, hashlib.md5):
        yield digest(raw).hexdigest()
    yield base64.b64encode(hashlib.sha256(raw).digest()).decode()
    for shift in range(3):  # wherever it stands in what is encoded
        inner = base64.b64encode(b"\0" * shift + raw)[shift and 4 : -4].decode()
        yield inner
        yield inner.replace("+", "-").replace("/", "_")


class Project:
    """A folder, a polluted environment, and a memory of all that was said."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.canaries = _canaries()
        self.said: list[tuple[str, str]] = []
        (folder / "manifests").mkdir()

    def write(self, path: str, text: str) -> None:
        (self.folder / path).write_text(text, encoding="utf-8")

    def run(self, *arguments: str, **environ: str) -> int:
        ran = subprocess.run(
            [sys.executable, "-m", "symc.cli", *arguments],
            cwd=self.folder,
            env={
                **self.canaries,
                **{name: os.environ[name] for name in NEEDED if name in os.environ},
                "NO_COLOR": "1",
                "HOME": str(self.folder),
                **environ,
            },
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=120,
            check=False,
        )
        self.said.append((" ".join(arguments), ran.stdout + ran.stderr))
        return ran.returncode

    def run_here(self, *arguments: str) -> int:
        """The same in this process, with its environment: where only literals matter."""
        result = CliRunner().invoke(frame.root, list(arguments))
        assert result.exception is None or isinstance(result.exception, SystemExit), result.output
        self.said.append((" ".join(arguments), result.output))
        return result.exit_code

    def leaks(self, *more: str, besides: Sequence[str] = ()) -> list[tuple[str, str]]:
        """Where anything of a canary is: a command line, or a file that none of us wrote."""
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        places = self.said + [
            (str(path), path.read_bytes().decode("latin-1"))
            for path in files
            if path.relative_to(self.folder).as_posix() not in besides
        ]
        forms = [form for value in (*self.canaries.values(), *more) for form in _forms(value)]
        return [(place, form) for place, text in places for form in forms if form in text]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


AGENT = (
    'kind: agent\nname: clerk\nextensions: [files]\ntools: ["files/*"]\nprovider: openai\n'
    "grants: [model_call, tool_call]\n"
)
SERVER = """\
kind: extension
name: files
mcp:
  command: {command}
  env: {{DEMO_TOKEN: "${{env:TOKEN}}", FOLDER: "x/${{env:ROOT_FOLDER}}/y"}}
"""


def test_the_harness_sees_each_form(project: Project) -> None:
    for form in _forms(LITERAL):
        project.said = [("x", f"a{form}b")]
        assert project.leaks(LITERAL)
    for shift in range(6):
        encoded = base64.b64encode(b"y" * shift + LITERAL.encode() + b"z" * 7).decode()
        project.said = [("x", encoded)]
        assert project.leaks(LITERAL)
    project.said = [("x", "nothing of it")]
    assert not project.leaks(LITERAL)


def test_the_environment_stays_out_of_everything(project: Project) -> None:
    """Through the life of a project: pinned, compiled, shown, compared, verified, run."""
    pytest.importorskip("mcp", reason="install mcp: pip install 'symc[pins]'")
    command = json.dumps([sys.executable, str(STUB), "fine", "--root=${env:ROOT_FOLDER}"])
    project.write("manifests/files.yaml", SERVER.format(command=command))
    project.write("manifests/clerk.yaml", AGENT)
    assert project.run("pin", "--verbose") == 0
    assert project.run("pin", "--check", "--verbose", "--format", "json") == 0
    for more in ((), (), ("--check",), ("--diff",), ("--no-cache",)):
        assert project.run("compile", "--verbose", *more) == 0
    assert project.run("compile") == 0
    for format_ in ("json", "sarif"):
        assert project.run("compile", "--verbose", "--format", format_) == 0
    assert project.run("show", "clerk", "--tools", "--format", "json") == 0
    assert project.run("why", "clerk", "files/a") == 0
    assert project.run("graph", "clerk") == 0
    assert project.run("digest") == 0
    assert project.run("diff", "symc.lock", "symc.lock", "--format", "json") == 0
    assert project.run("verify", "--verbose") == 0
    assert project.run("run", "clerk", 'a {"x": 1}', "--provider", "scripted", "--verbose") in (0, 1)
    assert (project.folder / ".symc_cache/compiled").exists()
    assert len(project.said) > 15
    assert not project.leaks()


@pytest.mark.parametrize("behaviour", ["crash-at-once", "environment", "error-on-page-two", "no-list"])
def test_a_server_that_tells_its_environment_is_not_repeated(project: Project, behaviour: str) -> None:
    pytest.importorskip("mcp", reason="install mcp: pip install 'symc[pins]'")
    command = json.dumps([sys.executable, str(STUB), behaviour])
    project.write("manifests/files.yaml", SERVER.format(command=command))
    project.write("manifests/clerk.yaml", AGENT)
    for format_ in ("text", "sarif"):
        assert project.run("pin", "--verbose", "--format", format_) == 2
    assert not project.leaks()


LITERALS = {
    "env": f"command: [x]\n  env: {{API_TOKEN: {LITERAL}}}",
    "env by its looks": f"command: [x]\n  env: {{X: {LITERAL}}}",
    "headers": f"url: https://h.test/mcp\n  headers: {{Authorization: Bearer {LITERAL}}}",
    "user-info": f"url: 'https://me:{LITERAL.replace('/', '')}@h.test/mcp'",
    "a query": f"url: 'https://h.test/mcp?api_key={LITERAL}'",
    "an option": f"command: [x, --token, {LITERAL}]",
    "an option and its value": f"command: [x, '--token={LITERAL}']",
    "a text block": f"command: [x]\n  env:\n    API_TOKEN: |\n      {LITERAL}",
    "two mistakes in a line": f"command: [x]\n  env: {{API_TOKEN: {LITERAL}, PORT: 80}}",
    "no YAML": f"command: [x]\n  env: {{API_TOKEN: {LITERAL}, ]}}",
    "half a reference": f"command: [x]\n  env: {{API_TOKEN: '${{env:A}}{LITERAL}'}}",
    "twice": f"command: [x]\n  env: {{API_TOKEN: {LITERAL}, API_TOKEN: {LITERAL}}}",
}


@pytest.mark.parametrize("case", LITERALS)
def test_a_literal_stays_where_it_was_written(
    project: Project, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.folder)
    project.write("manifests/clerk.yaml", AGENT)
    project.write("manifests/files.pin.json", '{"tools": []}')
    project.write("manifests/files.yaml", f"kind: extension\nname: files\nmcp:\n  {LITERALS[case]}\n")
    for format_ in ("text", "json", "github", "sarif"):
        assert project.run_here("compile", "--verbose", "--format", format_) == 1
    assert project.run_here("show", "clerk") in (1, 2)
    assert project.run_here("pin", "--verbose") in (1, 2)
    project.write("manifests/files.yaml", "kind: extension\nname: files\nmcp: {command: [x]}\n")
    project.run_here("compile")
    assert not project.leaks(LITERAL, LITERAL.replace("/", ""))


def test_a_config_is_taken_over_without_its_credentials(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.folder)
    servers = {
        "a": {"command": "x", "args": ["--token", LITERAL], "env": {"API_TOKEN": LITERAL}},
        "b": {"type": "http", "url": "https://h.test/mcp", "headers": {"Authorization": f"Bearer {LITERAL}"}},
    }
    project.write("config.json", json.dumps({"mcpServers": servers}))
    assert project.run_here("init", "--from", "config.json", "taken") == 0
    assert list(project.folder.rglob("*.yaml"))
    assert not project.leaks(LITERAL, besides=["config.json"])


def test_a_traceback_tells_no_values(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SYMC_TRACEBACK", "1")
    monkeypatch.setenv("PLAIN", "horse battery staple")

    def broken(*_: object, **__: object) -> None:
        cause = KeyError(f"Authorization: Bearer {LITERAL}")
        raise ValueError("no reply to horse battery staple") from cause

    monkeypatch.setattr(frame.root, "main", broken)
    with pytest.raises(SystemExit) as ended:
        frame.run(["compile"])
    assert ended.value.code == frame.ExitCode.BUG
    said = capsys.readouterr().err
    assert "Traceback (most recent call last)" in said
    assert "in broken" in said
    assert "ValueError: no reply to ${env:PLAIN}" in said
    assert "[withheld: it looks like a credential]" in said
    assert not [form for form in _forms(LITERAL) if form in said]
