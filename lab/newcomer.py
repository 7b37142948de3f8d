"""The first minute of a stranger, on a bare Debian: `make newcomer` (root, debootstrap, a mirror, a package index).

Each Debian is made by debootstrap without anything of ours. A new user types what README says, and meets each failure
that a machine can have. Printed is what each try took, and the first line of what it said.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

HOME = Path(__file__).resolve().parent.parent
_PASSED = ("PIP_INDEX_URL", "UV_DEFAULT_INDEX", "http_proxy", "https_proxy", "no_proxy")
_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
_OF_JAVA = Path("/etc/ssl/certs/java/cacerts")
_USER = "newcomer"


class Try(NamedTuple):
    """What is typed, with which Debian packages, and how it has to end: its code, and words that it prints."""

    what: str
    typed: str
    code: int
    words: str
    packages: str = ""
    folder: str = "hindsight"
    without_network: bool = False


TRIES = (
    Try("no Python", "./hindsight audit", 2, "Found: no Python"),
    Try("no venv module", "./hindsight audit", 2, "Needed: its venv module", "python3"),
    Try("help before set-up", "./hindsight --help", 0, "audit a night", "python3-venv"),
    Try("reader before set-up", "./hindsight sql", 2, "Needed: set-up"),
    Try("no network", "./hindsight audit", 2, "Needed: access to a Python package index", without_network=True),
    Try("no rights", "./hindsight audit", 2, "Needed: write access", folder="not mine"),
    Try("no space", "./hindsight audit", 2, "Needed: 0.9 GB", folder="small"),
    Try("README, first line", "./hindsight audit", 0, "40 committed records were lost"),
    Try("README, explain", "./hindsight explain worst", 0, "fraud-risky-19"),
    Try("blanks in the path", "./hindsight audit", 0, "40 committed records were lost", folder="a folder"),
    Try("no Java", "./hindsight audit --engine spark", 2, "Found: no Java"),
    Try("old Java", "JAVA_HOME=/old ./hindsight audit --engine spark", 2, "Found: Java 11"),
    Try("doctor without Java", "./hindsight doctor", 2, "Found: no Java"),
)
FULL = Try("make audit, with Java and make", "make audit", 0, "40 committed records were lost", "make JAVA")
_JAVAS = {"bookworm": "openjdk-17-jre-headless", "trixie": "openjdk-21-jre-headless"}


def main(arguments: list[str] | None = None) -> int:
    """Make each Debian that is missing, and try all. Return how many tries ended otherwise than they have to."""
    parser = argparse.ArgumentParser("python -m lab.newcomer", description="Try the first minute on a bare Debian.")
    parser.add_argument("suites", nargs="*", default=[*_JAVAS], help="bookworm (12), trixie (13)")
    parser.add_argument("--folder", type=Path, default=HOME / ".build" / "newcomer", help="where the systems lie")
    parser.add_argument("--full", action="store_true", help="also `make audit`, which builds everything")
    options = parser.parse_args(arguments)
    wrong = 0
    for suite in options.suites:
        root = options.folder / suite
        if not (root / "etc").exists():
            subprocess.run(["debootstrap", "--variant=minbase", "--include=ca-certificates", suite, root], check=True)
        with mounted(root):
            settle(root)
            for each in (*TRIES, *((FULL,) if options.full else ())):
                wrong += not attempt(root, suite, each)
    return wrong


@contextmanager
def mounted(root: Path) -> Iterator[None]:
    """The system with /proc, /dev, and a folder of 100 MB for checkouts without space."""
    small = root / "home" / _USER / "small"
    small.mkdir(parents=True, exist_ok=True)
    mounts = (
        ["-t", "proc", "proc", str(root / "proc")],
        ["--bind", "/dev", str(root / "dev")],
        ["-t", "tmpfs", "-o", "size=100m", "tmpfs", str(small)],
    )
    try:
        for mount in mounts:
            subprocess.run(["mount", *mount], check=True)
        yield
    finally:
        for mount in mounts:
            subprocess.run(["umount", "-l", mount[-1]], check=False)


def settle(root: Path) -> None:
    """A new user with nothing but checkouts; the names and certificates of this machine's network; a Java 11."""
    shutil.copy("/etc/resolv.conf", root / "etc" / "resolv.conf")
    shutil.copy(_CERTIFICATES, root / _CERTIFICATES.relative_to("/"))
    if _OF_JAVA.exists():
        shutil.copy(_OF_JAVA, root / _OF_JAVA.name)
    subprocess.run(["chroot", root, "useradd", "--create-home", _USER], check=False, capture_output=True)
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=HOME, check=True, capture_output=True).stdout
    home = root / "home" / _USER
    for name in {each.folder for each in TRIES}:
        if name != "small":
            shutil.rmtree(home / name, ignore_errors=True)
        (home / name).mkdir(exist_ok=True)
        subprocess.run(["tar", "x", "-C", home / name], input=archive, check=True)
        subprocess.run(
            ["chroot", root, "chown", "-R", "root" if name == "not mine" else _USER, f"/home/{_USER}/{name}"],
            check=True,
        )
    shutil.rmtree(home / ".cache", ignore_errors=True)
    subprocess.run(["chroot", root, "chown", _USER, f"/home/{_USER}"], check=True)
    java = root / "old" / "bin" / "java"
    java.parent.mkdir(parents=True, exist_ok=True)
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\n")
    java.chmod(0o755)


def attempt(root: Path, suite: str, each: Try) -> bool:
    """Type the command as the new user. Print and return whether it ended as it has to."""
    if packages := each.packages.replace("JAVA", _JAVAS[suite]).split():
        apt = ["chroot", str(root), "apt-get", "install", "--yes", "--no-install-recommends", *packages]
        subprocess.run(apt, check=True, capture_output=True, env=_variables("/root"))
    typed = f"cd {shlex.quote(each.folder)} && {each.typed}"
    user = ["setpriv", f"--reuid={_USER}", "--regid=1000", "--clear-groups"]
    command = ["chroot", str(root), *user, "sh", "-c", f"cd && {typed}"]
    before, began = _megabytes(root), time.monotonic()
    done = subprocess.run(
        ["unshare", "--net", *command] if each.without_network else command,
        env=_variables(f"/home/{_USER}"),
        capture_output=True,
        text=True,
    )
    output = done.stdout + done.stderr
    is_right = done.returncode == each.code and each.words in output
    line = next((line for line in output.splitlines() if each.words in line), output.strip()[-300:])
    took = f"code {done.returncode}, {time.monotonic() - began:.0f} s, {_megabytes(root) - before:+d} MB"
    print(f"{'ok   ' if is_right else 'WRONG'} {suite} · {each.what}: {took}: {line.strip()[:160]}", flush=True)
    return is_right


def _megabytes(root: Path) -> int:
    total = subprocess.run(["du", "-smx", root / "home"], capture_output=True, text=True).stdout
    return int(total.split()[0])


def _variables(home: str) -> Mapping[str, str]:
    passed = {name: os.environ[name] for name in _PASSED if name in os.environ}
    return {
        "HOME": home,
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "PIP_CERT": str(_CERTIFICATES),
        "LANG": "C.UTF-8",
        **({"JAVA_TOOL_OPTIONS": f"-Djavax.net.ssl.trustStore=/{_OF_JAVA.name}"} if _OF_JAVA.exists() else {}),
        **passed,
    }


if __name__ == "__main__":
    sys.exit(main())
