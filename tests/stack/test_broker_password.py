"""The stack's brokers, by their own command lines: they answer who knows the password that was drawn alone."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource

from kafka_hindsight.settings.home import HOME
from lab.drill.jars import NEWEST, libs
from setup import stack as setup_stack
from tests.stack.compose import Outside, stack
from tests.stack.running import Running, postgres_programs, remove

BROKERS = ("broker-1", "broker-2", "broker-3")
PASSWORD = "HINDSIGHT_KAFKA_PASSWORD"
OF_JAVA = ("KAFKA_HEAP_OPTS", "KAFKA_JVM_PERFORMANCE_OPTS", "KAFKA_LOG4J_OPTS", "KAFKA_VERSION")
"""Variables of the broker's process: no settings of Kafka."""


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    """The brokers, up and well, in a folder that PostgreSQL's user reaches too."""
    root = Path(tempfile.mkdtemp(prefix="hindsight-brokers-"))
    root.chmod(0o755)
    setup_stack.draw(root / ".env")
    started = Running(Outside(stack(setup_stack.values_of(root / ".env")), root))
    for folder in ("logs", "clients", "truth"):
        (started.outside.folder("input") / folder).mkdir()
    try:
        started.start(*BROKERS)
        yield started
    finally:
        started.end()
        remove(root)


@pytest.fixture(scope="module")
def password(running: Running) -> str:
    return running.outside.services["broker-1"].environment[PASSWORD]


def address(running: Running, port: int) -> str:
    return f"127.0.0.1:{running.outside.port('broker-1', port)}"


def health_check(running: Running, name: str, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """The health check of a broker, with other variables than its own."""
    check = running.outside.healthcheck(running.outside.services[name])
    return subprocess.run(check, cwd=HOME, env={**os.environ, **environment}, capture_output=True, text=True)


def test_broker_health_check_needs_password(running: Running, password: str) -> None:
    assert [health_check(running, name, {PASSWORD: password}).returncode for name in BROKERS] == [0, 0, 0]
    guessed = health_check(running, "broker-1", {PASSWORD: "guessed"})
    assert guessed.returncode == 1 and "does not answer" in guessed.stderr


def test_broker_knows_each_setting_of_its_environment(running: Running, password: str) -> None:
    """A name that Kafka does not know has no value in its answer."""
    login = {"sasl.mechanism": "PLAIN", "sasl.username": "hindsight", "sasl.password": password}
    client = {"bootstrap.servers": address(running, 9092), "security.protocol": "SASL_PLAINTEXT", **login}
    broker = ConfigResource(ConfigResource.Type.BROKER, "1")
    admin = AdminClient(client)
    answer = admin.describe_configs([broker])[broker].result(30)
    environment = running.outside.environment(running.outside.services["broker-1"])
    names = {n: n.removeprefix("KAFKA_").lower() for n in environment if n.startswith("KAFKA_") and n not in OF_JAVA}
    settings = {names[n].replace("__", "-").replace("_", ".").replace("-", "_"): environment[n] for n in names}
    open_ones = {name: value for name, value in settings.items() if not name.endswith("jaas.config")}
    assert len(open_ones) > 15
    assert {name: answer[name].value for name in open_ones} == open_ones


def test_client_without_password_is_refused(running: Running) -> None:
    with pytest.raises(KafkaException):
        AdminClient({"bootstrap.servers": address(running, 9092), "log_level": 0}).list_topics(timeout=5)


def test_controllers_need_password(running: Running, password: str, tmp_path: Path) -> None:
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    asked = {}
    for secret in (password, "guessed"):
        login = tmp_path / secret
        login.write_text(
            "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
            f'sasl.jaas.config={module} required username="hindsight" password="{secret}";\n'
        )
        tool = ["java", "-Xmx96m", "-cp", f"{libs(NEWEST)}/*", "org.apache.kafka.tools.MetadataQuorumCommand"]
        words = ["--bootstrap-controller", address(running, 9093), "--command-config", str(login)]
        asked[secret] = subprocess.run([*tool, *words, "describe", "--status"], capture_output=True, text=True)
    assert "LeaderId:" in asked[password].stdout, asked[password].stderr
    assert asked["guessed"].returncode and "Authentication failed" in asked["guessed"].stderr + asked["guessed"].stdout


def test_airflow_reads_brokers_with_kafka_config_of_its_init(running: Running, password: str) -> None:
    if postgres_programs() is None:
        pytest.exit("Found: no PostgreSQL below /usr/lib/postgresql. Needed: its server. Install postgresql.", 2)
    running.start("airflow-init")
    own = running.outside.environment(running.outside.services["airflow-scheduler"])
    file = Path(own["KAFKA_CONFIG"])
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and password in file.read_text()
    assert password not in " ".join(own.values())
    environment = {**os.environ, **{name: own[name] for name in ("BOOTSTRAP", "KAFKA_CONFIG")}}
    words = [sys.executable, "-m", "kafka_hindsight.cli.main", "snapshot", "--print"]
    read = subprocess.run(words, cwd=HOME, env=environment, capture_output=True, text=True)
    assert {b["id"] for b in json.loads(read.stdout)["brokers"]} == {1, 2, 3}, read.stderr
    refused = subprocess.run(words, cwd=HOME, env={**environment, "KAFKA_CONFIG": ""}, capture_output=True, text=True)
    assert refused.returncode


def test_members_log_in_and_password_stays_in_private_files(running: Running, password: str) -> None:
    members = running.outside.services["members"]
    command = [*running.outside.command(members), "--rest", "0", "--seed", "7"]
    command[0] = sys.executable
    own = {**os.environ, **running.outside.environment(members)}
    for scenario in ("leave", "crash_librdkafka"):
        played = subprocess.run(
            [*command, "--rounds", "1", "--scenarios", scenario], cwd=HOME, env=own, capture_output=True, text=True
        )
        assert played.returncode == 0 and " done (" in played.stderr, played.stderr
    assert password not in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
    holders = {
        path: stat.S_IMODE(path.stat().st_mode)
        for path in running.outside.root.rglob("*")
        if path.is_file() and password.encode() in path.read_bytes()
    }
    names = {f"broker-{n}/config/server.properties" for n in (1, 2, 3)} | {".env", "airflow/config/kafka.properties"}
    assert {str(path.relative_to(running.outside.root)) for path in holders} == names
    assert set(holders.values()) == {0o600}
