"""A JVM under control: Kafka's own Java clients, driven from Python without a compiler."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

from drill.jars import uses_log4j2
from spark_jobs.shared.launch import spark_home

_LOGGING = Path(__file__).parent / "logging"
_FLAGS = ("-Xmx96m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Duser.timezone=UTC")


class Jvm:
    """One process with Kafka's jars. It ends with this process, or when it is asked to."""

    def __init__(self, libs: Path, version: str, log: Path) -> None:
        port, token, self.process = launch_gateway(
            jarpath=str(next((spark_home() / "jars").glob("py4j-*.jar"))),
            classpath=f"{libs}/*",
            javaopts=[*_FLAGS, f"-Ddrill.log={log}", _logging(version)],
            die_on_exit=True,
            create_new_process_group=True,
            enable_auth=True,
            return_proc=True,
            cwd=str(log.parent),
        )
        self._gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port, auth_token=token))
        self.java: Any = self._gateway.jvm

    def map(self, pairs: Mapping[Any, Any]) -> Any:
        """A java.util.HashMap."""
        made = self.java.java.util.HashMap()
        for key, value in pairs.items():
            made.put(key, value)
        return made

    def list(self, values: Any) -> Any:
        """A java.util.ArrayList."""
        made = self.java.java.util.ArrayList()
        for value in values:
            made.add(value)
        return made

    def is_running(self) -> bool:
        """Whether the process lives (a stopped one does)."""
        return bool(self.process.poll() is None)

    def signal(self, number: signal.Signals) -> None:
        """Sends a signal to the process and to nothing else."""
        os.kill(self.process.pid, number)

    def end(self) -> None:
        """Kills the process, stopped or not."""
        if self.is_running():
            self.process.kill()
        self.process.wait(timeout=10)
        self._gateway.close()

    def exit(self, patience: float = 10) -> None:
        """Lets the process end by itself, as a program does that has done its work."""
        if self.is_running():
            self.process.stdin.close()
            try:
                self.process.wait(timeout=patience)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self._gateway.close()


def _logging(version: str) -> str:
    if uses_log4j2(version):
        return f"-Dlog4j2.configurationFile={_LOGGING / 'client2.properties'}"
    return f"-Dlog4j.configuration={(_LOGGING / 'client.properties').as_uri()}"
