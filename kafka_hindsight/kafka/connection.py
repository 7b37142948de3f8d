"""The connection to a cluster: bootstrap servers and librdkafka's settings, with secrets masked."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kafka_hindsight.shared.exits import BadInput

BOOTSTRAP = "bootstrap.servers"
TIMEOUT = "default.api.timeout.ms"
"""Java's name for the time-out of one call; librdkafka has no such setting, so it is kept here."""

DEFAULT_TIMEOUT_MS = 8_000
_TIMEOUTS = range(1_000, 120_001)

_OPEN = frozenset(
    {BOOTSTRAP, TIMEOUT, "client.id", "security.protocol", "sasl.mechanism", "sasl.mechanisms", "ssl.ca.location"}
)
"""Settings whose values may be shown. Every other setting counts as a secret."""

_PEM = "librdkafka reads PEM files (openssl and keytool convert)"
JAVA_ONLY: Mapping[str, str] = {
    "sasl.jaas.config": "Give sasl.username and sasl.password instead: librdkafka reads no JAAS.",
    "sasl.login.callback.handler.class": "Give sasl.oauthbearer.method=oidc and its settings: there is no Java here.",
    "sasl.client.callback.handler.class": "Take it out: there is no Java here.",
    "ssl.truststore.location": f"Give ssl.ca.location instead: {_PEM}.",
    "ssl.truststore.password": f"Give ssl.ca.location instead, which needs no password: {_PEM}.",
    "ssl.truststore.type": f"Give ssl.ca.location instead: {_PEM}.",
    "ssl.truststore.certificates": "Give ssl.ca.pem instead, with the same text.",
    "ssl.keystore.type": "Take it out: ssl.keystore.location is PKCS#12 here.",
    "ssl.keystore.certificate.chain": "Give ssl.certificate.pem instead, with the same text.",
    "ssl.keystore.key": "Give ssl.key.pem instead, with the same text.",
}
"""Settings of Java clients that librdkafka does not know, and what to set instead."""

_SERVER = re.compile(r"(?:[A-Za-z_]+://)?(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.%]+\])(?::(?P<port>\d{1,5}))?")
_HIDDEN = "***"
_SHORT = 3
"""A secret of so few characters is not masked in messages: it would mask parts of words."""


@dataclass(frozen=True, repr=False)
class Connection:
    """The settings of one cluster. `name` is its name in messages."""

    name: str
    settings: Mapping[str, str]
    timeout_ms: int = DEFAULT_TIMEOUT_MS

    @classmethod
    def of(cls, name: str, settings: Mapping[str, Any]) -> Connection:
        """A connection from librdkafka's settings, as in a file or an Airflow connection.

        Raises:
            BadInput: A sentence for each problem, without secrets.
        """
        values = {str(k).strip(): _text(v) for k, v in settings.items() if v is not None}
        timeout = values.pop(TIMEOUT, str(DEFAULT_TIMEOUT_MS))
        problems = _wrong_servers(name, values.get(BOOTSTRAP, ""))
        if not (timeout.isascii() and timeout.isdigit() and int(timeout) in _TIMEOUTS):
            first, last = _TIMEOUTS[0], _TIMEOUTS[-1]
            problems.append(f"{name} sets {TIMEOUT}={timeout}. Needed: milliseconds from {first} to {last}.")
        problems += [
            f"{name} sets {key}, which only Java's clients know. Needed: librdkafka's settings. {remedy}"
            for key, remedy in JAVA_ONLY.items()
            if key in values
        ]
        if problems:
            raise BadInput(*problems)
        return cls(name, values, int(timeout))

    def described(self) -> str:
        """The settings as text, one a line, secrets masked."""
        values = {**self.settings, TIMEOUT: str(self.timeout_ms)}
        return "\n".join(f"{key} = {value if key in _OPEN else _HIDDEN}" for key, value in sorted(values.items()))

    def __repr__(self) -> str:
        return f"Connection({self.name!r}, {self.settings.get(BOOTSTRAP)!r})"

    def masked(self, text: str) -> str:
        """A message without the secrets that it may quote."""
        secrets = {v for k, v in self.settings.items() if k not in _OPEN and len(v) > _SHORT}
        for secret in sorted(secrets, key=len, reverse=True):
            text = text.replace(secret, _HIDDEN)
        return text

    def to_json(self) -> str:
        """The connection with its secrets, for the stdin of a child process only."""
        return json.dumps({"name": self.name, "settings": {**self.settings, TIMEOUT: str(self.timeout_ms)}})


def from_json(text: str) -> Connection:
    """Read the text of `to_json`. Raises: BadInput if it is something else, without quoting it."""
    try:
        document = json.loads(text)
        return Connection.of(document["name"], document["settings"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, BadInput):
            raise
        raise BadInput(
            "Stdin holds no connection. Needed: JSON with name, and settings with bootstrap.servers."
        ) from None


def from_environment(environment: Mapping[str, str]) -> Connection | None:
    """The connection that BOOTSTRAP and KAFKA_CONFIG name; BOOTSTRAP overrides. None if neither is set.

    Raises:
        BadInput: The file cannot be read, or has settings that cannot be used.
    """
    bootstrap, file = (environment.get(name, "").strip() for name in ("BOOTSTRAP", "KAFKA_CONFIG"))
    if not bootstrap and not file:
        return None
    settings = properties_of(file) if file else {}
    return Connection.of(bootstrap or file, {**settings, **({BOOTSTRAP: bootstrap} if bootstrap else {})})


def properties_of(file: str) -> dict[str, str]:
    """Read a client.properties file. Raises: BadInput if it cannot be read, or for lines without a value."""
    try:
        text = Path(file).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise BadInput(
            f"KAFKA_CONFIG names {file}, and it cannot be read: {why}. Needed: a file of key=value lines."
        ) from None
    settings, wrong = parsed(text)
    if wrong:
        raise BadInput(f"{file} has no key=value in line {', '.join(map(str, wrong))}. Needed: one setting a line.")
    return settings


def parsed(text: str) -> tuple[dict[str, str], list[int]]:
    """The settings of a properties file, and the numbers of the lines that have none.

    A line that ends in a backslash goes on in the next one, as in Java.
    """
    settings: dict[str, str] = {}
    wrong: list[int] = []
    waiting = ""
    for number, line in enumerate(text.splitlines(), start=1):
        entry = waiting + line.strip()
        waiting = ""
        if not entry or entry.startswith(("#", "!")):
            continue
        if entry.endswith("\\"):
            waiting = entry[:-1]
        elif match := re.fullmatch(r"([^=:\s]+)\s*[=:]\s*(.*)", entry):
            settings[match[1]] = match[2]
        else:
            wrong.append(number)
    return settings, wrong


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value).strip()


def _wrong_servers(name: str, text: str) -> list[str]:
    servers = [s.strip() for s in text.split(",") if s.strip()]
    if not servers:
        return [f"{name} names no {BOOTSTRAP}. Needed: host:port,host:port. Set it, or give BOOTSTRAP."]
    wrong = [s for s in servers if not (m := _SERVER.fullmatch(s)) or not 0 < int(m["port"] or 9092) < 65536]
    if "@" in "".join(wrong):
        return [f"{name} has credentials in {BOOTSTRAP}. Needed: host:port,host:port; they go into sasl.username."]
    return [f"{name} names {', '.join(map(repr, wrong))} in {BOOTSTRAP}. Needed: host:port,host:port."] if wrong else []
