"""`read`: a folder → bytes by path, and what keeps a file out (docs/manifests.md, docs/policies.md §8)."""

from __future__ import annotations

import errno
import os
import socket
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from symc.diagnostics import Code, Diagnostic
from symc.diagnostics.codes import reading
from symc.source import Workspace, WorkspaceError, read, workspace

SECRET = "canary-9d1f"
NEEDS_LINKS = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a POSIX file system is needed")


def _write(folder: Path, files: Mapping[str, str]) -> Path:
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return folder


def _codes(found: Workspace) -> list[tuple[str, str]]:
    return [(d.primary.file, d.code) for d in found.diagnostics]


def _everything_said(diagnostics: tuple[Diagnostic, ...]) -> str:
    return repr(diagnostics)


def test_a_manifest_whose_ending_is_in_capitals_is_not_passed_over(tmp_path: Path) -> None:
    found = read(_write(tmp_path, {"a.yaml": "a", "more/desk.Yml": "b", "WORKSPACE.YAML": "c"}))
    assert _codes(found) == [
        ("WORKSPACE.YAML", reading.FILE_NAME.code),
        ("more/desk.Yml", reading.FILE_NAME.code),
    ]
    assert [one.hint.text for one in found.diagnostics if one.hint] == [
        'rename it: "WORKSPACE.yaml"',
        'rename it: "desk.yml"',
    ]


@pytest.mark.parametrize("files", [{}, {"notes.md": "a"}, {".hidden.yaml": "a"}, {"a.pin.json": "{}"}])
def test_a_folder_without_a_manifest_is_no_workspace(files: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError) as caught:
        read(_write(tmp_path, files))
    assert caught.value.diagnostic.code == reading.NO_WORKSPACE.code
    assert "no manifest" in str(caught.value)


def test_takes_the_five_endings_in_code_point_order_and_skips_hidden_names(tmp_path: Path) -> None:
    _write(
        tmp_path,
        {
            "b.yaml": "b",
            "agents/Z.yml": "Z",
            "agents/a.md": "a",
            "agents.txt": "t",
            "pins/x.json": "{}",
            "README.rst": "no",
            "script.py": "no",
            "UPPER.MD": "no",
            ".hidden.yaml": "no",
            ".git/config.yaml": "no",
            "agents/.cache/c.json": "no",
        },
    )
    found = read(tmp_path)
    assert list(found.files) == ["agents.txt", "agents/Z.yml", "agents/a.md", "b.yaml", "pins/x.json"]
    assert found.files["agents/Z.yml"] == b"Z"
    assert found.diagnostics == ()


def test_bytes_are_kept_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.yml").write_bytes(b"\xef\xbb\xbfa\r\n\x00\xff")
    assert read(tmp_path).files == {"a.yml": b"\xef\xbb\xbfa\r\n\x00\xff"}


def test_the_order_of_creation_does_not_matter(tmp_path: Path) -> None:
    names = ["rules/b.yaml", "rules/A.yaml", "rules/a2.yaml", "rules/a10.yaml"]
    one = _write(tmp_path / "one", dict.fromkeys(names, "x"))
    two = _write(tmp_path / "two", dict.fromkeys(reversed(names), "x"))
    assert list(read(one).files) == ["rules/A.yaml", "rules/a10.yaml", "rules/a2.yaml", "rules/b.yaml"]
    assert read(one) == read(two)


def test_a_workspace_is_made_of_values_too() -> None:
    made = Workspace.of({"b.yaml": b"2", "a.yaml": b"1"})
    assert list(made.files) == ["a.yaml", "b.yaml"]
    assert made == Workspace.of({"a.yaml": b"1", "b.yaml": b"2"})
    assert made != Workspace.of({"a.yaml": b"1"})
    with pytest.raises(TypeError):
        made.files["c.yaml"] = b"3"  # type: ignore[index]


@pytest.mark.parametrize(
    ("name", "said"),
    [("absent", "does not exist"), ("file.yaml", "is not a folder")],
)
def test_no_workspace(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "file.yaml").write_text("x", encoding="utf-8")
    with pytest.raises(WorkspaceError, match=said) as raised:
        read(tmp_path / name)
    assert raised.value.diagnostic.code == reading.NO_WORKSPACE.code
    assert name in raised.value.diagnostic.message


def test_the_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    _write(tmp_path / "real", {"a.yaml": "x", "b/c.yaml": "y"})
    (tmp_path / "link").symlink_to("real")
    assert read(tmp_path / "link") == read(tmp_path / "real")


def test_a_hidden_folder_may_be_the_workspace(tmp_path: Path) -> None:
    _write(tmp_path / ".agents", {"a.yaml": "x"})
    assert list(read(tmp_path / ".agents").files) == ["a.yaml"]


# Links: followed inside the workspace only.


def test_links_inside_are_followed_under_their_own_name(tmp_path: Path) -> None:
    _write(tmp_path, {"texts/a.md": "A", "agents/x.yaml": "x"})
    (tmp_path / "b.md").symlink_to("texts/a.md")
    (tmp_path / "more").symlink_to("texts")
    found = read(tmp_path)
    assert {path: found.files[path] for path in ("b.md", "more/a.md")} == {"b.md": b"A", "more/a.md": b"A"}
    assert list(found.files) == ["agents/x.yaml", "b.md", "more/a.md", "texts/a.md"]
    assert found.diagnostics == ()


def _link_out_of_the_folder(inside: Path, outside: Path) -> None:
    (inside / "a.md").symlink_to(outside / "secret.md")


def _relative_link_out(inside: Path, outside: Path) -> None:
    (inside / "a.md").symlink_to(f"../{outside.name}/secret.md")


def _link_to_a_folder_out(inside: Path, outside: Path) -> None:
    (inside / "a.md").symlink_to(outside)


def _chain_of_links_out(inside: Path, outside: Path) -> None:
    (inside / ".step").symlink_to(outside / "secret.md")
    (inside / "a.md").symlink_to(".step")


def _link_to_an_absent_file_out(inside: Path, outside: Path) -> None:
    (inside / "a.md").symlink_to(outside / "absent.md")


def _link_to_a_circle_out(inside: Path, outside: Path) -> None:
    (outside / "circle.md").symlink_to("circle.md")
    (inside / "a.md").symlink_to(outside / "circle.md")


def _link_to_a_device(inside: Path, outside: Path) -> None:
    (inside / "a.md").symlink_to("/dev/zero")


def _link_to_the_parent(inside: Path, outside: Path) -> None:
    (inside / "a.md").symlink_to("..")


@NEEDS_LINKS
@pytest.mark.parametrize(
    "link",
    [
        _link_out_of_the_folder,
        _relative_link_out,
        _link_to_a_folder_out,
        _chain_of_links_out,
        _link_to_an_absent_file_out,
        _link_to_a_circle_out,
        _link_to_a_device,
        _link_to_the_parent,
    ],
)
@pytest.mark.parametrize(
    "sibling", ["elsewhere", "workspace-sibling"]
)  # the second shares the prefix of ours
def test_a_link_out_is_refused_and_nothing_of_its_target_is_shown(
    tmp_path: Path, sibling: str, link: Callable[[Path, Path], None]
) -> None:
    inside = _write(tmp_path / "workspace", {"b.yaml": "b"})
    outside = _write(tmp_path / sibling, {"secret.md": SECRET})
    link(inside, outside)
    found = read(inside)
    assert _codes(found) == [("a.md", reading.PATH_ESCAPE.code)]
    assert list(found.files) == ["b.yaml"]
    said = _everything_said(found.diagnostics)
    assert not [
        word
        for word in (SECRET, "secret", "absent", "circle", sibling, "/dev", str(tmp_path))
        if word in said
    ]


@NEEDS_LINKS
def test_a_link_without_ending_to_a_folder_out_is_refused(tmp_path: Path) -> None:
    inside = _write(tmp_path / "workspace", {"b.yaml": "b"})
    outside = _write(tmp_path / "elsewhere", {"secret.md": SECRET})
    (inside / "more").symlink_to(outside)
    (inside / "LICENSE").symlink_to(
        outside / "secret.md"
    )  # no file of the workspace: where it leads is no matter
    assert _codes(read(inside)) == [("more", reading.PATH_ESCAPE.code)]


@NEEDS_LINKS
def test_a_link_that_breaks_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").symlink_to("absent.yaml")
    (tmp_path / "folder").symlink_to("absent")
    assert _codes(read(tmp_path)) == [("a.yaml", reading.BROKEN_LINK.code)]


@NEEDS_LINKS
@pytest.mark.timeout(20)
def test_links_in_a_circle_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").symlink_to("b.yaml")
    (tmp_path / "b.yaml").symlink_to("a.yaml")
    (tmp_path / "self").symlink_to("self")
    assert _codes(read(tmp_path)) == [
        ("a.yaml", reading.LINK_LOOP.code),
        ("b.yaml", reading.LINK_LOOP.code),
        ("self", reading.LINK_LOOP.code),
    ]


@NEEDS_LINKS
@pytest.mark.timeout(20)
@pytest.mark.parametrize("target", [".", "..", "../..", "../../a"])
def test_a_link_to_a_folder_around_it_is_refused(tmp_path: Path, target: str) -> None:
    _write(tmp_path, {"a/b/c.yaml": "c"})
    (tmp_path / "a" / "b" / "again").symlink_to(target)
    found = read(tmp_path)
    assert _codes(found) == [("a/b/again", reading.LINK_LOOP.code)]
    assert list(found.files) == ["a/b/c.yaml"]


@NEEDS_LINKS
@pytest.mark.timeout(20)
def test_two_folders_that_link_to_each_other_are_refused(tmp_path: Path) -> None:
    _write(tmp_path, {"a/x.yaml": "x", "b/y.yaml": "y"})
    (tmp_path / "a" / "to_b").symlink_to("../b")
    (tmp_path / "b" / "to_a").symlink_to("../a")
    found = read(tmp_path)
    assert _codes(found) == [
        ("a/to_b/to_a", reading.LINK_LOOP.code),
        ("b/to_a/to_b", reading.LINK_LOOP.code),
    ]
    assert list(found.files) == ["a/to_b/y.yaml", "a/x.yaml", "b/to_a/x.yaml", "b/y.yaml"]


@NEEDS_LINKS
@pytest.mark.timeout(60)
def test_links_that_multiply_are_refused(tmp_path: Path) -> None:
    for level in range(30):
        folder = tmp_path / f"l{level}"
        folder.mkdir()
        if level:
            for name in "xy":
                (tmp_path / f"l{level - 1}" / name).symlink_to(f"../l{level}")
    assert [code for _, code in _codes(read(tmp_path))] == [reading.TOO_MANY_LINKS.code]


# What is no file.


@NEEDS_LINKS
@pytest.mark.timeout(20)
def test_a_pipe_a_socket_and_a_folder_with_the_name_of_a_file_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    _write(tmp_path, {"folder.md/inner.yaml": "x", "plain.yaml": "y"})
    (tmp_path / "link.json").symlink_to("pipe.yaml")
    monkeypatch.chdir(tmp_path)  # a socket's path has a short limit
    server = socket.socket(socket.AF_UNIX)
    server.bind("socket.txt")
    server.close()
    found = read(tmp_path)
    assert _codes(found) == [
        (name, reading.NOT_A_FILE.code) for name in ("folder.md", "link.json", "pipe.yaml", "socket.txt")
    ]
    assert list(found.files) == ["plain.yaml"]


@NEEDS_LINKS
@pytest.mark.timeout(20)
def test_a_file_that_turns_into_a_pipe_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    walk = workspace._Walk(str(tmp_path))
    with pytest.raises(OSError, match="not a regular file"):
        walk._take(str(tmp_path / "pipe"), "pipe")


def test_a_file_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    for name, size in (("exact.txt", workspace.LARGEST_FILE), ("large.txt", workspace.LARGEST_FILE + 1)):
        with (tmp_path / name).open("wb") as file:
            file.truncate(size)
    found = read(tmp_path)
    assert _codes(found) == [("large.txt", reading.FILE_TOO_LARGE.code)]
    assert [len(content) for content in found.files.values()] == [workspace.LARGEST_FILE]


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="the file system refuses such names itself")
@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (b"caf\xe9.yaml", r"caf\xe9.yaml"),
        (b"a\\b.yaml", r"a\b.yaml"),
        (b"a\nb.yaml", r"a\nb.yaml"),
        (b"a\x1b[31m.md", r"a\x1b[31m.md"),
        ("a\u202eb.md".encode(), r"a\u202eb.md"),
        (b"symc:std.yaml", "symc:std.yaml"),
    ],
)
def test_a_name_that_other_systems_cannot_have_is_refused(tmp_path: Path, name: bytes, shown: str) -> None:
    (tmp_path / os.fsdecode(name)).write_text("x", encoding="utf-8")
    (tmp_path / "é 日本.yaml").write_text("x", encoding="utf-8")
    found = read(tmp_path)
    assert _codes(found) == [(shown, reading.FILE_NAME.code)]
    assert list(found.files) == ["é 日本.yaml"]
    assert _everything_said(found.diagnostics).isprintable()


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="the file system refuses such names itself")
def test_a_folder_with_such_a_name_is_refused_once(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    _write(folder, {"a.yaml": "x", "b.yaml": "y"})
    (tmp_path / os.fsdecode(b"other\xe9.py")).write_text("no file of the workspace", encoding="utf-8")
    assert _codes(read(tmp_path)) == [(r"caf\xe9", reading.FILE_NAME.code)]


# What the system does not let us read: nobody can say what is in the workspace.


def _refuse(monkeypatch: pytest.MonkeyPatch, function: str, name: str) -> None:
    real = getattr(os, function)

    def refusing(path: str, *rest: object) -> object:
        if os.fspath(path).endswith(name):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return real(path, *rest)

    monkeypatch.setattr(os, function, refusing)


@pytest.mark.parametrize(
    ("function", "name", "path"),
    [("open", "a.yaml", "agents/a.yaml"), ("scandir", "agents", "agents")],
)
def test_what_may_not_be_read_ends_the_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str, name: str, path: str
) -> None:
    _write(tmp_path, {"agents/a.yaml": "x"})
    _refuse(monkeypatch, function, name)
    with pytest.raises(WorkspaceError) as raised:
        read(tmp_path)
    found = raised.value.diagnostic
    assert (found.code, found.primary.file) == (reading.UNREADABLE_FILE.code, path)
    assert str(tmp_path) not in _everything_said((found,))


def test_every_code_of_reading_a_folder_is_raised_here() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    rows = [
        row for row in vars(reading).values() if isinstance(row, Code) and "SYM020" <= row.code <= "SYM031"
    ]
    others = {reading.CASE_COLLISION}  # a law of names, so `parse` says it
    assert [row.name for row in rows if row not in others and f"reading.{_constant(row)}" not in text] == []


def _constant(row: Code) -> str:
    return next(name for name, value in vars(reading).items() if value is row)
