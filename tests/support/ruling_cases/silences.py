"""The cases of the rulings on what silenced a member, and the verdicts on them."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_hindsight.judgements.rebalances.silence_rulings import POLL_SILENCES, SESSION_SILENCES
from tests.support.made_groups import MADE, SILENT
from tests.support.ruling_cases.rebalances import row_of
from tests.support.rulings import Decided, RulingCases, wording

ALL = (*SESSION_SILENCES, *POLL_SILENCES)
MADE_HERE = {"its coordinator was away": MADE["its coordinator was away"], **SILENT}


def decided(case: str) -> Sequence[Decided]:
    """The ruling whose sentence stands in a row's explanation; of a silence that is not known none stands there."""
    name = case.removeprefix("made: ")
    row = MADE_HERE[name].case() if name in MADE_HERE else row_of(case)
    if row.silence is None or row.silence_confidence is None:
        return []
    fit = [(r, found[0]) for r in ALL if (found := wording(r).search(row.explanation))]
    unknown = [(r, r.sentence) for r in ALL if row.silence in r.codes and not fit]
    return [Decided(r, row.silence, row.silence_confidence, sentence) for r, sentence in fit or unknown]


CASES = (
    RulingCases(
        "silences",
        ALL,
        decided,
        MADE_HERE,
        [
            ("groups/silent-java-4.3 12:49:57.653", "network", "likely"),
            ("groups/silent-java-4.3 12:50:29.751", "pause", "likely"),
            ("groups/silent-librdkafka-4.3 12:51:36.031", "network", "likely"),
            ("groups/silent-librdkafka-4.3 12:52:06.135", "pause", "likely"),
            ("groups/silent-librdkafka-4.3 12:52:27.220", "slow", "possible"),
            ("groups/silent-franz-go-4.3 12:53:53.938", "network", "likely"),
            ("groups/silent-franz-go-4.3 12:54:25.603", "unknown", "unknown"),
            ("groups/silent-kafka-go-4.3 12:49:53.975", "network", "likely"),
            ("groups/silent-kafka-go-4.3 12:50:24.875", "unknown", "unknown"),
            ("groups/silent-aiokafka-4.3 12:53:44.561", "unknown", "unknown"),
            ("groups/silent-kip848-4.3 12:51:45.985", "unknown", "unknown"),
            ("groups/silent-kip848-4.3 12:52:15.163", "unknown", "unknown"),
        ],
    ),
)
