"""The API of the stack's Airflow."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any


class Airflow:
    """The stack's Airflow, through its API."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.token = ""

    def ask(
        self, path: str, body: dict[str, Any] | None = None, token: str | None = None, method: str | None = None
    ) -> tuple[int, bytes]:
        """The status and what is answered, 4xx and 5xx too."""
        bearer = self.token if token is None else token
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {bearer}"} if bearer else {})
        data = json.dumps(body).encode() if body is not None else None
        try:
            request = urllib.request.Request(self.address + path, data, headers, method=method)
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read()

    def json(self, path: str, body: dict[str, Any] | None = None, method: str | None = None) -> dict[str, Any]:
        """What is answered where all is well."""
        code, content = self.ask(path, body, method=method)
        assert code < 300, (code, content)
        answer: dict[str, Any] = json.loads(content)
        return answer

    def log_in(self, user: str, password: str) -> int:
        """Takes a token for a user and a password. Gives: the status."""
        code, content = self.ask("/auth/token", {"username": user, "password": password}, token="")
        self.token = json.loads(content)["access_token"] if code == 201 else ""
        return code

    def call_off(self, dag: str) -> None:
        """Pauses a DAG and ends its runs."""
        self.json(f"/api/v2/dags/{dag}", {"is_paused": True}, "PATCH")
        for run in self.json(f"/api/v2/dags/{dag}/dagRuns?state=running&state=queued")["dag_runs"]:
            self.json(f"/api/v2/dags/{dag}/dagRuns/{run['dag_run_id']}", {"state": "success"}, "PATCH")
