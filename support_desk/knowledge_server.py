"""A small MCP server over stdio: the manuals of the example. Run it with `python -m support_desk.knowledge_server`."""

from __future__ import annotations

from mcp.server import MCPServer
from mcp.types import ToolAnnotations

ARTICLES = {
    "mower-blades": "Blades of the mower M4 are changed every 50 hours. Pull the spark plug first.",
    "hose-frost": "Empty the hose before the first frost, or the coupling bursts.",
    "spade-warranty": "The handle of the spade is guaranteed for ten years.",
}

server = MCPServer("knowledge")


@server.tool(
    description="Find articles of the manuals by words; answers their ids, one a line.",
    annotations=ToolAnnotations(read_only_hint=True),
    structured_output=False,
)
def search_articles(query: str, limit: int = 5) -> str:
    """Ids of the articles that hold a word of the query."""
    words = query.lower().split()
    found = [
        key for key, text in ARTICLES.items() if any(word in key or word in text.lower() for word in words)
    ]
    return "\n".join(found[:limit]) or "nothing found"


@server.tool(
    description="Read one article by its id.",
    annotations=ToolAnnotations(read_only_hint=True),
    structured_output=False,
)
def read_article(article: str) -> str:
    """The text of one article."""
    return ARTICLES[article]


@server.tool(description="Delete an article from the manuals.", structured_output=False)
def delete_article(article: str) -> str:
    """Remove one article."""
    del ARTICLES[article]
    return f"deleted {article}"


if __name__ == "__main__":
    server.run()
