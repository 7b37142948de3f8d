"""One real cluster for all live tests of a process: three brokers, with a way in that asks for a password."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from lab.drill.cluster import DrillCluster, free_ports
from lab.drill.jars import NEWEST

USERS = {"admin": "admin-s3cret", "hindsight": "hindsight-s3cret", "nobody": "nobody-s3cret"}
"""Who may come in by SASL/PLAIN. Without SASL everyone is a super user; `admin` is one too."""


@dataclass
class GuardedCluster(DrillCluster):
    """A cluster with a second listener on which SASL/PLAIN and ACLs hold."""

    doors: dict[int, int] = field(default_factory=dict)

    @property
    def guarded_bootstrap(self) -> str:
        """Where clients begin that have a user and a password."""
        return ",".join(f"127.0.0.1:{port}" for port in self.doors.values())

    def _broker(self, number: int, count: int) -> dict[str, str]:
        own = super()._broker(number, count)
        self.doors[number] = free_ports(1)[0]
        users = " ".join(f'user_{name}="{password}"' for name, password in USERS.items())
        return {
            **own,
            "listeners": f"{own['listeners']},DOOR://127.0.0.1:{self.doors[number]}",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,DOOR:SASL_PLAINTEXT",
            "sasl.enabled.mechanisms": "PLAIN",
            "listener.name.door.plain.sasl.jaas.config": "org.apache.kafka.common.security.plain.PlainLoginModule "
            f"required {users};",
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": "User:ANONYMOUS;User:admin",
        }


RUNNING = pytest.StashKey[GuardedCluster]()


@pytest.fixture(scope="module")
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> GuardedCluster:
    """Three brokers of the newest Kafka. A test that stops one starts it again and waits until it is up.

    They end with the last test of this folder, not with the process, whose other tests need none.
    """
    folder: pytest.Collector = request.node.parent
    if RUNNING not in folder.stash:
        running = GuardedCluster.start(NEWEST, tmp_path_factory.mktemp("kafka") / "cluster")
        assert isinstance(running, GuardedCluster)
        folder.stash[RUNNING] = running

        def end() -> None:
            del folder.stash[RUNNING]
            running.end()

        folder.addfinalizer(end)
    return folder.stash[RUNNING]
