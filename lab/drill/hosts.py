"""Hosts of their own for members: network namespaces on one bridge, which Linux gives to root alone."""

from __future__ import annotations

import os
import random
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

_ANSWERS_WITHIN = 20
_OWN = 1
"""The last number of the bridge's address, at which the brokers listen; hosts count on from it."""

_OF_BRIDGE = "02:00:00:00:00:01"
"""Without an address of its own a bridge takes that of a port: whoever is cut off would change it for all others."""

_QUEUE = ("burst", "1600", "latency", "400ms")
"""One packet at a time; what would wait longer than this is dropped, as a full link does."""


class HostFault(Exception):
    """The system refused a namespace, a link or a queue; the text holds its words."""


@dataclass
class Hosts:
    """Hosts by name, each with an address of its own. `address`: where they and this machine reach each other."""

    name: str
    net: str
    numbers: dict[str, int] = field(default_factory=dict)
    _making: threading.Lock = field(default_factory=threading.Lock)

    @property
    def address(self) -> str:
        """This machine's address on the bridge."""
        return f"{self.net}.{_OWN}"

    def address_of(self, host: str) -> str:
        """The address of a host that has been made."""
        return f"{self.net}.{self.numbers[host]}"

    def within(self, host: str) -> Sequence[str]:
        """The beginning of a command that runs on a host. The host is made where it is missing."""
        with self._making:
            if host not in self.numbers:
                self._make(host)
        return ("ip", "netns", "exec", self._space(host))

    def cut(self, host: str) -> None:
        """Pulls the cable of a host: nothing goes in or out, and neither side hears why."""
        _ip("link", "set", self._link(host), "down")

    def join(self, host: str) -> None:
        """Plugs it in again."""
        _ip("link", "set", self._link(host), "up")

    def slow(self, host: str, rate: str) -> None:
        """Let no more than so much through to a host and from it, such as 16kbit."""
        for within, device in ((), self._link(host)), (self.within(host), "eth0"):
            _run(*within, "tc", "qdisc", "replace", "dev", device, "root", "tbf", "rate", rate, *_QUEUE)

    def hasten(self, host: str) -> None:
        """Let everything through again."""
        for within, device in ((), self._link(host)), (self.within(host), "eth0"):
            _run(*within, "tc", "qdisc", "del", "dev", device, "root")

    def end(self) -> None:
        """Take every host away, and the bridge. Processes that still run on a host keep it until they end."""
        for host in self.numbers:
            with suppress(HostFault):
                _ip("netns", "del", self._space(host))
        with suppress(HostFault):
            _ip("link", "del", self.name)

    def _make(self, host: str) -> None:
        self.numbers[host] = number = len(self.numbers) + _OWN + 1
        space, link = self._space(host), self._link(host)
        _ip("netns", "add", space)
        _ip("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", space)
        _ip("link", "set", link, "master", self.name, "up")
        for words in (
            ("addr", "add", f"{self.net}.{number}/24", "dev", "eth0"),
            ("link", "set", "eth0", "up"),
            ("link", "set", "lo", "up"),
        ):
            _ip("-n", space, *words)

    def _space(self, host: str) -> str:
        return f"{self.name}-{host}"

    def _link(self, host: str) -> str:
        return f"{self.name}.{self.numbers[host]}"


@contextmanager
def hosts() -> Iterator[Hosts]:
    """A network for hosts, as long as the block lasts. Raises HostFault where the system refuses it."""
    rng = random.SystemRandom()
    network = Hosts(f"hs{os.getpid()}", f"10.{rng.randrange(64, 255)}.{rng.randrange(1, 255)}")
    _ip("link", "add", network.name, "address", _OF_BRIDGE, "type", "bridge")
    try:
        _ip("addr", "add", f"{network.address}/24", "dev", network.name)
        _ip("link", "set", network.name, "up")
        yield network
    finally:
        network.end()


def why_none() -> str | None:
    """Why this machine can have no hosts; None where it can."""
    try:
        with hosts() as network:
            _run(*network.within("h"), "true")
            network.slow("h", "16kbit")
    except HostFault as fault:
        return f"Found: {fault} Needed: root, ip, tc, and a kernel with network namespaces, bridges and tbf queues."
    return None


def _ip(*words: str) -> None:
    _run("ip", *words)


def _run(*command: str) -> None:
    try:
        process = subprocess.run(command, capture_output=True, text=True, timeout=_ANSWERS_WITHIN)
    except (OSError, subprocess.TimeoutExpired) as fault:
        raise HostFault(f"{command[0]} did not answer: {fault}.") from None
    if process.returncode:
        raise HostFault(f"{' '.join(command)}: {process.stderr.strip()}.")
