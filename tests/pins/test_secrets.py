"""``symc.pins.secrets`` (docs/policies.md §7): literals that look like credentials, told without the literal."""

from __future__ import annotations

import sys
from subprocess import run

import pytest

from symc.pins.secrets import literals, looks_like_secret, names_a_credential

# Made up in the shape of the real ones; none of them was ever valid.
FOUND = [
    ("GITHUB_TOKEN", "ghp_" + "a1B2c3D4e5F6" * 3),
    ("X", "ghp_" + "a1B2c3D4e5F6" * 3),
    ("X", "glpat-" + "a1B2c3D4e5F6g7H8i9J0"),
    ("X", "AKIA" + "IOSFODNN7EXAMPLE"),
    ("X", "xoxb-123456789012-123456789012-" + "abcdefghijklmnopqrstuvwx"),
    ("X", "sk_live_" + "a1B2c3D4e5F6g7H8i9J0k1L2"),
    ("X", "sk-ant-api03-" + "Abcd1234Efgh5678Ijkl9012Mnop3456Qrst7890Uvwx"),
    (
        "X",
        ".".join(
            (
                "eyJhbGciOiJIUzI1NiJ9",
                "eyJzdWIiOiIxMjM0NTY3ODkwIn0",
                "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
            )
        ),
    ),
    ("X", "-----BEGIN RSA PRIVATE KEY-----\nMIIE"),
    ("X", "9f86d081884c7d659a2feaa0c55ad015"),
    ("PASSWORD", "hunter2"),
    ("DB_PASS", "hunter2"),
    ("password", "pa$$w0rd costs $5"),
    ("API_KEY", "abc123"),
    ("apiKey", "abc123"),
    ("X-Api-Key", "k-123456"),
    ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    ("GITLAB_PERSONAL_ACCESS_TOKEN", "open sesame"),
    ("Authorization", "Bearer abc"),
    ("authorization", "basic dXNlcjpwYXNz"),
    ("Authorization", "Bearer ${env:HALF}otherhalf"),
    ("Cookie", "session=abcdef"),
    ("DATABASE_URL", "postgres://user:hunter2@db.example.test/app"),
    ("", "https://user:hunter2@example.test/mcp"),
    ("", "https://example.test/mcp?api_key=abcdefgh"),
]

FINE = [
    ("TOKEN", "${env:TOKEN}"),
    ("Authorization", "Bearer ${env:TOKEN}"),
    ("Authorization", "Basic ${env:USER}:${env:PASSWORD}"),
    ("DATABASE_URL", "postgres://user:${env:PASSWORD}@db.example.test/app"),
    ("", "https://example.test/mcp?api_key=${env:KEY}"),
    ("", "https://user@example.test/mcp"),
    ("TOKEN", ""),
    ("TOKEN", "placeholder"),
    ("API_KEY", "your-key-here"),
    ("SECRET", "true"),
    ("OPENAI_API_KEY", "none"),
    ("TOKEN_PATH", "/run/secrets/token"),
    ("TOKEN", "/run/secrets/token"),
    ("TOKEN_FILE", "token.txt.enc"),
    ("AUTH_TYPE", "oauth2-device"),
    ("TOKEN_BUDGET", "4096000"),
    ("MAX_TOKENS", "4096000"),
    ("CLIENT_ID", "symc-client"),
    ("TOKENIZER", "cl100k_base"),
    ("AUTHOR", "Somebody Else"),
    ("KEYBOARD", "qwertyuiop"),
    ("MONKEY", "banana-banana"),
    ("LOG_LEVEL", "debug"),
    ("NODE_ENV", "production"),
    ("MEMORY_FILE_PATH", "./memory.json"),
    ("TZ", "America/Argentina/Buenos_Aires"),
    ("MODEL", "claude-sonnet-4-5-20250929"),
    ("WORKSPACE_ID", "0af46a9e-7a3c-4bb2-9c3b-0f5d2a6e8c11"),
    ("GREETING", "The quick brown fox jumps over the lazy dog"),
    ("PATH", "/usr/local/bin:/usr/bin:/bin:/opt/SomeThing/Other-Place/bin"),
    ("PACKAGE", "@modelcontextprotocol/server-filesystem@2026.8.31"),
    ("CONTENT-TYPE", "application/json"),
]


@pytest.mark.parametrize(("name", "value"), FOUND)
def test_found(name: str, value: str) -> None:
    reason = looks_like_secret(value, name)
    assert reason is not None
    assert value not in reason
    assert not any(word in reason for word in ("hunter2", "abc123", "sesame"))


@pytest.mark.parametrize(("name", "value"), FINE)
def test_fine(name: str, value: str) -> None:
    assert looks_like_secret(value, name) is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("GITHUB_TOKEN", True),
        ("githubToken", True),
        ("X-Api-Key", True),
        ("APIKEY", True),
        ("accessKey", True),
        ("--api-key", True),
        ("MAX_TOKENS", False),
        ("TOKEN_URL", False),
        ("PRIMARY_KEY", False),
        ("KEY", False),
        ("", False),
    ],
)
def test_names(name: str, expected: bool) -> None:
    assert names_a_credential(name) is expected


def test_a_launch_is_searched_everywhere_a_credential_can_stand() -> None:
    found = literals(
        ["npx", "-y", "server", "--api-key", "hunter2", "--token=hunter2", "--name", "hunter2", "https://u:hunter2@h.test"],
        {"TOKEN": "hunter2", "MODE": "hunter2"},
        "https://u:hunter2@example.test/mcp",
        {"Authorization": "Bearer hunter2", "Accept": "text/html"},
    )  # fmt: skip
    assert [path for path, _ in found] == [
        ("command", 4),
        ("command", 5),
        ("command", 8),
        ("url",),
        ("env", "TOKEN"),
        ("headers", "Authorization"),
    ]


def test_what_cannot_be_a_key_costs_no_import() -> None:
    values = [
        "./data",
        "@modelcontextprotocol/server-filesystem@2026.8.31",
        "America/Argentina/Buenos_Aires",
        "hunter2",
    ]
    code = (
        "import sys; from symc.pins.secrets import looks_like_secret;"
        f"assert not any(looks_like_secret(value, 'FOLDER') for value in {values});"
        "assert looks_like_secret('hunter2', 'PASSWORD');"
        "sys.exit('detect_secrets' in sys.modules)"
    )
    assert run([sys.executable, "-c", code], check=False).returncode == 0
