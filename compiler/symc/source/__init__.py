"""Read and parse: a folder of files → documents with positions (docs/manifests.md §1).

`read` is the only stage of the compiler that touches the world; `parse` is pure, as is everything after it.
"""

from symc.source.document import Document, Pin
from symc.source.sources import Sources, parse
from symc.source.workspace import ENDINGS, Workspace, WorkspaceError, read

__all__ = ["ENDINGS", "Document", "Pin", "Sources", "Workspace", "WorkspaceError", "parse", "read"]
