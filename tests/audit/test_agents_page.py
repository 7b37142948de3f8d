"""docs/agents.md, followed by a client of MCP that knows the page alone; and llms.txt, which leads to it."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from kafka_hindsight.settings.home import HOME
from tests.support.recorded_night import recorded_night

PAGE = (HOME / "docs" / "agents.md").read_text(encoding="utf-8")
CALLS = [tuple(row) for row in re.findall(r"^\| `(\w+ \{.*?\})` \| `?(.+?)`? \|$", PAGE, flags=re.MULTILINE)]
"""The calls of the page, each with the part of the answer or of the error that it shows."""


@pytest.fixture(scope="module")
def conversation() -> dict[str, Any]:
    """The tools that the server names, its instructions, and the answer to each call, over the page's own command."""
    return anyio.run(converse, str(recorded_night()[1]))


async def converse(lake: str) -> dict[str, Any]:
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    (block,) = re.findall(r"^```json\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    (server,) = json.loads(block)["mcpServers"].values()
    assert server["command"] == "hindsight"
    words = [lake if word == "/srv/lake" else word for word in server["args"]]
    parameters = StdioServerParameters(command=str(HOME / "hindsight"), args=words)
    async with Client(stdio_client(parameters, errlog=sys.__stderr__)) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        results = {call: await client.call_tool(*_split(call)) for call, _ in CALLS}
        return {"tools": tools, "results": results}


def _split(call: str) -> tuple[str, dict[str, Any]]:
    name, _, arguments = call.partition(" ")
    return name, json.loads(arguments)


def test_page_shows_a_call_of_each_tool_and_no_other(conversation: dict[str, Any]) -> None:
    assert {call.partition(" ")[0] for call, _ in CALLS} == conversation["tools"].keys()
    assert len(CALLS) == 12


@pytest.mark.parametrize(("call", "part"), CALLS, ids=[call for call, _ in CALLS])
def test_call_of_the_page_gives_what_the_page_shows(conversation: dict[str, Any], call: str, part: str) -> None:
    result = conversation["results"][call]
    assert part in result.content[0].text
    assert bool(result.is_error) == (call in PAGE.partition("## When a call is refused")[2])


def test_arguments_of_the_page_are_those_of_the_tools(conversation: dict[str, Any]) -> None:
    for call, _ in CALLS:
        name, arguments = _split(call)
        assert arguments.keys() <= conversation["tools"][name].input_schema["properties"].keys(), call


def test_fields_that_the_page_explains_are_in_answers(conversation: dict[str, Any]) -> None:
    everything = " ".join(result.content[0].text for result in conversation["results"].values())
    reading = PAGE.partition("## How to read an answer")[2].partition("## When")[0]
    fields = set(re.findall(r"`([a-z_]+)`", reading)) - {"certain", "likely", "possible", "unknown", "limit", "lines"}
    assert [field for field in sorted(fields) if f'"{field}"' not in everything] == []


def test_each_link_of_llms_txt_leads_to_a_page() -> None:
    text = (HOME / "llms.txt").read_text(encoding="utf-8")
    assert re.match(r"# .+\n\n> .+", text), "a title and a summary come first"
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert "docs/agents.md" in links
    assert [link for link in links if not (HOME / Path(link)).is_file()] == []
