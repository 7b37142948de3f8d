"""Members of groups that frameworks form: applications of Kafka Streams, workers of Kafka Connect."""

from __future__ import annotations

import json
import signal
import subprocess
import time
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError

from lab.drill import processes
from lab.drill.cluster import free_ports
from lab.drill.jars import NEWEST, libs
from lab.drill.java import FLAGS, LOGGING, Jvm
from lab.drill.libraries import JARS
from lab.drill.members import InJvm, JavaMember, MemberFault

_LEAVES_WITHIN = 60
_MEMORY = "-Xmx256m"
"""Connect scans the classes of its plugins when it starts."""

_OF_CONNECTOR = "4.3.1"
"""The newest Kafka whose file connector is published. 4.4.0 moved its AppInfoParser, so its own clients follow."""

_ANSWERS_WITHIN = 90
PROTOCOL = "group.protocol"
_SERDE = "org.apache.kafka.common.serialization.Serdes$ByteArraySerde"
_CONVERTER = "org.apache.kafka.connect.converters.ByteArrayConverter"

THREAD = "-StreamThread-1-consumer"
"""What follows an application's client id in that of its consumer. Source: StreamsConfig, StreamThread."""


class OfFramework:
    """A member that a framework drives: it subscribes and polls by itself."""

    def subscribe(self, topics: Sequence[str], pattern: str | None = None) -> None:
        raise MemberFault("A framework subscribes by itself.")

    def slow(self, ms: int) -> None:
        raise MemberFault("A framework polls by itself.")

    def enforce_rebalance(self) -> None:
        raise MemberFault("A framework asks for rebalances by itself.")

    def owned(self) -> list[str]:
        raise MemberFault("A framework does not say what its consumers own.")


class StreamsMember(OfFramework, InJvm):
    """An application with one thread, which writes what it reads from all topics but the last one to that one."""

    def __init__(self, log: Path, config: Mapping[str, str], topics: Sequence[str]) -> None:
        self._jvm = Jvm(libs(NEWEST), NEWEST, log, _ANSWERS_WITHIN, also=JARS)
        self._streams: Any = self._build(config, topics, log.with_suffix(".state"))

    def join(self) -> None:
        self._streams.start()

    def leave(self) -> None:
        try:
            self._streams.close(self._jvm.java.java.time.Duration.ofSeconds(_LEAVES_WITHIN))
        except Py4JError as error:
            raise MemberFault(f"An application of Streams could not close: {error}") from None
        self._jvm.exit()

    def _build(self, config: Mapping[str, str], topics: Sequence[str], state: Path) -> Any:
        streams, properties = self._jvm.java.org.apache.kafka.streams, self._jvm.java.java.util.Properties()
        for name, value in {
            "bootstrap.servers": config["bootstrap.servers"],
            "application.id": config["group.id"],
            "client.id": config["client.id"].removesuffix(THREAD),
            "state.dir": str(state),
            "default.key.serde": _SERDE,
            "default.value.serde": _SERDE,
            **{
                f"main.consumer.{name}": value
                for name, value in config.items()
                if name.endswith((".ms", ".instance.id"))
            },
            **{name: value for name, value in config.items() if name == PROTOCOL},
        }.items():
            properties.put(name, value)
        builder = streams.StreamsBuilder()
        builder.stream(self._jvm.list(topics[:-1])).to(topics[-1])
        return streams.KafkaStreams(builder.build(), properties)


class ShareMember(JavaMember):
    """A consumer of a share group, which takes no setting of how partitions are given out."""

    def __init__(self, log: Path, config: Mapping[str, str], topics: Sequence[str]) -> None:
        share_config = {name: value for name, value in config.items() if name != "auto.offset.reset"}
        super().__init__(libs(NEWEST), NEWEST, log, share_config, topics)

    def _consumer(self) -> Any:
        return self._jvm.java.org.apache.kafka.clients.consumer.KafkaShareConsumer(self._settings())


class ConnectMember(OfFramework):
    """A worker of a distributed Connect, driven through its REST interface."""

    def __init__(self, log: Path, config: Mapping[str, str], topics: Sequence[str]) -> None:
        self._log, self._topics = log, topics
        self._rest = f"http://127.0.0.1:{free_ports(1)[0]}"
        properties = log.with_suffix(".properties")
        properties.write_text("".join(f"{name}={value}\n" for name, value in self._settings(config).items()))
        logging = [f"-Ddrill.log={log}", f"-Dlog4j2.configurationFile={LOGGING / 'connect.properties'}"]
        main = "org.apache.kafka.connect.cli.ConnectDistributed"
        jars = f"{libs(NEWEST)}/*:{libs(_OF_CONNECTOR)}/kafka-clients-{_OF_CONNECTOR}.jar"
        self._command = ["java", *FLAGS, _MEMORY, *logging, "-cp", jars, main, str(properties)]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """Where its REST interface answers."""
        return self._rest

    def join(self) -> None:
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._process = processes.start(self._command, cwd=self._log.parent, **quiet)

    def configure(self, connector: str, tasks: int) -> None:
        """Give a connector so many tasks; one that is not there yet is created."""
        settings = {
            "connector.class": "org.apache.kafka.connect.file.FileStreamSinkConnector",
            "tasks.max": str(tasks),
            "topics": ",".join(self._topics),
            "file": str(self._log.with_suffix(".sink")),
        }
        headers = {"Content-Type": "application/json"}
        place, body = f"{self._rest}/connectors/{connector}/config", json.dumps(settings).encode()
        until = time.monotonic() + _ANSWERS_WITHIN
        while True:
            try:
                request = urllib.request.Request(place, method="PUT", data=body, headers=headers)
                urllib.request.urlopen(request, timeout=_ANSWERS_WITHIN).close()
                return
            except OSError as error:  # A worker that rebalances refuses.
                if time.monotonic() > until:
                    raise MemberFault(f"Connect did not take the connector: {error}") from None
                time.sleep(1)

    def leave(self) -> None:
        self._signal(signal.SIGTERM)
        try:
            if self._process:
                self._process.wait(_LEAVES_WITHIN)
        except subprocess.TimeoutExpired:
            raise MemberFault(f"A worker of Connect did not end within {_LEAVES_WITHIN} s.") from None

    def kill(self) -> None:
        if self._process:
            processes.kill(self._process)

    def pause(self) -> None:
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def end(self) -> None:
        self.kill()

    def _signal(self, number: signal.Signals) -> None:
        if self._process:
            self._process.send_signal(number)

    def _settings(self, config: Mapping[str, str]) -> dict[str, str]:
        group = config["group.id"]
        storage = {f"{of}.storage.topic": f"{group}-{of}" for of in ("config", "offset", "status")}
        return {
            **{name: value for name, value in config.items() if name != "auto.offset.reset"},
            **storage,
            **{name.replace("topic", "replication.factor"): "3" for name in storage},
            "key.converter": _CONVERTER,
            "value.converter": _CONVERTER,
            "listeners": self._rest,
            "plugin.path": str(JARS),
            "rebalance.timeout.ms": "9000",
            "scheduled.rebalance.max.delay.ms": "10000",
        }
