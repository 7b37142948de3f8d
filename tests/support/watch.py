"""What a process does to folders and to a port, seen from outside of it: Linux's inotify, and a listening socket."""

from __future__ import annotations

import ctypes
import os
import socket
import struct
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

_OPENED, _READ, _OTHERS = 0x20, 0x1, 0x2 | 0x4 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400
"""Opened; read; modified, attributes changed, moved from and to, created, deleted, deleted itself."""
_ADDED = 0x20000000
"""To what is watched in the same folder already."""

_HEAD = struct.Struct("iIII")


@dataclass
class Watch:
    """What has happened since it was asked last, and the address at which it listens."""

    url: str
    _inotify: int
    _places: dict[int, str] = field(default_factory=dict)
    _connections: list[str] = field(default_factory=list)

    def happened(self) -> list[str]:
        """What was read, written or connected to, each in a few words."""
        found: list[str] = []
        with suppress(BlockingIOError):
            while data := os.read(self._inotify, 65536):
                found += self._events(data)
        connected, self._connections[:] = list(self._connections), []
        return found + connected

    def _events(self, data: bytes) -> Iterator[str]:
        at = 0
        while at < len(data):
            watched, mask, _, length = _HEAD.unpack_from(data, at)
            name = data[at + _HEAD.size : at + _HEAD.size + length].rstrip(b"\0").decode(errors="replace")
            at += _HEAD.size + length
            yield f"{'read' if mask & (_OPENED | _READ) else 'written'}: {self._places.get(watched, '?')}/{name}"


@contextmanager
def watching(untouched: tuple[Path, ...], unwritten: tuple[Path, ...]) -> Iterator[Watch]:
    """A watch over folders with all that lies in them, and over a port of its own, which answers nothing.

    Takes: folders in which nothing may be read or written, and those in which nothing may be written.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    inotify = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    with socket.create_server(("127.0.0.1", 0)) as server:
        watch = Watch(f"https://127.0.0.1:{server.getsockname()[1]}", inotify)
        masks: Mapping[int, tuple[Path, ...]] = {_OTHERS | _OPENED | _READ: untouched, _OTHERS: unwritten}
        folders = [
            (m, f) for m, roots in masks.items() for root in roots for f in (root, *root.rglob("*")) if f.is_dir()
        ]
        for mask, folder in folders:  # listed before: to list one that is watched would be an event
            watch._places[libc.inotify_add_watch(inotify, os.fsencode(folder), mask | _ADDED)] = str(folder)
        listener = threading.Thread(target=_listen, args=(server, watch._connections), daemon=True)
        listener.start()
        try:
            yield watch
        finally:
            os.close(inotify)
            server.shutdown(socket.SHUT_RDWR)


def _listen(server: socket.socket, connections: list[str]) -> None:
    with suppress(OSError):
        while True:
            connection, _ = server.accept()
            connections.append("connected")
            connection.close()
