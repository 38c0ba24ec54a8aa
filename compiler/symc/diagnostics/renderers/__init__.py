"""Renderers: diagnostics as text for people, JSON for programs, annotations for GitHub, SARIF for code scanning.

One module a format, each with a ``render(diagnostics, …) -> str``; nothing here prints, reads or asks the environment.
``sources`` maps the files that the spans name to their texts. Source: docs/diagnostics.md §2 and §3.
"""
