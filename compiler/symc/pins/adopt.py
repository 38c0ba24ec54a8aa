"""An MCP configuration of another client → manifests: an extension for each server and a first agent. Pure.

Understood are the shapes of Claude (``.mcp.json``: ``mcpServers``), VS Code (``.vscode/mcp.json``: ``servers`` and
``inputs``; ``settings.json``: ``mcp``) and Cursor (``.cursor/mcp.json``). Secrets become ``${env:NAME}``; what symc has
no word for is said in a comment, never dropped silently.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from symc.contracts.names import EXTENSION_NAME, RESERVED_NAMES, TOOL_EXTENSION_NAME
from symc.pins.secrets import looks_like_secret, names_a_credential

_UNDERSTOOD = frozenset(
    {"args", "command", "disabled", "env", "headers", "httpUrl", "serverUrl", "type", "url"}
)
# What is not closed ends with the file: nothing is looked at twice.
_STRING = r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)'
_COMMENT = re.compile(rf"{_STRING}|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_LAST_COMMA = re.compile(rf"{_STRING}|,(?=\s*[}}\]])", re.DOTALL)
_VARIABLE = re.compile(
    r"\$\{(?:(?P<kind>env|input):)?(?P<name>[A-Za-z_][A-Za-z0-9_.-]*)(?P<default>:-[^}]*)?\}"
)
_FOLDERS = ("workspaceFolder", "workspaceRoot")
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


class AdoptionError(ValueError):
    """The file is no MCP configuration that symc understands; the message says why, for its user."""


def adopt(config: bytes | str) -> Mapping[str, str]:
    """The files of a workspace (path below the workspace folder → text) with the servers of an MCP configuration.

    Comments and trailing commas are accepted, as VS Code does. The agent uses every server that is not disabled, under
    a prefix where there are several, and all of their tools: narrow that after ``symc pin`` has shown them. A disabled
    one has its manifest under a name that a compile passes over. Raises ``AdoptionError``.
    """
    servers = _servers(_read(config))
    names = _names(servers)
    contested = _contested(servers)
    adopted = [_Server(names[key], key, server, contested) for key, server in servers.items()]
    files = {"workspace.yaml": _workspace(), "agents/assistant.yaml": _agent(adopted)}
    for server in adopted:
        files[server.path] = server.manifest()
    return {path: files[path] for path in sorted(files)}


def _read(config: bytes | str) -> Any:
    try:
        text = config.decode("utf-8-sig") if isinstance(config, bytes) else config
        plain = _LAST_COMMA.sub(_blank, _COMMENT.sub(_blank, text))
        data = json.loads(plain, parse_int=_integer)
        json.dumps(data, ensure_ascii=False).encode()
    except UnicodeDecodeError:
        raise AdoptionError("it is not UTF-8 text") from None
    except UnicodeEncodeError:
        raise AdoptionError("it holds half a surrogate pair, which is no character") from None
    except json.JSONDecodeError as error:
        raise AdoptionError(f"it is not JSON: line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise AdoptionError("it is nested too deeply") from None
    return data


def _blank(found: re.Match[str]) -> str:
    """Blanks for what JSON does not know, and strings as they are: every other character keeps its place."""
    return found[0] if found[0][0] == '"' else re.sub(r"[^\n]", " ", found[0])


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) < 400 else float(digits)  # of more, Python reads none


def _servers(data: Any) -> dict[str, dict[str, Any]]:
    for path in (("mcpServers",), ("servers",), ("mcp", "servers"), ("mcp", "mcpServers")):
        found = data
        for key in path:
            found = found.get(key) if isinstance(found, dict) else None
        if isinstance(found, dict) and found:
            break
    else:
        raise AdoptionError('it has no servers: neither "mcpServers" nor "servers"')
    for key, server in found.items():
        _check(key, server)
    return found


def _check(key: str, server: Any) -> None:
    if not isinstance(server, dict):
        raise AdoptionError(f"the server {json.dumps(key)} is no object")
    for field_, kind, said in (
        ("command", str, "text"),
        ("args", list, "list of texts"),
        ("env", dict, "object of texts"),
        ("headers", dict, "object of texts"),
    ):
        value = server.get(field_)
        items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        scalars = all(isinstance(item, str | int | float | bool) for item in items)
        if value is not None and not (isinstance(value, kind) and scalars):
            raise AdoptionError(f"`{field_}` of the server {json.dumps(key)} is no {said}")
    if not server.get("command") and not _url(server):
        raise AdoptionError(f"the server {json.dumps(key)} has neither a command nor an address")


def _url(server: Mapping[str, Any]) -> str:
    found = next((server[key] for key in ("url", "httpUrl", "serverUrl") if server.get(key)), "")
    return found if isinstance(found, str) else ""


def _names(servers: Mapping[str, Any]) -> dict[str, str]:
    """A legal and distinct extension name for each server: its own in small letters, as far as it can be kept."""
    names: dict[str, str] = {}
    for key in servers:
        name = re.sub(r"[^a-z0-9.]+", "-", key.lower()).strip("-.")
        name = re.sub(r"[.-]{2,}", "-", name)
        if not name or not name[0].isalpha():
            name = f"mcp-{name}".rstrip("-")
        name = name[:56].rstrip("-.")
        taken = {*names.values(), *RESERVED_NAMES, "assistant", "workspace"}
        number = 2
        distinct = name
        while distinct in taken:
            distinct, number = f"{name}-{number}", number + 1
        assert EXTENSION_NAME.accepts(distinct)
        names[key] = distinct
    return names


def _contested(servers: Mapping[str, Mapping[str, Any]]) -> frozenset[str]:
    """The variables to which two servers give different values: in one environment they need two names."""
    values: dict[str, set[str]] = {}
    for server in servers.values():
        for key, value in (server.get("env") or {}).items():
            values.setdefault(key, set()).add(str(value))
    return frozenset(key for key, given in values.items() if len(given) > 1)


@dataclass(slots=True)
class _Server:
    """One server on its way into a manifest; ``comments`` collects what has no place there."""

    name: str
    key: str
    raw: Mapping[str, Any]
    contested: frozenset[str]
    comments: list[str] = field(default_factory=list)

    @property
    def disabled(self) -> bool:
        return self.raw.get("disabled") is True

    @property
    def path(self) -> str:
        """Where its manifest stands; that of a disabled one has an ending that a compile passes over."""
        return f"extensions/{self.name}.yaml" + (".disabled" if self.disabled else "")

    def manifest(self) -> str:
        lines = list(self._launch())
        left = sorted(self.raw.keys() - _UNDERSTOOD)
        if left:
            self.comments.append(f"not taken over: {', '.join(left)}")
        if self.raw.get("type") == "sse":
            self.comments.append(
                "was of type sse; symc speaks streamable HTTP, which most servers offer beside it"
            )
        if self.name != self.key:
            self.comments.insert(0, f"was called {json.dumps(self.key)}")
        comments = "".join(f"# {_one_line(comment)}\n" for comment in self.comments)
        return f"{comments}kind: extension\nname: {self.name}\nmcp:\n" + "".join(
            f"  {line}\n" for line in lines
        )

    def _launch(self) -> Iterator[str]:
        if self.raw.get("command"):
            yield f"command: [{', '.join(map(_quoted, self._command()))}]"
            yield from self._mapping("env", self._env())
        else:
            yield f"url: {_quoted(self._address())}"
            yield from self._mapping("headers", self._headers())

    def _mapping(self, key: str, values: Mapping[str, str]) -> Iterator[str]:
        if values:
            yield f"{key}:"
            yield from (f"  {_key(name)}: {_quoted(value)}" for name, value in values.items())

    def _command(self) -> list[str]:
        words = [str(self.raw["command"]), *map(_scalar, self.raw.get("args") or ())]
        found: list[str] = []
        for index, word in enumerate(words):
            option, equals, value = word.partition("=") if word.startswith("-") else ("", "", word)
            if not option and index and words[index - 1].startswith("-") and "=" not in words[index - 1]:
                option = words[index - 1]
            elif option and not equals:
                found.append(self._translated(word))
                continue
            moved = self._moved(value, option, option.lstrip("-") or "argument", own=False)
            found.append(f"{option}={moved}" if equals else moved)
        return found

    def _env(self) -> dict[str, str]:
        env = {str(key): _scalar(value) for key, value in (self.raw.get("env") or {}).items()}
        return {key: self._moved(value, key, key, own=True) for key, value in env.items()}

    def _headers(self) -> dict[str, str]:
        found = {}
        for key, value in (self.raw.get("headers") or {}).items():
            scheme, blank, credential = _scalar(value).partition(" ")
            if blank and names_a_credential(key) and "${" not in credential:
                found[key] = f"{scheme} ${{env:{self._variable(key, own=False)}}}"
            else:
                found[key] = self._moved(_scalar(value), key, key, own=False)
        return found

    def _address(self) -> str:
        url = _url(self.raw)
        url = re.sub(
            r"(://[^/?#@\s:]*:)([^/?#@\s]+)(@)",
            lambda found: found[1] + self._moved(found[2], "password", "password", own=False) + found[3],
            url,
        )
        return re.sub(
            r"([?&])([^=&#\s]+)=([^&#\s]+)",
            lambda found: f"{found[1]}{found[2]}={self._moved(found[3], found[2], found[2], own=False)}",
            self._translated(url),
        )

    def _moved(self, value: str, name: str, key: str, *, own: bool) -> str:
        """The value, or the reference that stands for it when it is a secret."""
        translated = self._translated(value)
        # More cautious than a check may be: a short credential is moved, too.
        secret = looks_like_secret(translated, name) or (
            names_a_credential(name) and "${env:" not in translated
        )
        return f"${{env:{self._variable(key, own=own)}}}" if secret and value else translated

    def _variable(self, key: str, *, own: bool) -> str:
        """The variable for the secret of ``key``; with ``own`` named as the key, unless another server contests it."""
        name = key
        if not own or key in self.contested or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", key):
            name = re.sub(r"[^A-Z0-9]+", "_", f"{self.name}_{key}".upper()).strip("_")
        self.comments.append(f"set {name} in the environment; its value was in the configuration")
        return name

    def _translated(self, text: str) -> str:
        """The text with the other clients' variables as symc's."""
        return _VARIABLE.sub(self._reference, text)

    def _reference(self, found: re.Match[str]) -> str:
        kind, name = found["kind"], found["name"]
        if name in _FOLDERS:
            return "."
        if name == "userHome":
            return "${env:HOME}"
        if name == "pathSeparator":
            return "/"
        variable = re.sub(r"[^A-Za-z0-9_]+", "_", name)
        if kind == "input":
            variable = variable.upper()
            self.comments.append(f"set {variable} in the environment; it was asked for as the input {name}")
        if found["default"]:
            self.comments.append(
                f"set {variable} in the environment; it had a default, which symc does not know"
            )
        return f"${{env:{variable}}}"


def _workspace() -> str:
    from symc.composition import LOCK_VERSION

    return f"kind: workspace\nname: workspace\nlock_version: {LOCK_VERSION}\n"


def _agent(servers: list[_Server]) -> str:
    used = [server for server in servers if not server.disabled]
    lines = [
        "kind: agent",
        "name: assistant",
        "provider: none    # anthropic | openai | gemini | bedrock: whose limits are checked",
    ]
    lines += ["instructions: |", "  You are a helpful assistant.", "extensions:"]
    for server in used:
        prefix = re.sub(r"[^a-z0-9]+", "_", server.name)[:32].strip("_")
        prefixed = len(used) > 1 and TOOL_EXTENSION_NAME.accepts(prefix)
        lines.append(f"  - {{use: {server.name}, prefix: {prefix}}}" if prefixed else f"  - {server.name}")
    lines.append("tools:    # least authority: after `symc pin`, name the tools that it needs")
    lines += [f'  - "{server.name}/*"' for server in used]
    if not used:
        lines = [line for line in lines if not line.startswith(("extensions:", "tools:"))]
    lines += [
        f"# disabled in the configuration; to use it, rename {server.path} to {server.name}.yaml"
        for server in servers
        if server.disabled
    ]
    return "\n".join(lines) + "\n"


def _scalar(value: Any) -> str:
    return json.dumps(value) if isinstance(value, bool) else str(value)


def _quoted(text: str) -> str:
    # A JSON string is a YAML string.
    return json.dumps(text, ensure_ascii=False)


def _key(name: str) -> str:
    plain = _PLAIN_KEY.fullmatch(name) and name.lower() not in ("true", "false", "null")
    return name if plain else _quoted(name)


def _one_line(text: str) -> str:
    return " ".join(text.split())
