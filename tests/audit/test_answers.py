"""The questions of docs/answers.md, asked of the recorded night in a terminal and by a program."""

from __future__ import annotations

import json
import re
import shlex
import socket
import subprocess
import sys
import time
from typing import Any

import anyio
import pytest

from kafka_hindsight.cli import main as cli
from kafka_hindsight.cli import mcp_server
from kafka_hindsight.cli.mcp_server import NOTICE, TOKEN
from kafka_hindsight.settings.home import HOME
from kafka_hindsight.shared.exits import DONE
from lab.drill.cluster import free_ports
from tests.support.recorded_night import recorded_night

PAGE = (HOME / "docs" / "answers.md").read_text(encoding="utf-8")
QUESTIONS = [
    [cell.strip().strip("`") for cell in line.strip("|").split(" | ")]
    for line in PAGE.splitlines()
    if re.match(r"\| [^|]*\? \|", line)
]


@pytest.fixture(scope="module")
def lake() -> str:
    """The lake of the recorded night."""
    return str(recorded_night()[1])


@pytest.fixture(scope="module")
def answers(lake: str) -> dict[str, str]:
    """The answer of a program to each call, by the call; through a server's stdin and stdout."""
    return anyio.run(ask, lake, [call for _, _, call, _ in QUESTIONS])


async def ask(lake: str, calls: list[str]) -> dict[str, str]:
    """Imports late, as below: each process collects all tests, and clients of MCP take long to import.

    The default of `errlog` is stderr at the time of the import, which a test may have captured.
    """
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    command = ["-m", "kafka_hindsight.cli.main", "mcp", "--lake", lake]
    server = StdioServerParameters(command=sys.executable, args=command, env={"PYTHONPATH": str(HOME)})
    async with Client(stdio_client(server, errlog=sys.__stderr__)) as client:
        return {call: await answer(client, call) for call in calls}


async def answer(client: Any, call: str) -> str:
    name, _, arguments = call.partition(" ")
    result = await client.call_tool(name, json.loads(arguments))
    assert result.structured_content is None, "one payload, not the same text twice"
    text: str = result.content[0].text
    return text


def test_page_asks_thirteen_questions() -> None:
    assert len(QUESTIONS) == 13


@pytest.mark.parametrize(("question", "command", "call", "part"), QUESTIONS, ids=[q for q, *_ in QUESTIONS])
def test_terminal_and_program_give_the_answer_of_the_page(
    lake: str, answers: dict[str, str], capsys: Any, question: str, command: str, call: str, part: str
) -> None:
    assert cli.main([*shlex.split(command), "--lake", lake]) == DONE
    terminal = " ".join(capsys.readouterr().out.split())
    assert part.replace("T", " ") in terminal or part in terminal
    assert part in answers[call]
    assert NOTICE in answers[call]


def test_explanation_carries_confidence_evidence_and_gaps(answers: dict[str, str]) -> None:
    group = json.loads(answers['explain {"subject": "crm-storm-8"}'])
    assert (group["confidence"], group["state"]) == ("likely", "over")
    assert any("GroupCoordinator" in quote["text"] for quote in group["evidence"])
    assert any("gave no answer" in sentence for sentence in group["not_observed"])
    owner = json.loads(answers[next(call for call in answers if "partition_owner" in call)])
    assert [(row["client_id"], row.get("generation")) for row in owner["rows"]] == [("crm-storm-8-a", None)]
    assert owner["not_observed"]


def test_incidents_are_chosen_by_harm_group_and_number(lake: str) -> None:
    calls = ["incidents {}", 'incidents {"limit": 2}', 'incidents {"harm": "routine"}']
    calls += ['incidents {"group_id": "crm-storm-8"}', 'incidents {"harm": "records_lots"}']
    calls += ['incidents {"limit": 0}', 'incidents {"state": "open"}']
    calls[4:4] = ['incidents {"state": "ongoing"}']
    *texts, refused, of_none, of_state = anyio.run(ask, lake, calls).values()
    grave, two, routine, of_group, ongoing = map(json.loads, texts)
    assert ongoing["rows"] and {r["is_over"] for r in ongoing["rows"]} == {False}
    assert "state is 'open'. Needed: one of over, ongoing, unknown." in of_state
    assert {r["harm"] for r in grave["rows"]} & {"routine", "records_lost"} == {"records_lost"}
    assert len(two["rows"]) == 2 and two["rows_left_out"] == len(grave["rows"]) - 2
    assert {r["harm"] for r in routine["rows"]} == {"routine"} and routine["rows_left_out"]
    assert of_group["rows"] and all("crm-storm-8" in r["group_ids"] for r in of_group["rows"])
    assert "Did you mean records_lost" in refused
    assert "limit is 0. Needed: 1 to 200." in of_none


SMALL = 9_000
"""Letters of two answers: 3,000 tokens, of three letters each."""


def test_why_and_what_to_change_take_two_small_answers(lake: str) -> None:
    calls = ['incidents {"group_id": "crm-storm-8"}', 'explain {"subject": "crm-storm-8"}']
    texts = anyio.run(ask, lake, calls)
    assert sum(map(len, texts.values())) < SMALL
    group = json.loads(texts[calls[1]])
    (settings,) = group["settings"]
    assert (settings["assignor"], settings["session_timeout_ms"]) == ("range", 7000)
    assert [replay["setting"] for replay in group["replays"]] == ["cooperative_assignment"]
    assert [row["cause"] for row in group["rebalances"]].count("member_dead") == 5
    assert len(group["evidence"]) == 3 and group["evidence_left_out"]
    assert all("has failed, removing it" in line["text"] for line in group["evidence"])


def test_unknown_subject_is_an_error_with_what_is_needed(lake: str) -> None:
    calls = [
        'explain {"subject": "\\u001b[2Jnobody"}',
        'query {"name": "cost_by_group", "variables": {"x": "1"}}',
        'query {"name": "cost_by_groups"}',
        'incidents {"since": "garbage"}',
        'incidents {"cluster": "nosuch"}',
    ]
    subject, variable, query, since, cluster = anyio.run(ask, lake, calls).values()
    assert "\\x1b[2Jnobody" in subject
    assert "Needed: the id of a row of gold" in subject
    assert "has no variable 'x'" in variable
    assert "Did you mean cost_by_group" in query
    assert "'garbage' is not an instant. Needed: one such as 2026-11-21T01:00Z." in since
    assert "The lake has never seen a cluster 'nosuch'." in cluster


def test_http_needs_the_token(lake: str) -> None:
    (port,) = free_ports(1)
    command = [sys.executable, "-m", "kafka_hindsight.cli.main", "mcp", "--lake", lake, "--http", f"127.0.0.1:{port}"]
    server = subprocess.Popen(command, env={"PYTHONPATH": str(HOME), TOKEN: "secret"}, cwd=HOME)
    try:
        while not is_open(port):
            assert server.poll() is None
            time.sleep(0.1)
        assert anyio.run(over_http, port, "secret").startswith('{"notice"')
        with pytest.raises(Exception, match=r"(?s).*"):
            anyio.run(over_http, port, "wrong")
    finally:
        server.terminate()
        server.wait()


def is_open(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


async def over_http(port: int, token: str) -> str:
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    address = f"http://127.0.0.1:{port}/mcp"
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http:
        status = (await http.post(address, json={})).status_code
        assert (status == 401) == (token == "wrong")
        async with Client(streamable_http_client(address, http_client=http)) as client:
            return await answer(client, 'explain {"subject": "broker 1"}')


@pytest.mark.parametrize(
    ("host", "token", "words"),
    [
        ("127.0.0.1", "0123456789abcdef", []),
        ("localhost", "secret", ["has 6 letters, so it can be guessed. Needed: 16 or more"]),
        ("0.0.0.0", "0123456789abcdef", ["other machines may reach 0.0.0.0"]),
        ("lake.example.org", "Z", ["has 1 letter,", "Needed: a proxy with TLS"]),
    ],
)
def test_short_token_and_open_address_are_named(host: str, token: str, words: list[str]) -> None:
    warnings = [*mcp_server._exposure(host, token)]
    assert [word for word, warning in zip(words, warnings, strict=True) if word not in warning] == []
    assert not [warning for warning in warnings if f" {token} " in warning]


def test_http_without_a_token_does_not_start(lake: str, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TOKEN, raising=False)
    assert cli.main(["mcp", "--lake", lake, "--http", "127.0.0.1:1"]) == 2
    assert f"Needed: {TOKEN} in the environment" in capsys.readouterr().err
