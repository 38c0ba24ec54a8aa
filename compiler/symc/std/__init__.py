"""The built-in extension ``std``: tool extensions that ship, known to every agent by bare name (docs/extending.md).

``std.yaml`` declares them, as anyone's manifest does; each has a module with its factory. Importing one costs no other.
"""
