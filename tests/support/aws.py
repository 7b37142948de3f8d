"""A server on this machine that answers as AWS does: moto's, in an environment of its own."""

from __future__ import annotations

import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from lab.drill.cluster import free_ports
from setup.build import build_environment


@contextmanager
def served_by_moto(folder: Path) -> Iterator[Mapping[str, str]]:
    """The server. Gives: the variables by which everybody finds it, which are set meanwhile."""
    build_environment(folder / "environment", "s3.txt")
    (port,) = free_ports(1)
    variables = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ALLOW_HTTP": "true",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "verysecret",
        "AWS_REGION": "us-east-1",
    }
    command = [str(folder / "environment" / "bin" / "moto_server"), "-H", "127.0.0.1", "-p", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            with pytest.MonkeyPatch.context() as patched:
                for name, value in variables.items():
                    patched.setenv(name, value)
                _answers(variables["AWS_ENDPOINT_URL"])
                yield variables
        finally:
            server.terminate()


def bucket(url: str) -> None:
    """Makes a bucket."""
    urllib.request.urlopen(urllib.request.Request(url, method="PUT"), timeout=10).close()


def _answers(url: str) -> None:
    for _ in range(120):
        try:
            urllib.request.urlopen(f"{url}/moto-api/", timeout=10).close()
            return
        except OSError:
            time.sleep(0.5)
    raise AssertionError("moto does not answer")
