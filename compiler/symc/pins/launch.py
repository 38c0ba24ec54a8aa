"""How a server is started or reached, and the one place where ``${env:NAME}`` becomes a value (docs/policies.md §7)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit, urlunsplit

REFERENCE: Final = re.compile(r"\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}")
"""A reference to the environment; nothing else is ever interpolated."""

SHELL_REFERENCE: Final = re.compile(r"(?<![\w$])\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
"""What a shell would replace, and nobody does here."""

_SHORTEST_SECRET = 4  # replacing every "1" in a message would hide more than it protects


class MissingVariableError(LookupError):
    """The environment lacks variables that the server's launch refers to; ``names`` are all of them, sorted."""

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__(", ".join(names))
        self.names = names


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A server's ``mcp`` section: ``command`` with ``env``, or ``url`` with ``headers``."""

    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the environment variables it refers to, sorted."""
        return tuple(sorted({name for text in self._texts() for name in REFERENCE.findall(text)}))

    @property
    def shown(self) -> str:
        """The server in a message: its command, or its address without user-info; references stay references."""
        if self.command:
            return " ".join(self.command)
        return without_userinfo(self.url)

    def resolve(self, environ: Mapping[str, str]) -> Launch:
        """The launch with every reference replaced by its value in ``environ``.

        Raises ``MissingVariableError`` for those that are not set; a variable that is set to nothing is nothing.
        """
        missing = tuple(name for name in self.variables if name not in environ)
        if missing:
            raise MissingVariableError(missing)

        def value(text: str) -> str:
            return REFERENCE.sub(lambda found: environ[found[1]], text)

        return Launch(
            command=tuple(map(value, self.command)),
            env={name: value(text) for name, text in self.env.items()},
            url=value(self.url),
            headers={name: value(text) for name, text in self.headers.items()},
        )

    def redact(self, text: str, environ: Mapping[str, str]) -> str:
        """``text`` with the value of every variable that this launch refers to put back as its reference."""
        return redacted(text, self.variables, environ)

    def _texts(self) -> Iterator[str]:
        yield from self.command
        yield from self.env.values()
        yield self.url
        yield from self.headers.values()


def redacted(text: str, names: Iterable[str], environ: Mapping[str, str]) -> str:
    """``text`` with the values of these variables put back as references."""
    values = {environ[name]: name for name in names if len(environ.get(name, "")) >= _SHORTEST_SECRET}
    for value in sorted(values, key=len, reverse=True):
        text = text.replace(value, f"${{env:{values[value]}}}")
    return text


def without_userinfo(url: str) -> str:
    """The address without the name and password that may stand in it."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
