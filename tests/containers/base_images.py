"""The base images of Dockerfile and docker-compose.yml out of Debian's packages, where no registry has them.

A build reaches packages as this machine does: the image of Python has its sources of apt, its settings of pip and its
certificates.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from kafka_hindsight.settings.home import HOME
from tests.containers.engine import NoEngine, made

SUITE = "bookworm"
PYTHON, POSTGRES = "hindsight-python:bookworm", "hindsight-postgres:bookworm"

_OF_MACHINE = ("etc/apt", "etc/pip.conf", "usr/local/share/ca-certificates")
_LEFT_OUT = ("usr/share/doc", "usr/share/locale", "usr/share/man", "var/cache/apt", "var/lib/apt/lists")
_PATH = "/usr/lib/postgresql/15/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_DATA = "/var/lib/postgresql/data"
_ENTRY = "usr/local/bin/docker-entrypoint.sh"


def base_images(folder: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that name the base images; none where the pinned ones can be pulled.

    Raises:
        NoEngine: They cannot be pulled, and cannot be made here.
    """
    declared = (HOME / "docker-compose.yml").read_text(encoding="utf-8") + (HOME / "Dockerfile").read_text(
        encoding="utf-8"
    )
    pinned = re.findall(r"(?<=[=-])\w+:\S+@sha256:[0-9a-f]{64}", declared)
    if all(_docker(environment, "pull", "--quiet", image) for image in pinned):
        return {}
    if not _docker(environment, "image", "inspect", PYTHON):
        root = made(folder / "python", SUITE, "ca-certificates,python3,python3-venv")
        _as_machine(root)
        _import(root, PYTHON, environment, [])
    if not _docker(environment, "image", "inspect", POSTGRES):
        root = made(folder / "postgres", SUITE, "postgresql-15")
        shutil.copy(Path(__file__).parent / "postgres.sh", root / _ENTRY)
        subprocess.run(["chroot", root, "install", "-d", "-o", "postgres", "-m", "700", _DATA], check=True)
        settings = [f"ENV PATH={_PATH} PGDATA={_DATA}", f"VOLUME {_DATA}", f'ENTRYPOINT ["/{_ENTRY}"]']
        _import(root, POSTGRES, environment, settings)
    return {"HINDSIGHT_PYTHON_IMAGE": PYTHON, "HINDSIGHT_POSTGRES_IMAGE": POSTGRES}


def _as_machine(root: Path) -> None:
    """Give a Debian the settings with which this machine reaches packages."""
    (root / "etc" / "apt" / "sources.list").unlink(missing_ok=True)
    for name in _OF_MACHINE:
        place, target = Path("/") / name, root / name
        if place.is_dir():
            shutil.copytree(place, target, dirs_exist_ok=True)
        elif place.exists():
            shutil.copy(place, target)
    python = root / "usr" / "local" / "bin" / "python"
    python.unlink(missing_ok=True)
    python.symlink_to("/usr/bin/python3")
    subprocess.run(["chroot", root, "update-ca-certificates"], check=True, capture_output=True)


def _import(root: Path, image: str, environment: Mapping[str, str], settings: Sequence[str]) -> None:
    """Make an image of a folder. Raises: NoEngine."""
    left_out = (f"--exclude=./{name}/*" for name in _LEFT_OUT)
    packed = subprocess.Popen(["tar", "-C", root, "--one-file-system", *left_out, "-c", "."], stdout=subprocess.PIPE)
    changes = (word for setting in settings for word in ("--change", setting))
    done = subprocess.run(["docker", "import", *changes, "-", image], stdin=packed.stdout, env=environment)
    if packed.wait() or done.returncode:
        _docker(environment, "image", "rm", image)
        raise NoEngine(f"No image could be made of {root}. What tar and `docker import` said stands above.")


def _docker(environment: Mapping[str, str], *words: str) -> bool:
    """Whether a command of `docker` succeeds."""
    return not subprocess.run(["docker", *words], env=environment, capture_output=True).returncode
