"""What an extension brings: tools, hooks, tool extensions, a server (docs/manifests.md §3, docs/variants.md §4)."""

from __future__ import annotations

import pytest

from tests.manifest.written import EXTENSION, manifests, marked, only, place, places


def check_marked(text: str, expected: str) -> None:
    written, at = marked(text)
    assert places(written) == ([f"{expected} {at}"] if at else [])


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("name: a, invoke: 'm:f'", ""),
        ("name: a, invoke: 'm:f', description: Find., origin: a handbook", ""),
        ("name: a, invoke: 'm:f', input_schema: {type: object}, output_schema: {type: string}", ""),
        ("name: a, invoke: 'm:f', input_schema: {}", ""),
        ("name: a, invoke: 'm:f', input_schema: {type: §string}", "schema-not-object"),
        ("name: a, invoke: 'm:f', input_schema: {type: §objekt}", "schema-invalid"),
        (
            "name: a, invoke: 'm:f', input_schema: {properties: {b: {$ref: §'https://example.test/s'}}}",
            "schema-ref-remote",
        ),
        ("name: a, invoke: 'm:f', input_schema: {$schema: §'https://example.test/s'}", "schema-dialect"),
        ("name: a, invoke: 'm:f', output_schema: {properties: §[]}", "schema-invalid"),
        ("name: a, invoke: 'm:f', output_schema: §true", "wrong-type"),
    ],
)
def test_tools(fields: str, expected: str) -> None:
    check_marked(EXTENSION + "tools:\n- {" + fields + "}\n", expected)


def test_a_schema_fault_names_extension_and_tool() -> None:
    found = only(EXTENSION + "tools: [{name: find, invoke: 'm:f', input_schema: {type: string}}]\n")
    assert '"crm/find"' in found.message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kind: extension\nname: crm\nversion: '1'\nrequires: [a, b >=1]\nimplementation: 'm:p'\n", ""),
        ("kind: extension\nname: crm\nversion: '1'\n§pin: x.json\n", "idle-key"),
        ("kind: extension\nname: §crm\n", "missing-key"),
    ],
)
def test_packages(text: str, expected: str) -> None:
    check_marked(text, expected)


TOOL_EXTENSIONS: list[tuple[str, str]] = [
    # reserved parameters: on wrappers, inline (V21, V22)
    ("kind: wrapper, reserved_params: {exp: {type: number}}", ""),
    ("kind: wrapper, reserved_params: {a: {type: [string, 'null']}, b: {enum: [x, 1]}, c: {const: 1}}", ""),
    ("kind: wrapper, reserved_params: {a: {type: array, items: {type: string}}}", ""),
    ("kind: wrapper, reserved_params: {a: {type: object, additionalProperties: {type: number}}}", ""),
    ("kind: wrapper, reserved_params: {a: {type: object, properties: {b: {type: string}}}}", ""),
    ("kind: wrapper, reserved_params: {a: §{$ref: '#/$defs/x'}}", "reserved-parameter"),
    ("kind: wrapper, reserved_params: {a: §{type: array, items: {$ref: '#'}}}", "reserved-parameter"),
    ("kind: wrapper, reserved_params: {a: §{anyOf: [{type: string}]}}", "reserved-parameter"),
    ("kind: wrapper, reserved_params: {a: §{type: array}}", "reserved-parameter"),
    ("kind: wrapper, reserved_params: {a: §{type: object}}", "reserved-parameter"),
    (
        "kind: wrapper, reserved_params: {a: §{type: array, items: {type: array, items: {type: string}}}}",
        "reserved-parameter",
    ),
    ("kind: wrapper, reserved_params: {a: §{}}", "reserved-parameter"),
    ("kind: wrapper, reserved_params: {a: {type: §numbr}}", "schema-invalid"),
    ("kind: wrapper, reserved_params: {a: §number}", "wrong-type"),
    (
        "kind: transformer, input_schema: {type: object}, §reserved_params: {a: {type: number}}",
        "reserved-parameter",
    ),
    ("kind: backend, §reserved_params: {a: {type: number}}", "reserved-parameter"),
    ("kind: backend, reserved_params: {}", ""),
    # config schemas: of an object, 2020-12 (V14)
    ("kind: wrapper, config_schema: {type: object, properties: {ttl: {type: number}}}", ""),
    (
        "kind: wrapper, config_schema: {$schema: 'https://json-schema.org/draft/2020-12/schema', type: object}",
        "",
    ),
    ("kind: wrapper, config_schema: {type: §string}", "schema-not-object"),
    ("kind: wrapper, config_schema: {type: §objekt}", "schema-invalid"),
    (
        "kind: wrapper, config_schema: {$schema: §'http://json-schema.org/draft-07/schema#'}",
        "tool-extension-schema",
    ),
    # input schemas: a wrapper has none, a transformer one of an object (V20, V23), a backend may (V24)
    ("kind: wrapper, §input_schema: {type: object}", "tool-extension-schema"),
    ("kind: transformer, input_schema: {type: object, properties: {a: {type: string}}}", ""),
    ("kind: transformer, input_schema: {type: object}", ""),
    ("kind: transformer, input_schema: {type: object, additionalProperties: false}", ""),
    ("kind: transformer, input_schema: {type: object, §additionalProperties: true}", "tool-extension-schema"),
    (
        "kind: transformer, input_schema: {type: object, §additionalProperties: {type: string}}",
        "tool-extension-schema",
    ),
    ("kind: transformer, input_schema: {type: object, §patternProperties: {a: {}}}", "tool-extension-schema"),
    ("kind: transformer, input_schema: {type: object, properties: {a: {}}, additionalProperties: true}", ""),
    ("kind: transformer, input_schema: §{properties: {a: {}}}", "tool-extension-schema"),
    ("kind: transformer, input_schema: {type: §array}", "schema-not-object"),
    ("kind: transformer, input_schema: {$ref: 'symc:input'}", ""),
    (
        "kind: transformer, input_schema: {type: object, properties: {p: {type: array, items: {$ref: 'symc:input'}}}}",
        "",
    ),
    ("kind: transformer, input_schema: {type: object, properties: {p: {const: {$ref: 'symc:input'}}}}", ""),
    (
        "kind: transformer, input_schema: {type: object, properties: {p: {$ref: §'symc:other'}}}",
        "schema-ref-remote",
    ),
    ("kind: transformer, inherit_properties: true, input_schema: {type: object, properties: {a: {}}}", ""),
    ("kind: backend", ""),
    ("kind: backend, input_schema: {type: object, properties: {a: {}}}", ""),
    (
        "kind: backend, input_schema: {type: object, properties: {a: {$ref: §'symc:input'}}}",
        "tool-extension-schema",
    ),
    ("kind: backend, §inherit_properties: true", "idle-key"),
    ("kind: wrapper, §inherit_properties: true", "idle-key"),
    ("kind: wrapper, inherit_properties: false", ""),
    # output schemas
    ("kind: wrapper, output_schema: {type: string}", ""),
    ("kind: transformer, input_schema: {type: object}, output_schema: {type: §text}", "schema-invalid"),
    (
        "kind: transformer, input_schema: {type: object}, output_schema: {$ref: §'symc:input'}",
        "schema-ref-remote",
    ),
    (
        "kind: transformer, input_schema: {type: object}, output_schema: {$ref: §'symc:config/schema'}",
        "schema-ref-remote",
    ),
]


@pytest.mark.parametrize(("fields", "expected"), TOOL_EXTENSIONS)
def test_tool_extensions(fields: str, expected: str) -> None:
    check_marked(EXTENSION + "tool_extensions:\n- {name: a, factory: 'm:f', " + fields + "}\n", expected)


def test_a_transformer_says_which_arguments_it_takes() -> None:
    text = EXTENSION + "tool_extensions:\n- {name: a, factory: 'm:f', kind: transformer}\n"
    assert places(text) == ["tool-extension-schema 5:3"]


def server(fields: str, more: str = "") -> str:
    return f"kind: extension\nname: files\nmcp: {{{fields}}}\n{more}"


SERVERS: list[tuple[str, str]] = [
    ("command: [npx, -y, server]", ""),
    ("command: [run, '${env:ROOT}/data', '--token=${env:TOKEN}'], env: {A: '${env:A}', B: plain, C: $5}", ""),
    ("url: 'https://example.test/mcp', headers: {Authorization: 'Bearer ${env:TOKEN}'}", ""),
    ("url: 'http://localhost:8080'", ""),
    ("url: '${env:URL}'", ""),
    ("url: 'https://${env:HOST}:8443/mcp'", ""),
    ("command: [run], §url: 'https://example.test'", "exactly-one"),
    ("command: §[]", "empty-list"),
    ("command: [run], §headers: {A: b}", "idle-key"),
    ("url: 'https://example.test', §env: {A: b}", "idle-key"),
    ("url: §example.test/mcp", "invalid-url"),
    ("url: §'ftp://example.test'", "invalid-url"),
    ("url: §'file:///data'", "invalid-url"),
    ("url: §'https://'", "invalid-url"),
    ("url: §'https://example.test/a b'", "invalid-url"),
    ("url: §'https://[::1'", "invalid-url"),
    ("command: [run, §'${env:}']", "invalid-env-reference"),
    ("command: [run, §'${env:A B}']", "invalid-env-reference"),
    ("command: [run, §'${env:A']", "invalid-env-reference"),
    ("command: [run], env: {T: §'x${env:1A}'}", "invalid-env-reference"),
    ("url: 'https://example.test', headers: {T: §'${env:a-b}'}", "invalid-env-reference"),
    ("command: [run, '${HOME}', '$$', '{{ x }}']", ""),
]


SECRET = "ghp_" + "1a2B3c4D5e6F" * 3
"""Made up, in the format of a real one."""

SERVERS += [
    (f"command: [run], env: {{TOKEN: §{SECRET}}}", "secret-literal"),
    ("command: [run], env: {PASSWORD: §'pa$$w0rd costs $5'}", "secret-literal"),
    (f"url: 'https://example.test', headers: {{Authorization: §'Bearer {SECRET}'}}", "secret-literal"),
    ("url: §'https://me:hunter22@example.test/mcp'", "secret-literal"),
    (f"command: [run, --token, §{SECRET}]", "secret-literal"),
    ("url: 'https://me:${env:PASSWORD}@example.test/mcp'", ""),
    ("command: [run], env: {TOKEN: '${env:TOKEN}', LOG_LEVEL: debug}", ""),
]


@pytest.mark.parametrize(("fields", "expected"), SERVERS)
def test_servers(fields: str, expected: str) -> None:
    written, at = marked(server(fields))
    found = manifests({"files.yaml": written, "files.pin.json": '{"tools": []}'}).diagnostics
    assert [place(one) for one in found] == ([f"{expected} {at}"] if at else [])


def test_a_secret_is_never_repeated() -> None:
    written = server(f"command: [run], env: {{TOKEN: {SECRET}}}")
    found = manifests({"files.yaml": written, "files.pin.json": '{"tools": []}'}).diagnostics
    assert [one.name for one in found] == ["secret-literal"]
    assert SECRET not in repr(found)
    assert found[0].hint is not None
    assert "${env:TOKEN}" in found[0].hint.text


def test_a_server_is_started_or_reached() -> None:
    assert places(server("env: {A: b}")) == ["exactly-one 3:1", "pin-missing 3:1"]


def test_tools_of_a_server_come_from_its_pin_alone() -> None:
    text = server("command: [run]", "tools: [{name: a, invoke: 'm:f'}]\n")
    found = manifests({"files.yaml": text, "files.pin.json": '{"tools": []}'}).diagnostics
    assert [place(one) for one in found] == ["exclusive-keys 4:1"]
    assert found[0].secondary[0].span.start.line == 3
