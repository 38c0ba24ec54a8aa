"""Testing agents: the pytest plugin and its snapshot extensions."""
