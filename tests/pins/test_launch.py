"""``symc.pins.launch``: references to the environment are resolved in one place and never shown."""

from __future__ import annotations

import pytest

from symc.pins.launch import Launch, MissingVariableError, without_userinfo

LAUNCH = Launch(
    command=("server", "--url=https://u:${env:PASSWORD}@host.test"),
    env={"TOKEN": "${env:DEMO_TOKEN}", "PLAIN": "pa$$w0rd costs $5 ${HOME} {{ x }}"},
)


def test_every_reference_is_resolved_and_nothing_else() -> None:
    resolved = LAUNCH.resolve({"PASSWORD": "a$1\\1", "DEMO_TOKEN": "${env:OTHER}", "OTHER": "x"})
    assert resolved.command == ("server", "--url=https://u:a$1\\1@host.test")
    # What a variable holds is not looked at again.
    assert resolved.env == {"TOKEN": "${env:OTHER}", "PLAIN": "pa$$w0rd costs $5 ${HOME} {{ x }}"}


def test_all_missing_variables_are_named_at_once() -> None:
    with pytest.raises(MissingVariableError) as caught:
        LAUNCH.resolve({"OTHER": "x"})
    assert caught.value.names == ("DEMO_TOKEN", "PASSWORD") == LAUNCH.variables


def test_a_variable_that_is_set_to_nothing_is_set() -> None:
    assert Launch(env={"A": "${env:A}"}).resolve({"A": ""}).env == {"A": ""}


def test_values_are_put_back_as_references() -> None:
    environ = {"PASSWORD": "s3cr3t", "DEMO_TOKEN": "s3cr3t-CANARY", "OTHER": "visible"}
    text = "refused s3cr3t-CANARY for s3cr3t of visible"
    assert LAUNCH.redact(text, environ) == "refused ${env:DEMO_TOKEN} for ${env:PASSWORD} of visible"
    assert LAUNCH.redact("1 of 1", {"PASSWORD": "1", "DEMO_TOKEN": ""}) == "1 of 1"


def test_neither_headers_nor_user_info_are_shown() -> None:
    launch = Launch(url="https://u:pw@host.test:8443/mcp?x=1", headers={"Authorization": "Bearer s3cr3t"})
    assert launch.shown == "https://host.test:8443/mcp?x=1"
    assert "s3cr3t" not in repr(launch)
    assert without_userinfo("http://[::1") == "http://[::1"
