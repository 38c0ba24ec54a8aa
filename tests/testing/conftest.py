"""Inner pytest runs over small workspaces."""

pytest_plugins = ["pytester"]
