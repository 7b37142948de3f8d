"""Receivers of messages that really listen: a mail server and a webhook on ports of this machine."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit


class Box:
    """What one receiver got, and where it listens. It may be closed and opened again at the same port."""

    def __init__(self, serve: Any) -> None:
        self.got: list[Any] = []
        self._serve = serve
        self.port = 0
        self._server: Any = None
        self.open()

    def open(self) -> None:
        self._server = self._serve(self.port, self.got)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        if self._server:
            self._server.shutdown()
            self._server.server_close()
            self._server = None


def _webhook(port: int, got: list[Any]) -> Any:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            needed = unquote(self.path.partition("/needs/")[2])
            is_allowed = not needed or self.headers["Authorization"] == needed
            got.extend([message] if is_allowed else ())
            self.send_response(200 if is_allowed else 401)
            self.end_headers()

        def log_message(self, *_: Any) -> None: ...

    class Server(ThreadingHTTPServer):
        allow_reuse_address = True

    return Server(("127.0.0.1", port), Handler)


def _pagers(port: int, got: list[Any]) -> Any:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            path = urlsplit(self.path).path
            got.append((path, json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
            answer = json.dumps({"requestId": f"request-{len(got)}"}).encode()
            self.send_response(202)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None: ...

    class Server(ThreadingHTTPServer):
        allow_reuse_address = True

    return Server(("127.0.0.1", port), Handler)


def _mail(port: int, got: list[Any]) -> Any:
    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self._say("220 ready")
            for line in self.rfile:
                word = line.split()[0].upper() if line.split() else b""
                if word == b"DATA":
                    self._say("354 go on")
                    got.append(b"".join(iter(self.rfile.readline, b".\r\n")).decode())
                if word == b"QUIT":
                    self._say("221 bye")
                    return
                self._say("250 ok")

        def _say(self, text: str) -> None:
            self.wfile.write(f"{text}\r\n".encode())

    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = True
        daemon_threads = True

    return Server(("127.0.0.1", port), Handler)


@contextmanager
def pagers() -> Iterator[Box]:
    """Answers as PagerDuty and Opsgenie do; `got` holds the path and what was posted."""
    yield from _opened(_pagers)


@contextmanager
def webhook() -> Iterator[Box]:
    """Takes JSON by POST, at `/needs/Bearer%20x` with that authorization only; `got` holds what was posted."""
    yield from _opened(_webhook)


@contextmanager
def mail_server() -> Iterator[Box]:
    """Takes mail; `got` holds each as it came, head and body."""
    yield from _opened(_mail)


def _opened(serve: Any) -> Iterator[Box]:
    box = Box(serve)
    try:
        yield box
    finally:
        box.close()
