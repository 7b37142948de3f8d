"""The fields that a pattern reads, as values of their kind."""

from __future__ import annotations

from tests.support.nights import EXCERPTS
from tools.plain_reader import event_of, read_line


def test_protocol_of_a_line_is_one_of_kafkas_in_any_case() -> None:
    """Source: ConfigDef.CaseInsensitiveValidString."""
    log = EXCERPTS / "shared-out-4.4" / "logs" / "broker-1" / "server.log"
    joined = log.read_text(encoding="utf-8").splitlines()[0]
    lines = [joined.replace("the consumer protocol", f"the {name} protocol") for name in ("classic", "CONSUMER", "own")]
    events = [event_of(read_line(text, "broker-1/server.log"), "prod", "broker") for text in lines]
    assert [event and event["protocol"] for event in events] == ["classic", "consumer", None]
