"""`python -m lab.drill.relay FD PORT`: what comes in at a socket that was opened elsewhere goes to a port of this host.

A socket stays in the network namespace in which it was opened, and whoever inherits it may accept from it: so a JVM on
a host of its own is driven as one beside us, and is so while its host is cut off.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from functools import partial

_CHUNK = 65_536


async def relay(listening: int, port: int) -> None:
    """Serves until the process is killed."""
    server = await asyncio.start_server(partial(_serve, port), sock=socket.socket(fileno=listening))
    await server.serve_forever()


async def _serve(port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    there, back = await asyncio.open_connection("127.0.0.1", port)
    await asyncio.gather(_pump(reader, back), _pump(there, writer))


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while some := await reader.read(_CHUNK):
            writer.write(some)
            await writer.drain()
    except ConnectionError:
        pass  # One side was killed: the other one is told by the end of its stream.
    writer.close()


if __name__ == "__main__":
    asyncio.run(relay(*map(int, sys.argv[1:])))
