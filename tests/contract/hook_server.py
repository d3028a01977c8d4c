"""A small real HTTP server on loopback that takes alerts, refuses or redirects them, or never ends its answer."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal

import msgspec

Manner = Literal["takes", "refuses", "elsewhere", "drips"]


class HookServer:
    """Listens on 127.0.0.1 and keeps what was posted: (path, body)."""

    def __init__(self, manner: Manner = "takes", elsewhere: str = "") -> None:
        self.posted: list[tuple[str, bytes]] = []
        self._ended = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
                outer.posted.append((self.path, body))
                if manner == "drips":
                    # A byte now and then: no timeout of a single read ever fires.
                    self.wfile.write(b"HTTP/1.0 200 OK\r\nX: ")
                    while not outer._ended.wait(0.2):
                        self.wfile.write(b"x")
                        self.wfile.flush()
                    return
                self.send_response({"takes": 200, "refuses": 403, "elsewhere": 302}[manner])
                if manner == "elsewhere":
                    self.send_header("Location", elsewhere)
                self.end_headers()

            def do_GET(self) -> None:
                outer.posted.append((self.path, b""))
                self.send_response(200)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                """Silent."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = int(self._server.server_address[1])
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def fields(self) -> list[dict[str, object]]:
        """The JSON documents that were posted."""
        return [msgspec.json.decode(body, type=dict[str, object]) for _, body in self.posted]

    def close(self) -> None:
        """Let go of whoever still waits, and stop listening."""
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()
