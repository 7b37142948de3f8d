"""Hadoop on this machine, out of the jar of its own tests and Spark's jars: HDFS in one process, YARN in two."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from kafka_hindsight.start import java, launch
from lab.drill.cluster import free_ports
from setup import maven
from setup.build import BUILD, LOCKS

_LOCK = LOCKS / "hadoop.sha256"
_GROUPS = {
    "bcpkix-jdk18on": "org.bouncycastle",
    "bcprov-jdk18on": "org.bouncycastle",
    "bcutil-jdk18on": "org.bouncycastle",
    "hadoop-client-minicluster": "org.apache.hadoop",
    "junit-jupiter-api": "org.junit.jupiter",
    "junit-platform-commons": "org.junit.platform",
    "opentest4j": "org.opentest4j",
}
"""Hadoop's classes for tests, and what they ask of JUnit and Bouncy Castle. All else is among Spark's jars."""

_STARTS_WITHIN = 120
_NODE_MB = 8192
QUEUE = "audits"


@contextmanager
def yarn(folder: Path) -> Iterator[Path]:
    """A resource manager with one queue, and one node. Takes: an empty folder, in which they work.

    Gives: the folder that HADOOP_CONF_DIR names.
    """
    server = "org.apache.hadoop.yarn.server"
    asked = ["scheduler", "resource-tracker", "admin", "webapp"]
    manager, localizer, page, *others = (f"127.0.0.1:{port}" for port in free_ports(3 + len(asked)))
    (folder / "core-site.xml").write_text(_site({"fs.defaultFS": "file:///", "hadoop.tmp.dir": str(folder)}))
    (folder / "yarn-site.xml").write_text(
        _site(
            {
                "yarn.resourcemanager.address": manager,
                **{f"yarn.resourcemanager.{n}.address": at for n, at in zip(asked, others, strict=True)},
                "yarn.nodemanager.address": "127.0.0.1:0",
                "yarn.nodemanager.localizer.address": localizer,
                "yarn.nodemanager.webapp.address": page,
                "yarn.nodemanager.resource.memory-mb": str(_NODE_MB),
                "yarn.nodemanager.vmem-check-enabled": "false",
                "yarn.nodemanager.disk-health-checker.enable": "false",
                "yarn.scheduler.capacity.root.queues": QUEUE,
                f"yarn.scheduler.capacity.root.{QUEUE}.capacity": "100",
            }
        )
    )
    with ExitStack() as started:
        for main, said in (
            ("resourcemanager.ResourceManager", "Transitioned to active state"),
            ("nodemanager.NodeManager", "Registered with ResourceManager"),
        ):
            name = main.rpartition(".")[2]
            started.enter_context(_running(folder, name, [f"{server}.{main}"], lambda log, s=said: s in log))  # type: ignore[misc]
        yield folder


@contextmanager
def _running(folder: Path, name: str, main: Sequence[str], is_up: Callable[[str], bool]) -> Iterator[None]:
    """A process of Hadoop's, as soon as it is up. It is killed at the end."""
    within = [f"-D{p}={folder}" for p in ("java.io.tmpdir", "hadoop.tmp.dir", "yarn.log.dir")]
    command = [
        java.program(),
        "-Xmx512m",
        "-Dlog4j2.level=INFO",
        *within,
        "-cp",
        f"{folder}:{_jars()}/*:{launch.spark_home()}/jars/*",
        *main,
    ]
    path = folder / f"{name}.log"
    with path.open("w") as log, subprocess.Popen(command, cwd=folder, stdout=log, stderr=log) as process:
        try:
            until = time.monotonic() + _STARTS_WITHIN
            while not is_up(said := path.read_text()):
                assert process.poll() is None and time.monotonic() < until, said
                time.sleep(0.2)
            yield
        finally:
            process.kill()


def _site(settings: Mapping[str, str]) -> str:
    properties = (f"<property><name>{n}</name><value>{value}</value></property>" for n, value in settings.items())
    return f"<configuration>{''.join(properties)}</configuration>"


def _jars() -> Path:
    folder, wanted = BUILD / "hadoop", maven.locked(_LOCK)
    with maven.alone(folder):
        if not folder.exists() or maven.differences(folder, wanted):
            named = (name.removesuffix(".jar").rpartition("-") for name in wanted)
            modules = [maven.Module(_GROUPS[name], name, version) for name, _, version in named]
            maven.fetch(modules, wanted, folder, BUILD / "ivy", is_transitive=False)
    return folder
