"""`parse`: bytes → documents, texts and pins (docs/manifests.md §1)."""

from __future__ import annotations

import pytest

from symc.diagnostics import Position, Span
from symc.diagnostics.codes import reading
from symc.source import Document, Pin, Sources, Workspace, parse


def _parse(files: dict[str, bytes]) -> Sources:
    return parse(Workspace.of(files))


def _codes(found: Sources) -> list[tuple[str, int, int, str]]:
    return [(d.primary.file, d.primary.start.line, d.primary.start.column, d.code) for d in found.diagnostics]


def test_each_ending_has_its_own_form() -> None:
    found = _parse(
        {
            "b.yml": b"kind: agent\n",
            "a.yaml": b"kind: extension\n",
            "t.md": "# Höflich\n".encode(),
            "t.txt": b"plain",
            "p.json": b'{"tools": []}',
        }
    )
    assert found == Sources(
        documents=(
            Document("a.yaml", b"kind: extension\n", {"kind": "extension"}),
            Document("b.yml", b"kind: agent\n", {"kind": "agent"}),
        ),
        texts={"t.md": "# Höflich\n", "t.txt": "plain"},
        pins={"p.json": Pin("p.json", b'{"tools": []}', {"tools": []})},
    )


def test_a_refused_file_drops_out_and_the_others_stay() -> None:
    found = _parse(
        {
            "bad.yaml": b"a: [",
            "bad.md": b"\xff",
            "bad.json": b"{",
            "good.yaml": b"a: 1",
            "good.md": b"",
            "good.json": b"{}",
        }
    )
    assert found.refused == {"bad.yaml", "bad.md", "bad.json"}
    assert [document.path for document in found.documents] == ["good.yaml"]
    assert found.texts == {"good.md": ""}
    assert list(found.pins) == ["good.json"]
    assert {d.primary.file for d in found.diagnostics} == found.refused


def test_lf_and_crlf_and_a_byte_order_mark_mean_the_same() -> None:
    files = {
        "a.yaml": b"a: |\n  one\n  two\nb: 'x\n\n  y'\n# end\n",
        "t.md": b"one\ntwo\n",
        "p.json": b'{\n"tools":\n[]}\n',
    }
    plain = _parse(files)
    windows = _parse({path: b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n") for path, text in files.items()})
    assert windows == plain
    assert windows.documents[0].data == plain.documents[0].data == {"a": "one\ntwo\n", "b": "x\ny"}
    assert [d.text for d in windows.documents] == [files["a.yaml"]]
    assert windows.documents[0].span("b") == plain.documents[0].span("b")


# O-19, manifests.md §1: what is refused in every file, with the first place of it.
TAB = b"a:\tb\n"
UNCLEAN = {
    "latin-1": (b"a: caf\xe9\n", (1, 7), reading.FILE_ENCODING),
    "cut short": (b"a: \xe6\x97", (1, 4), reading.FILE_ENCODING),
    "overlong": (b"a: b\nc: \xc0\xaf\n", (2, 4), reading.FILE_ENCODING),
    "surrogate": (b"a: \xed\xa0\xbd\n", (1, 4), reading.FILE_ENCODING),
    "utf-16 with mark": ("a: b\n".encode("utf-16"), (1, 1), reading.FILE_ENCODING),
    "utf-16 big endian": (b"\xfe\xff\x00a", (1, 1), reading.FILE_ENCODING),
    "utf-16 without mark": ("a: b\n".encode("utf-16-le"), (1, 1), reading.FILE_ENCODING),
    "utf-32": ("a: b\n".encode("utf-32"), (1, 1), reading.FILE_ENCODING),
    "NUL": (b"a: b\nc: d\x00e\n", (2, 5), reading.FORBIDDEN_CHARACTER),
    "bell": (b"a: \x07\n", (1, 4), reading.FORBIDDEN_CHARACTER),
    "escape": ("é: \x1b[31m\n".encode(), (1, 4), reading.FORBIDDEN_CHARACTER),
    "delete": (b"a: b\x7f\n", (1, 5), reading.FORBIDDEN_CHARACTER),
    "next line": ("a: b\n\u0085c: d\n".encode(), (2, 1), reading.FORBIDDEN_CHARACTER),
    "C1": ("a: b\x9b\n".encode(), (1, 5), reading.FORBIDDEN_CHARACTER),
    "lone carriage return": (b"a: b\rc: d\n", (1, 5), reading.FORBIDDEN_CHARACTER),
    "old Macintosh": (b"a: b\rc: d\r", (1, 5), reading.FORBIDDEN_CHARACTER),
    "carriage return before CRLF": (b"a: b\r\r\n", (1, 5), reading.FORBIDDEN_CHARACTER),
}


@pytest.mark.parametrize("ending", ["yaml", "yml", "md", "txt", "json"])
@pytest.mark.parametrize("case", UNCLEAN)
def test_bytes_that_are_no_text_are_refused(case: str, ending: str) -> None:
    raw, (line, column), code = UNCLEAN[case]
    found = _parse({f"x.{ending}": raw})
    assert _codes(found) == [(f"x.{ending}", line, column, code.code)]
    assert found.refused == {f"x.{ending}"}


# Text to YAML 1.2 and a line break to YAML 1.1, or not printable in YAML: refused there, text elsewhere.
@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\ufeff", "\ufffe", "\uffff"])
def test_what_readers_of_yaml_disagree_about_is_refused_in_yaml(character: str) -> None:
    raw = f"a: 'é{character}b'\n".encode()
    assert _codes(_parse({"x.yaml": raw})) == [("x.yaml", 1, 6, reading.FORBIDDEN_CHARACTER.code)]
    assert _parse({"x.md": raw}).texts == {"x.md": f"a: 'é{character}b'\n"}


def test_a_second_byte_order_mark_is_inside_the_text() -> None:
    found = _parse({"x.yaml": b"\xef\xbb\xbf\xef\xbb\xbfa: b\n"})
    assert _codes(found) == [("x.yaml", 1, 1, reading.FORBIDDEN_CHARACTER.code)]


def test_a_tab_is_no_control_character() -> None:
    assert _parse({"x.yaml": b"a: 'b\tc'\n", "x.md": b"b\tc"}).diagnostics == ()


def test_the_other_mistakes_of_a_file_with_a_forbidden_character_are_shown_too() -> None:
    found = _parse({"x.yaml": b"a: !tag 1\nb: x\nb: y\n" + b"c: long\n" * 9000 + b"d: \x07\n"})
    assert {d.code for d in found.diagnostics} >= {
        reading.EXPLICIT_TAG.code,
        reading.FORBIDDEN_CHARACTER.code,
        reading.DUPLICATE_KEY.code,
    }


def test_characters_are_named_and_counted() -> None:
    (found,) = _parse({"x.md": b"a\x00b\x07c\x07"}).diagnostics
    assert "NUL" in found.message
    assert found.notes == ("2 more such characters in this file",)
    assert found.primary == Span("x.md", Position(1, 2), Position(1, 3))


# manifests.md §2: file names that differ only in case are an error (SYM026 case-collision).
@pytest.mark.parametrize(
    ("paths", "at", "both"),
    [
        (["a/Support.yaml", "a/support.yaml"], "a/support.yaml", ["a/support.yaml", "a/Support.yaml"]),
        (["Agents/x.yaml", "agents/y.yaml", "agents/z.yaml"], "agents/y.yaml", ["agents", "Agents"]),
        (["a/ß.md", "a/SS.md"], "a/ß.md", ["a/ß.md", "a/SS.md"]),
    ],
)
def test_names_that_differ_only_in_case_are_refused_once(paths: list[str], at: str, both: list[str]) -> None:
    (found,) = _parse(dict.fromkeys(paths, b"a: 1\n")).diagnostics
    assert (found.code, found.primary.file) == (reading.CASE_COLLISION.code, at)
    assert [f'"{name}"' in found.message for name in both] == [True, True]
    assert found.secondary[0].span.file != at


def test_names_that_differ_otherwise_are_accepted() -> None:
    assert _parse(dict.fromkeys(["a/x.yaml", "b/X.yaml", "x.yaml", "x.yml"], b"a: 1\n")).diagnostics == ()


def test_documents_are_values() -> None:
    one, same, other = (
        _parse({"x.yaml": text}).documents[0] for text in (b"a: 1\n", b"a: 1\r\n", b"a: 1 # one\n")
    )
    assert one == same
    assert hash(one) == hash(same)
    one.span("a")
    assert one == same
    assert one != other
    with pytest.raises(AttributeError):
        one.path = "y.yaml"  # type: ignore[misc]
    assert "a: 1" not in repr(one)


def test_parsing_is_a_function_of_its_input() -> None:
    workspace = Workspace.of({"a.yaml": b"a: {b: [1, 2]}\n", "b.yaml": b"- x"})
    assert parse(workspace) == parse(workspace)
