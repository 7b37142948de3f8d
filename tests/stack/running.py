"""The services of the stack as processes of this machine, each by its own command line, waited for by its own check."""

from __future__ import annotations

import contextlib
import os
import pwd
import re
import secrets
import shutil
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from kafka_hindsight.settings.home import HOME
from tests.stack.compose import Outside, Service

POSTGRES = "postgres"
WELL_WITHIN = 240
_STOPS_WITHIN = 30
_MARK = "HINDSIGHT_STACK_SERVICE"


class StackFault(Exception):
    """A service did not do what the file says; the text holds its last words."""


def postgres_programs() -> Path | None:
    """The folder of PostgreSQL's programs, newest first; None where it is not installed."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: int(p.parent.name))
    return folders[-1] if folders and (folders[-1] / "initdb").exists() else None


class Running:
    """The stack outside of containers. `peak`: the most memory that a service and its children took, in MiB."""

    def __init__(self, outside: Outside) -> None:
        self.outside = outside
        self.peak: Counter[str] = Counter()
        self._token = secrets.token_hex(4)
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._over = threading.Event()
        self._image = _image_environment()
        threading.Thread(target=self._measure, daemon=True).start()

    @property
    def names(self) -> list[str]:
        """The services that were started."""
        return list(self._processes)

    def start(self, *names: str) -> None:
        """Starts services side by side, after those that they wait for, and waits until each is well, or done."""
        for waited in dict.fromkeys(w for name in names for w in self.outside.services[name].waits_for):
            if waited not in self._processes:
                self.start(waited)
        for name in names:
            self._start(self.outside.services[name])
        for name in names:
            self._wait(self.outside.services[name])

    def _start(self, service: Service) -> None:
        name = service.name
        if self.is_well(service):
            raise StackFault(f"The health check of {name} says that it is well, and it has not been started.")
        command = self.outside.command(service)
        if name == POSTGRES:
            command = [*self._as_postgres(), *command]
            self._prepare_postgres(service)
        with self.log(name).open("ab") as out:
            self._processes[name] = subprocess.Popen(
                command,
                cwd=HOME,
                env=self._environment(service),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def stop(self, *names: str) -> None:
        """Ends services as Docker does: SIGTERM, and SIGKILL for what is left."""
        before = self._pids()
        ending = {name: self._processes.pop(name) for name in names}
        for process in ending.values():
            process.terminate()
        until = time.monotonic() + _STOPS_WITHIN
        for name, process in ending.items():
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0, until - time.monotonic()))
            for pid in before[name] | self._pids().get(name, set()):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.wait()

    def end(self) -> None:
        """Ends all of it; who waits for others goes before them."""
        self._over.set()
        waited = {w for name in self.names for w in self.outside.services[name].waits_for}
        self.stop(*(name for name in self.names if name not in waited))
        self.stop(*self.names)

    def is_well(self, service: Service) -> bool:
        """What the service's own health check says."""
        if not service.healthcheck:
            return False
        check = self.outside.healthcheck(service)
        return subprocess.run(check, cwd=HOME, env=self._environment(service), capture_output=True).returncode == 0

    def log(self, name: str) -> Path:
        """What the service prints."""
        return self.outside.root / f"{name}.out"

    def last_words(self, name: str) -> str:
        """The end of what it printed."""
        return self.log(name).read_text(errors="replace")[-3000:]

    def _wait(self, service: Service) -> None:
        process = self._processes[service.name]
        until = time.monotonic() + WELL_WITHIN
        while time.monotonic() < until:
            if not service.healthcheck and process.poll() == 0:
                return
            if process.poll() is not None:
                raise StackFault(f"{service.name} ended with {process.returncode}:\n{self.last_words(service.name)}")
            if self.is_well(service):
                return
            time.sleep(1)
        raise StackFault(f"{service.name} is not well after {WELL_WITHIN} s:\n{self.last_words(service.name)}")

    def _environment(self, service: Service) -> dict[str, str]:
        programs = f"{postgres_programs()}:{os.environ['PATH']}"
        image = {k: self.outside.here(service, v.replace("$PATH", programs)) for k, v in self._image.items()}
        of_postgres = {"PGDATA": str(self._data(service)), "PATH": programs} if service.name == POSTGRES else image
        kept = {k: os.environ[k] for k in ("JAVA_HOME",) if k in os.environ}
        own = {**of_postgres, **self.outside.environment(service)}
        return {**kept, "HOME": str(self.outside.root), **own, _MARK: f"{self._token}-{service.name}"}

    def _data(self, service: Service) -> Path:
        return self.outside.folder(service.mounts["/var/lib/postgresql/data"])

    @staticmethod
    def _as_postgres() -> list[str]:
        """PostgreSQL refuses to be root."""
        return [] if os.getuid() else ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]

    def _prepare_postgres(self, service: Service) -> None:
        """What the image does before the first start: tables, the user with its password, the database."""
        variables, data = self.outside.environment(service), self._data(service)
        secret = self.outside.root / "postgres.secret"
        secret.write_text(variables["POSTGRES_PASSWORD"])
        if not os.getuid():
            owner = pwd.getpwnam("postgres")
            for place in (data, secret):
                os.chown(place, owner.pw_uid, owner.pw_gid)
        run = {"env": self._environment(service), "check": True, "capture_output": True}
        user = f"--username={variables['POSTGRES_USER']}"
        initdb = ["initdb", user, f"--pwfile={secret}", "--auth-host=scram-sha-256", "--auth-local=trust"]
        subprocess.run([*self._as_postgres(), *initdb], **run)  # type: ignore[call-overload]
        create = f"CREATE DATABASE {variables['POSTGRES_DB']};".encode()
        alone = [*self._as_postgres(), "postgres", "--single", "-j", "postgres"]
        subprocess.run(alone, input=create, **run)  # type: ignore[call-overload]

    def _pids(self) -> Mapping[str, set[int]]:
        """The processes of each service: children, and what outlived its parent, which carries the service's mark.

        Odd: a process that gives itself a title, as Airflow's do, writes it over its variables, and the mark is gone.
        """
        pids_of: dict[str, set[int]] = {name: {p.pid} for name, p in dict(self._processes).items()}
        children: dict[int, set[int]] = {}
        for place in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                parent = int((place / "stat").read_text().rpartition(")")[2].split()[1])
                children.setdefault(parent, set()).add(int(place.name))
                if mark := re.search(rf"{_MARK}={self._token}-([\w-]+)".encode(), (place / "environ").read_bytes()):
                    pids_of.setdefault(mark[1].decode(), set()).add(int(place.name))
        return {name: _with_descendants(pids, children) for name, pids in pids_of.items()}

    def _measure(self) -> None:
        while not self._over.wait(2):
            for name, pids in self._pids().items():
                self.peak[name] = max(self.peak[name], sum(map(_mib, pids)))


def _with_descendants(pids: set[int], children: Mapping[int, set[int]]) -> set[int]:
    more = {child for pid in pids for child in children.get(pid, ())} - pids
    return _with_descendants(pids | more, children) if more else pids


def _mib(pid: int) -> int:
    with contextlib.suppress(OSError):
        match = re.search(r"^Pss:\s+(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
        return int(match[1]) // 1024 if match else 0
    return 0


def _image_environment() -> Mapping[str, str]:
    """The variables that the Dockerfile sets."""
    dockerfile = (HOME / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    return dict(pair for line in re.findall(r"^ENV (.+)$", dockerfile, re.MULTILINE) for pair in _pairs(line))


def _pairs(line: str) -> Iterator[tuple[str, str]]:
    return ((name, value) for name, _, value in (word.partition("=") for word in line.split()))


def remove(folder: Path) -> None:
    """Removes what a run left."""
    shutil.rmtree(folder, ignore_errors=True)
