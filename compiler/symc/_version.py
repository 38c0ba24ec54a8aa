"""The version, alone in a module so that ``symc --version`` and the build read it without importing anything."""

VERSION = "0.1.0"
