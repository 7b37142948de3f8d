"""A JVM under control: Kafka's own Java clients, driven from Python without a compiler."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from py4j.java_gateway import GatewayParameters, JavaGateway
from py4j.protocol import Py4JNetworkError

from kafka_hindsight.settings.home import HOME
from kafka_hindsight.start.launch import spark_home
from lab.drill import processes
from lab.drill.jars import uses_log4j2

LOGGING = Path(__file__).parent / "logging"
_STARTS_WITHIN = 60
FLAGS = ("-Xmx96m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Duser.timezone=UTC")


class Jvm:
    """One process with Kafka's jars. It ends with this process, or when it is asked to.

    `also` is a folder of more jars; `within` the beginning of its command on a host of its own (lab.drill.hosts);
    `answers_within`, the seconds after which a call without an answer fails;
    `collects`: an object in the JVM goes with its proxy here. Python's garbage collector then calls the JVM whenever it
    likes, inside any call of any thread: never let it do so to a JVM that may be suspended. Without it an object goes
    by `forget`.
    Raises Py4JNetworkError where the JVM does not start in time.
    """

    def __init__(
        self,
        libs: Path,
        version: str,
        log: Path,
        answers_within: float,
        collects: bool = False,
        also: Path | None = None,
        within: Sequence[str] = (),
    ) -> None:
        py4j = next((spark_home() / "jars").glob("py4j-*.jar"))
        options = [*FLAGS, f"-Ddrill.log={log}", _logging(version), "-cp", f"{py4j}:{libs}/*:{also or libs}/*"]
        self.process = processes.start(
            [*within, "java", *options, "py4j.GatewayServer", "--die-on-broken-pipe", "--enable-auth", "0"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=log.parent,
            text=True,
        )
        port, token = self._address()
        self._relay: subprocess.Popen[Any] | None = None
        if within:
            self._relay, port = _relayed(within, port)
        self._gateway = JavaGateway(
            gateway_parameters=GatewayParameters(
                port=port, auth_token=token, read_timeout=answers_within, enable_memory_management=collects
            )
        )
        self.java: Any = self._gateway.jvm

    def _address(self) -> tuple[int, str]:
        """The port and the secret, which the JVM prints first; whatever it prints later is read and dropped."""
        assert self.process.stdout
        too_late = threading.Timer(_STARTS_WITHIN, self.process.kill)
        too_late.start()
        lines = [self.process.stdout.readline().strip() for _ in range(2)]
        too_late.cancel()
        if not all(lines):
            processes.kill(self.process)
            raise Py4JNetworkError(f"Needed within {_STARTS_WITHIN} s: a JVM that answers. Found: it ended.")
        threading.Thread(target=self.process.stdout.read, daemon=True).start()
        return int(lines[0]), lines[1]

    def forget(self, reference: Any) -> None:
        """Let go of an object in the JVM."""
        self._gateway.detach(reference)

    def map(self, pairs: Mapping[Any, Any]) -> Any:
        """A java.util.HashMap."""
        java_map = self.java.java.util.HashMap()
        for key, value in pairs.items():
            java_map.put(key, value)
        return java_map

    def array(self, kind: Any, values: Sequence[Any]) -> Any:
        """An array of a class."""
        java_array = self._gateway.new_array(kind, len(values))
        for place, value in enumerate(values):
            java_array[place] = value
        return java_array

    def list(self, values: Any) -> Any:
        """A java.util.ArrayList."""
        java_list = self.java.java.util.ArrayList()
        for value in values:
            java_list.add(value)
        return java_list

    def is_running(self) -> bool:
        """Whether the process lives (a stopped one does)."""
        return bool(self.process.poll() is None)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process and to nothing else."""
        os.kill(self.process.pid, number)

    def end(self) -> None:
        """Kills the process, stopped or not."""
        processes.kill(self.process)
        self._let_go()

    def exit(self, patience: float = 10) -> None:
        """Let the process end by itself, as a program does that has done its work."""
        if self.is_running():
            assert self.process.stdin
            self.process.stdin.close()
            try:
                self.process.wait(timeout=patience)
            except subprocess.TimeoutExpired:
                processes.kill(self.process)
        self._let_go()

    def _let_go(self) -> None:
        if self._relay:
            processes.kill(self._relay)
        self._gateway.close()


def _relayed(within: Sequence[str], port: int) -> tuple[subprocess.Popen[Any], int]:
    """A port of this host behind which lies one of another host, and the process in between."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        relay = [*within, sys.executable, "-m", "lab.drill.relay", str(listening.fileno()), str(port)]
        process = processes.start(relay, pass_fds=[listening.fileno()], cwd=HOME, stdin=subprocess.DEVNULL)
        return process, int(listening.getsockname()[1])


def _logging(version: str) -> str:
    if uses_log4j2(version):
        return f"-Dlog4j2.configurationFile={LOGGING / 'client2.properties'}"
    return f"-Dlog4j.configuration={(LOGGING / 'client.properties').as_uri()}"
