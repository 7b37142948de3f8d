"""Start the compose stack: draw the secrets that .env lacks, start all services, and print the way to a first audit.

Standard library only, like set-up: it needs Docker and nothing that set-up builds.
"""

from __future__ import annotations

import base64
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent
ENVIRONMENT = HOME / ".env"
ADMIN = "admin"
PORT = "8080"

DEFAULTS: Mapping[str, Callable[[], str]] = {
    "HINDSIGHT_ADMIN_PASSWORD": lambda: secrets.token_urlsafe(18),
    "HINDSIGHT_DATABASE_PASSWORD": lambda: secrets.token_urlsafe(24),
    "HINDSIGHT_KAFKA_PASSWORD": lambda: secrets.token_urlsafe(24),
    "HINDSIGHT_FERNET_KEY": lambda: base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
    "HINDSIGHT_JWT_SECRET": lambda: secrets.token_urlsafe(48),
    "HINDSIGHT_SPARK_SECRET": lambda: secrets.token_urlsafe(48),
    "HINDSIGHT_UID": lambda: str(os.getuid() or 1000),
    "COMPOSE_PROFILES": lambda: "kafka,drill",
}
"""The variables of .env, each with the function of its default. Profiles: `kafka` has brokers, `drill` members."""

THE_WAY = """\
Log in at http://localhost:{port} as {admin}; the password is HINDSIGHT_ADMIN_PASSWORD in .env.
In two minutes, trigger the DAG "Kafka night audit" as it is: its first run audits everything so far, in some minutes.
Read its report under Browse, Kafka Hindsight. `make down` stops everything and keeps the data."""


def main() -> int:
    """Start the stack, and return the exit code of `docker compose`; 2 if there is none."""
    version_command = ["docker", "compose", "version"]
    if not shutil.which(version_command[0]) or subprocess.run(version_command, capture_output=True).returncode:
        print(
            "Found: no `docker compose`. Needed: Docker with its compose plugin. What to do: install both, or see "
            "docs/install.md for a way without containers.",
            file=sys.stderr,
        )
        return 2
    draw(ENVIRONMENT)
    # All services of ours are one image: with `up --build` compose would make it once for each of them.
    commands = (["build", "airflow-init"], ["up", "--detach"])
    code = next(
        (c for words in commands if (c := subprocess.run(["docker", "compose", *words], cwd=HOME).returncode)), 0
    )
    if not code:
        port = os.environ.get("HINDSIGHT_PORT") or values_of(ENVIRONMENT).get("HINDSIGHT_PORT") or PORT
        print(THE_WAY.format(port=port, admin=ADMIN))
    return code


def draw(path: Path) -> None:
    """Add missing variables to the file, which only its owner may read. Present ones stay: the database uses them."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    missing = [f"{name}={draw_value()}" for name, draw_value in DEFAULTS.items() if name not in values_of(path)]
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), 0o600)
        file.writelines(f"{line}\n" for line in (*lines, *missing))


def values_of(path: Path) -> dict[str, str]:
    """The names and values of the file."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {name.strip(): value.strip() for name, is_set, value in (line.partition("=") for line in lines) if is_set}


if __name__ == "__main__":
    sys.exit(main())
