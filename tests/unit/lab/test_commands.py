"""The commands of the advice, before they are tried on real brokers."""

from __future__ import annotations

import re
import shlex

from kafka_hindsight.catalog.codes import Protocol
from lab.commands import CLASSES, NAMES, Trial, distinct_commands, filled, page_of

COMMANDS = tuple(distinct_commands())


def test_each_command_is_of_a_script_that_is_known_and_has_a_value_for_each_name() -> None:
    assert {shlex.split(command)[0] for command, _ in COMMANDS} == {*CLASSES, "curl"}
    assert {name for command, _ in COMMANDS for name in re.findall(r"\$(\w+)", command)} == {*NAMES}
    values = {name: name.lower() for name in NAMES}
    assert not [command for command, _ in COMMANDS if "$" in filled(command, values)]
    assert filled("$CONNECT/connectors/$CONNECTOR", {"CONNECT": "a", "CONNECTOR": "b"}) == "a/connectors/b"


def test_each_kind_of_group_has_commands_of_its_own() -> None:
    scripts = {(protocol, shlex.split(command)[0]) for command, protocol in COMMANDS if "-groups.sh" in command}
    assert scripts == {(protocol, protocol.noun.tool) for protocol in Protocol}


def test_a_command_that_writes_of_an_error_has_failed_whatever_its_exit_code() -> None:
    good = Trial("kafka-topics.sh", None, "4.4.0", 0, "Topic: orders\n")
    bad = [Trial("kafka-topics.sh", None, "4.4.0", 0, "Error: no"), Trial("kafka-topics.sh", None, "4.4.0", 1, "")]
    assert [trial.has_failed for trial in (good, *bad)] == [False, True, True]
    assert "3 runs, of which 2 failed." in page_of([good, *bad])
