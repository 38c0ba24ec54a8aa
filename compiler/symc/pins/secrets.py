"""Literals that look like credentials, found where a server's launch holds them (docs/policies.md §7). Pure.

Known formats and randomness are detect-secrets' business; names that promise a credential are ours, because a value
such as ``hunter2`` gives itself away by nothing else. No reason, and no message made from one, repeats the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from symc.pins.launch import REFERENCE

Path = tuple[str | int, ...]

_FORMATS: Final = (
    ("aws", "AWSKeyDetector"),
    ("azure_storage_key", "AzureStorageKeyDetector"),
    ("discord", "DiscordBotTokenDetector"),
    ("github_token", "GitHubTokenDetector"),
    ("gitlab_token", "GitLabTokenDetector"),
    ("jwt", "JwtTokenDetector"),
    ("mailchimp", "MailchimpDetector"),
    ("npm", "NpmDetector"),
    ("openai", "OpenAIDetector"),
    ("pypi_token", "PypiTokenDetector"),
    ("sendgrid", "SendGridDetector"),
    ("slack", "SlackDetector"),
    ("square_oauth", "SquareOAuthDetector"),
    ("stripe", "StripeDetector"),
    ("telegram_token", "TelegramBotTokenDetector"),
    ("twilio", "TwilioKeyDetector"),
)
_RANDOM: Final = (
    ("Base64HighEntropyString", r"[A-Za-z0-9+/\-_=]{20,}"),
    ("HexHighEntropyString", r"[0-9a-fA-F]{20,}"),
)

_RUN: Final = re.compile(r"[A-Za-z0-9_\-+/=]{16,}")

_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_CREDENTIALS: Final = frozenset(
    (
        "apikey",
        "auth",
        "authorization",
        "bearer",
        "cookie",
        "credential",
        "credentials",
        "pass",
        "passphrase",
        "passwd",
        "password",
        "pat",
        "pwd",
        "secret",
        "token",
    )
)
_KEYS: Final = frozenset(("access", "api", "auth", "client", "private", "secret", "service", "signing"))
# A name that ends so says where a credential is, how long it lives or of what sort it is, and not what it is.
_NOT_ITSELF: Final = frozenset(
    (
        "budget",
        "count",
        "dir",
        "enabled",
        "endpoint",
        "expiry",
        "file",
        "folder",
        "format",
        "header",
        "host",
        "id",
        "length",
        "limit",
        "method",
        "mode",
        "name",
        "path",
        "port",
        "provider",
        "region",
        "scope",
        "scopes",
        "seconds",
        "server",
        "size",
        "ttl",
        "type",
        "uri",
        "url",
        "user",
        "version",
    )
)
_IDLE: Final = frozenset(("", "0", "1", "false", "no", "none", "null", "off", "on", "true", "yes"))
_SCHEMES: Final = "Basic|Bearer|Token|Digest|ApiKey"
_PLACEHOLDER: Final = re.compile(
    r"change[-_ ]?me|dummy|example|placeholder|sample|test|unused|your.*|x+|\*+|<.*>|\.\.\.|…", re.IGNORECASE
)
_NUMBER: Final = re.compile(r"[0-9.,]{1,11}")
_SHORTEST: Final = 6
_WHERE: Final = re.compile(r"(?:[A-Za-z]:)?(?:\.{0,2}|~)[/\\]|[a-z][a-z0-9+.-]*://")
_SCHEME: Final = re.compile(rf"(?:{_SCHEMES})(?:\s(.*))?", re.IGNORECASE)


def names_a_credential(name: str) -> bool:
    """Whether a variable, header or option of this name holds a credential itself: ``GITHUB_TOKEN``, ``X-Api-Key``."""
    words = [word.lower() for word in _WORDS.findall(name)]
    if not words or words[-1] in _NOT_ITSELF:
        return False
    return not _CREDENTIALS.isdisjoint(words) or any(
        second == "key" and first in _KEYS for first, second in pairwise(words)
    )


def looks_like_secret(value: str, name: str = "") -> str | None:
    """What kind of credential a literal looks like, as the rest of "it looks like …"; None when like none.

    ``name`` is the variable, header or option that it is the value of. ``${env:NAME}`` references are no literals.
    """
    literal = REFERENCE.sub("", value).strip()
    if literal.lower() in _IDLE or _NUMBER.fullmatch(literal) or _PLACEHOLDER.fullmatch(literal):
        return None
    if reason := _in_address(literal):
        return reason
    if name and (scheme := _SCHEME.fullmatch(literal)):
        # Beside references only punctuation may be left.
        return "the credential of an authorization header" if re.search(r"\w", scheme[1] or "") else None
    if len(literal) >= _SHORTEST and names_a_credential(name) and not _WHERE.match(literal):
        return "a credential, by its name"
    return _known(literal)


def literals(
    command: Sequence[str], env: Mapping[str, str], url: str, headers: Mapping[str, str]
) -> Iterator[tuple[Path, str]]:
    """Every literal in a server's launch that looks like a credential: its key path below ``mcp``, and what like."""
    for index, argument in enumerate(command):
        option, value = _option(command, index, argument)
        if reason := looks_like_secret(value, option):
            yield ("command", index), reason
    if url and (reason := looks_like_secret(url)):
        yield ("url",), reason
    for key, values in (("env", env), ("headers", headers)):
        for name, value in values.items():
            if reason := looks_like_secret(value, name):
                yield (key, name), reason


def _option(command: Sequence[str], index: int, argument: str) -> tuple[str, str]:
    """The option that an argument is the value of, and the value: ``--token=x``, or ``--token`` and then ``x``."""
    if argument.startswith("-"):
        name, equals, value = argument.partition("=")
        return (name, value) if equals else ("", "")
    before = command[index - 1] if index else ""
    return (before, argument) if before.startswith("-") and "=" not in before else ("", argument)


def _in_address(text: str) -> str | None:
    """The credential in a URL: the password of its user-info, or a query parameter named like one."""
    if "://" not in text:
        return None
    try:
        parts = urlsplit(text)
        query = parse_qsl(parts.query)
    except ValueError:
        return None
    if parts.password:
        return "the password in an address"
    if any(names_a_credential(name) and looks_like_secret(value, name) for name, value in query):
        return "a credential in an address"
    return None


def _known(text: str) -> str | None:
    """Whether detect-secrets knows the format, or finds the text too random to be a word."""
    if "PRIVATE KEY-----" in text:
        return "a private key"
    if not any(_may_be_a_key(run) for run in _RUN.findall(text)):
        return None  # as nearly every value: loading the detectors costs more than a small compile
    for module, name in _FORMATS:
        detector = _detector(module, name)
        if next(iter(detector.analyze_string(text)), None) is not None:
            return f"a credential of the kind {detector.secret_type}"
    for name, alphabet in _RANDOM:
        detector = _detector("high_entropy_strings", name)
        is_one_word = re.fullmatch(alphabet, text) and not _WHERE.match(text)
        if is_one_word and detector.calculate_shannon_entropy(text) > detector.entropy_limit:
            return "a random text, as keys and tokens are"
    return None


def _may_be_a_key(run: str) -> bool:
    """Whether so many letters in a row can be a key: words and paths have few digits, and small letters."""
    return any(letter.isdigit() for letter in run) or run.isupper()


def _detector(module: str, name: str) -> Any:
    return getattr(import_module(f"detect_secrets.plugins.{module}"), name)()
