"""docker-compose.yml as Compose reads it, and each service's own command line as it runs on this machine.

Inside a container a service has a network name, ports and folders. `Outside` gives each of them a place here: names
become 127.0.0.1, ports become free ones, volumes become folders below one root, and the image's folder is the checkout.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from kafka_hindsight.settings.home import HOME
from lab.drill.cluster import free_ports

IMAGE_HOME = "/opt/hindsight"
"""Where the image has the checkout: the Dockerfile's WORKDIR."""

_VARIABLE = re.compile(r"\$(?:(\$)|\{(\w+)(?:(:?)([-?])([^}]*))?\})")


@dataclass(frozen=True)
class Service:
    """One service as the file declares it, variables replaced."""

    name: str
    declared: Mapping[str, Any]

    @property
    def command(self) -> tuple[str, ...]:
        """Its command line."""
        return _words(self.declared["command"])

    @property
    def healthcheck(self) -> tuple[str, ...]:
        """The command line that tells whether it is well; empty where it has none."""
        test = self.declared.get("healthcheck", {}).get("test", ())
        return ("sh", "-c", test) if isinstance(test, str) and test else tuple(test[1:])

    @property
    def environment(self) -> Mapping[str, str]:
        """Its variables."""
        return {name: str(value) for name, value in self.declared.get("environment", {}).items()}

    @property
    def mounts(self) -> Mapping[str, str]:
        """Volumes, or folders, by the place where it sees them."""
        return {v.split(":")[1]: v.split(":")[0] for v in self.declared.get("volumes", ())}

    @property
    def memory(self) -> int:
        """The most memory that it gets, in MiB."""
        return mib(self.declared["mem_limit"])

    @property
    def waits_for(self) -> Mapping[str, str]:
        """The condition by the service that must meet it first."""
        return {name: dependency["condition"] for name, dependency in self.declared.get("depends_on", {}).items()}

    @property
    def strings(self) -> tuple[str, ...]:
        """Everything in which a name, a port or a path of the stack may stand."""
        return (*self.command, *self.healthcheck, *self.environment.values())


def mib(size: str) -> int:
    """A size as Compose, Spark and Java write it."""
    return int(size[:-1]) * {"m": 1, "g": 1024}[size[-1]]


def stack(variables: Mapping[str, str]) -> dict[str, Service]:
    """The services by name. Raises: KeyError for a variable that the file insists on."""
    declaration = yaml.safe_load((HOME / "docker-compose.yml").read_text(encoding="utf-8"))
    return {name: Service(name, _replaced(declared, variables)) for name, declared in declaration["services"].items()}


def _replaced(value: Any, variables: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {key: _replaced(v, variables) for key, v in value.items()}
    if isinstance(value, list):
        return [_replaced(v, variables) for v in value]
    return _VARIABLE.sub(lambda m: _value(m, variables), value) if isinstance(value, str) else value


def _value(match: re.Match[str], variables: Mapping[str, str]) -> str:
    dollar, name, colon, sign, rest = match.groups()
    if dollar:
        return "$"
    is_set = bool(variables.get(name)) if colon else name in variables
    if not is_set and sign == "?":
        raise KeyError(f"{name}: {rest}")
    return variables[name] if is_set else rest if sign == "-" else ""


def _words(command: str | list[str]) -> tuple[str, ...]:
    return tuple(shlex.split(command) if isinstance(command, str) else command)


@dataclass
class Outside:
    """Where everything of the stack is on this machine. `root` holds a folder for each volume."""

    services: Mapping[str, Service]
    root: Path
    ports: dict[tuple[str, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        named = sorted({place for s in self.services.values() for place in self._places(s)})
        self.ports = dict(zip(named, free_ports(len(named))))

    def _places(self, service: Service) -> Iterator[tuple[str, int]]:
        """The names with ports that a service's strings hold; localhost is the service itself."""
        for name, port in re.findall(r"([a-z][a-z0-9-]*):(\d{4,5})\b", " ".join(service.strings)):
            if name in self.services or name == "localhost":
                yield (service.name if name == "localhost" else name, int(port))

    def folder(self, volume: str) -> Path:
        """The folder that stands for a volume, or the one that was given in its place."""
        place = Path(volume) if volume.startswith("/") else self.root / volume
        place.mkdir(parents=True, exist_ok=True)
        return place

    def port(self, service: str, port: int) -> int:
        """Where a service's port is here."""
        return self.ports[service, port]

    def command(self, service: Service) -> list[str]:
        """Its command line here."""
        program, *words = service.command
        return [program, *(self.here(service, word) for word in words)]

    def healthcheck(self, service: Service) -> list[str]:
        """Its health check here."""
        return [self.here(service, word) for word in service.healthcheck]

    def environment(self, service: Service) -> dict[str, str]:
        """Its variables here."""
        return {name: self.here(service, value) for name, value in service.environment.items()}

    def here(self, service: Service, text: str) -> str:
        """A string of a service, as it must be said here."""
        if text in self.services:
            return "127.0.0.1"
        for (name, port), mapped in self.ports.items():
            text = re.sub(rf"\b{name}:{port}\b", f"127.0.0.1:{mapped}", text)
            if name == service.name:
                text = re.sub(rf"\blocalhost:{port}\b", f"127.0.0.1:{mapped}", text)
                text = re.sub(rf"(?<![\w.:=]){port}(?![\w.:])", str(mapped), text)
        for target, volume in service.mounts.items():
            text = re.sub(rf"(?<![\w./]){target}(?![\w-])", str(self.folder(volume)), text)
        return text.replace(IMAGE_HOME, str(HOME))
