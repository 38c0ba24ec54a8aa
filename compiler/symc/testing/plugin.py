"""The pytest plugin ``symc``: fixtures over a compiled workspace (docs/prompts.md §7)."""
