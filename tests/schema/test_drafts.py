"""The drafts of JSON Schema and their keywords (docs/policies.md P12, P35)."""

from __future__ import annotations

from jsonschema_specifications import REGISTRY as SPECIFICATIONS  # type: ignore[import-untyped]

from symc.schema.drafts import KEYWORDS


def test_the_keywords_are_those_of_the_vocabularies() -> None:
    """Held to the meta-schemas as published; of their older names, only ``definitions`` still means something."""
    base = "https://json-schema.org/draft/2020-12/"
    vocabularies = [
        SPECIFICATIONS.contents(base + meta["$ref"])
        for meta in SPECIFICATIONS.contents(base + "schema")["allOf"]
    ]
    published = {key for vocabulary in vocabularies for key in vocabulary["properties"]}
    assert published | {"definitions"} == KEYWORDS
