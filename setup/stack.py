"""Starts the compose stack: draws the secrets that .env lacks, brings everything up, says where to log in.

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

DRAWN: Mapping[str, Callable[[], str]] = {
    "HINDSIGHT_ADMIN_PASSWORD": lambda: secrets.token_urlsafe(18),
    "HINDSIGHT_DATABASE_PASSWORD": lambda: secrets.token_urlsafe(24),
    "HINDSIGHT_KAFKA_PASSWORD": lambda: secrets.token_urlsafe(24),
    "HINDSIGHT_FERNET_KEY": lambda: base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
    "HINDSIGHT_JWT_SECRET": lambda: secrets.token_urlsafe(48),
    "HINDSIGHT_SPARK_SECRET": lambda: secrets.token_urlsafe(48),
    "HINDSIGHT_UID": lambda: str(os.getuid() or 1000),
    "COMPOSE_PROFILES": lambda: "kafka",
}
"""What .env holds, each with how it comes about. The profile `kafka` is the stack's own brokers."""


def main() -> int:
    """Gives: what `docker compose up` ends with; 2 where there is no Docker."""
    if not shutil.which("docker"):
        print(
            "Found: no docker on the PATH. Needed: Docker with its compose plugin. What to do: install it, or see "
            "docs/install.md for a way without containers.",
            file=sys.stderr,
        )
        return 2
    draw(ENVIRONMENT)
    code = subprocess.run(["docker", "compose", "up", "--build", "--detach"], cwd=HOME).returncode
    if not code:
        port = os.environ.get("HINDSIGHT_PORT") or said(ENVIRONMENT).get("HINDSIGHT_PORT") or PORT
        print(f"Log in at http://localhost:{port} as {ADMIN}; the password is HINDSIGHT_ADMIN_PASSWORD in .env.")
    return code


def draw(path: Path) -> None:
    """Adds what the file lacks, and lets only its owner read it. What is there stays: the database knows it."""
    kept = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    missing = [f"{name}={drawn()}" for name, drawn in DRAWN.items() if name not in said(path)]
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), 0o600)
        file.writelines(f"{line}\n" for line in (*kept, *missing))


def said(path: Path) -> dict[str, str]:
    """The names and values of the file."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {name.strip(): value.strip() for name, is_set, value in (line.partition("=") for line in lines) if is_set}


if __name__ == "__main__":
    sys.exit(main())
