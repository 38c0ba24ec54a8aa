"""An MCP server over streamable HTTP that behaves as it is told; standard library only, in a thread of the test."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from tests.pins.stub_server import answer


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    behaviour = ""
    headers_seen: dict[str, str]


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        behaviour = self.server.behaviour
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.headers_seen = dict(self.headers)
        if behaviour == "silence":
            time.sleep(30)
        elif behaviour == "wants-a-token" and self.headers["Authorization"] != "Bearer s3cr3t-CANARY":
            self._send(401, "text/plain", b"who are you?")
        elif behaviour == "away":
            self._send(503, "text/plain", b"come back later")
        elif behaviour == "page":
            self._send(200, "text/html", b"<h1>It works!</h1>")
        elif "id" not in message:
            self._send(202, "application/json", b"")
        else:
            self._send_reply(message)

    def _send_reply(self, message: dict[str, Any]) -> None:
        result = answer(self.server.behaviour, message)
        outcome = (
            {"error": {"code": -32601, "message": "no such method"}} if result is None else {"result": result}
        )
        text = json.dumps({"jsonrpc": "2.0", "id": message["id"], **outcome})
        if self.server.behaviour == "events":
            self._send(200, "text/event-stream", f"event: message\ndata: {text}\n\n".encode())
        else:
            self._send(200, "application/json", text.encode())

    def do_GET(self) -> None:
        self._send(405, "text/plain", b"")

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving(behaviour: str) -> Iterator[tuple[str, _Server]]:
    """The address of such a server while the block runs."""
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.behaviour = behaviour
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/mcp", server
        finally:
            server.shutdown()
            thread.join()
