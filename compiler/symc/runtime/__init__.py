"""The runtime: what loads a lock and runs an agent (docs/contracts.md §2 and §3).

Its modules are imported one by one; this package imports none of them, so that `symc.Agent` costs its own chain only
(F-02).
"""
