"""Docker's engine: the machine's own, or one out of Debian's packages in a folder of its own.

The second needs root, debootstrap and a mirror. It has mounts of its own, which end with it. Its data and its socket
lie in its folder: nothing is installed on the machine. What stays is the bridge docker0 and its rules of the firewall.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

SUITE = "trixie"
_PACKAGES = "ca-certificates,docker.io,docker-cli,docker-compose,iptables"
_STARTS_WITHIN = 60
_START = """
set -e
mount --bind "$1" "$1"
for each in proc sys dev; do mount --rbind "/$each" "$1/$each"; done
cp /etc/resolv.conf "$1/etc/resolv.conf"
cd "$1" && mkdir -p machine && pivot_root . machine && umount -l /machine
exec /usr/sbin/dockerd --host unix:///run/docker.sock
"""
"""The engine sees its folder as the root of all files, and what it mounts there is seen by it alone."""


class NoEngine(Exception):
    """The machine has no engine and cannot make one; the text says what was found, what was needed and what to do."""


@contextmanager
def engine(folder: Path) -> Iterator[Mapping[str, str]]:
    """The variables with which `docker` reaches an engine while the block runs.

    Raises:
        NoEngine: No engine answers, and none can be made.
    """
    if _answers(os.environ):
        yield dict(os.environ)
        return
    root = made(folder / "engine", SUITE, _PACKAGES)
    environment = _environment(folder, root)
    with (folder / "dockerd.log").open("ab") as log:
        command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", _START, "sh", str(root)]
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        end = time.monotonic() + _STARTS_WITHIN
        while not _answers(environment):
            if process.poll() is not None or time.monotonic() > end:
                raise NoEngine(f"Docker's engine did not start. Its last words are in {folder / 'dockerd.log'}.")
            time.sleep(1)
        yield environment
    finally:
        process.terminate()
        process.wait(60)


def made(root: Path, suite: str, packages: str) -> Path:
    """A Debian of a few packages in a folder, made where it is missing. Raises: NoEngine."""
    if not (root / "etc" / "debian_version").exists() or (root / "debootstrap").exists():
        if os.geteuid() or not shutil.which("debootstrap"):
            raise NoEngine(
                "Found: no Docker engine with compose that answers. Needed: one, or root and debootstrap to make one "
                "out of Debian's packages. What to do: start Docker, or install debootstrap."
            )
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir(parents=True)
        command = ["debootstrap", "--variant=minbase", f"--include={packages}", suite, str(root)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise NoEngine(f"debootstrap could not make {root}. Its last words: {done.stdout[-500:]}")
    return root


def _answers(environment: Mapping[str, str]) -> bool:
    """Whether an engine answers to `docker`, and compose is there."""
    if not shutil.which("docker", path=environment["PATH"]):
        return False
    asked = (["docker", "info"], ["docker", "compose", "version"])
    return all(not subprocess.run(words, env=environment, capture_output=True).returncode for words in asked)


def _environment(folder: Path, root: Path) -> dict[str, str]:
    """The variables with which the engine's own `docker` and compose are found, and reach it."""
    programs, settings = folder / "bin", folder / "docker"
    for place in (programs, settings):
        place.mkdir(exist_ok=True)
    docker = programs / "docker"
    docker.unlink(missing_ok=True)
    docker.symlink_to(root / "usr" / "bin" / "docker")
    plugins = {"cliPluginsExtraDirs": [str(root / "usr" / "libexec" / "docker" / "cli-plugins")]}
    (settings / "config.json").write_text(json.dumps(plugins))
    return {
        **os.environ,
        "DOCKER_CONFIG": str(settings),
        "DOCKER_HOST": f"unix://{root / 'run' / 'docker.sock'}",
        "PATH": f"{programs}:{os.environ['PATH']}",
    }
