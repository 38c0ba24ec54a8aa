"""Renderers of a comparison, one module each; what foreign text may do in them is in ``escaping`` (docs/diff.md §3)."""
