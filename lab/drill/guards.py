"""Listeners that do not let everybody in: passwords that can be withdrawn, certificates that end, an authorizer."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.drill.libraries import JAVA

GUARDS = "listeners that ask who a client is"
PASSWORD, CERTIFICATE = "password", "certificate"
"""How a member shows who it is. Its user is its client id. Brokers reach each other by certificates."""

PROTOCOLS: Mapping[str, str] = {PASSWORD: "SASL_PLAINTEXT", CERTIFICATE: "SSL"}

SECRET = "changeit"
_LONG_WINDOWS = {"quota.window.size.seconds": "20", "quota.window.num": "2"}
"""A request is held back no longer than a window, which is 1 s by default: no session ends over that
(ClientRequestQuotaManager.maxThrottleTimeMs)."""

_SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required"

BROKER = "broker"
"""The user of a broker that reaches the others by a password."""


def _credentials(user: str) -> str:
    return f'{_SCRAM} username="{user}" password="{SECRET}";'


def why_none() -> str | None:
    """Why this machine cannot play them; None where it can."""
    lacking = [tool for tool in ("keytool", "openssl") if not shutil.which(tool)]
    return f"Found: no {' and no '.join(lacking)}. Install it to play them." if lacking else None


@dataclass(frozen=True)
class Guard:
    """The certificates of a drill, in a folder, and what brokers and clients are set to."""

    folder: Path

    @classmethod
    def make(cls, folder: Path) -> Guard:
        """A certificate authority that all trust, and the brokers' certificate."""
        folder.mkdir(parents=True)
        guard = cls(folder)
        guard._keytool("ca", "-genkeypair", "-keyalg", "EC", "-dname", "CN=drill", "-ext", "bc:c")
        guard._keytool("ca", "-exportcert", "-rfc", "-file", guard._file("ca.pem"))
        guard.certify("broker", 86_000)
        return guard

    def certify(self, name: str, seconds: int, user: str = "") -> None:
        """Give a name a certificate that ends in so many seconds: at least a second, and less than a day."""
        request, signed = self._file(f"{name}.csr"), self._file(f"{name}.crt")
        self._keytool(name, "-genkeypair", "-keyalg", "EC", "-dname", f"CN={user or name}")
        self._keytool(name, "-certreq", "-file", request)
        limits = ("-startdate", f"-1d+{seconds}S", "-validity", "1", "-ext", "SAN=IP:127.0.0.1")
        self._keytool("ca", "-gencert", "-infile", request, "-outfile", signed, *limits)
        self._keytool(name, "-importcert", "-noprompt", "-file", self._file("ca.pem"), alias="ca")
        self._keytool(name, "-importcert", "-noprompt", "-file", signed)
        store = ("-in", self._file(f"{name}.p12"), "-out", self._file(f"{name}.pem"))
        subprocess.run(
            ["openssl", "pkcs12", "-nodes", "-passin", f"pass:{SECRET}", *store], check=True, capture_output=True
        )

    def _file(self, name: str) -> str:
        return str(self.folder / name)

    def _keytool(self, store: str, do: str, *words: str, alias: str = "") -> None:
        place = ("-keystore", self._file(f"{store}.p12"), "-storepass", SECRET, "-alias", alias or store)
        subprocess.run(["keytool", do, *words, *place], check=True, capture_output=True)

    def of_broker(self, plain: str, ports: Mapping[str, int], host: str) -> dict[str, str]:
        """The settings of a broker that has these listeners beside a plain one, whose clients may do everything."""
        listeners = ",".join(f"{kind.upper()}://{host}:{port}" for kind, port in ports.items())
        protocols = ",".join(f"{kind.upper()}:{PROTOCOLS[kind]}" for kind in ports)
        return {
            **self.of_controller(),
            **_LONG_WINDOWS,
            "listeners": f"{plain},{listeners}",
            "inter.broker.listener.name": CERTIFICATE.upper(),
            "listener.security.protocol.map": f"PLAINTEXT:PLAINTEXT,CONTROLLER:SSL,{protocols}",
            "sasl.enabled.mechanisms": "SCRAM-SHA-256",
            "listener.name.password.scram-sha-256.sasl.jaas.config": f"{_SCRAM};",
            "listener.name.password.scram-sha-256.connections.max.reauth.ms": "6000",
            **self.of_listener(CERTIFICATE, "broker"),
        }

    def of_controller(self) -> dict[str, str]:
        """The settings of every node. Brokers, and whoever comes by a plain listener, may do everything."""
        return {
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": f"User:ANONYMOUS;User:CN=broker;User:{BROKER}",
            "listener.security.protocol.map": "CONTROLLER:SSL",
            **self.of_listener("controller", "broker"),
        }

    def of_listener(self, listener: str, name: str) -> dict[str, str]:
        """The settings of a node that shows a name's certificate at a listener, and asks others for theirs."""
        own = {k: v for store in self._stores(name) for k, v in store.items()} | {"ssl.client.auth": "required"}
        return {f"listener.name.{listener}.{key}": value for key, value in own.items()}

    @staticmethod
    def of_follower() -> dict[str, str]:
        """The settings of a broker that reaches the others by a password."""
        return {
            "inter.broker.listener.name": PASSWORD.upper(),
            "sasl.mechanism.inter.broker.protocol": "SCRAM-SHA-256",
            f"listener.name.{PASSWORD}.scram-sha-256.sasl.jaas.config": _credentials(BROKER),
        }

    def _stores(self, name: str) -> Sequence[dict[str, str]]:
        return [
            {f"ssl.{kind}.location": self._file(f"{store}.p12"), f"ssl.{kind}.password": SECRET}
            for kind, store in (("keystore", name), ("truststore", "broker"))
        ]

    def of_client(self, kind: str, user: str, library: str) -> dict[str, str]:
        """The settings of a client that shows so who it is."""
        own = {"security.protocol": PROTOCOLS[kind]}
        if kind == PASSWORD:
            java = {"sasl.jaas.config": _credentials(user)}
            other = {"sasl.username": user, "sasl.password": SECRET}
            return {**own, "sasl.mechanism": "SCRAM-SHA-256", **(java if library == JAVA else other)}
        if library == JAVA:
            return {**own, **{k: v for store in self._stores(user) for k, v in store.items()}}
        pem = {"ssl.certificate.location": self._file(f"{user}.pem"), "ssl.key.location": self._file(f"{user}.pem")}
        return {**own, "ssl.ca.location": self._file("ca.pem"), **pem}
