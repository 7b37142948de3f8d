"""Several clusters in one folder: CLUSTER, the window, or the files themselves choose; else nothing does."""

from __future__ import annotations

import random
from datetime import timedelta

import pytest

from kafka_hindsight.logs.cluster_of_files import NamingFile, choose_cluster
from tests.support.rows import AT


def file(node: int, day: int, ids: str = "") -> NamingFile:
    """A node's file of one day."""
    first = AT + timedelta(days=day)
    name = f"broker-{node}/server.log.{day}"
    return NamingFile(name, f"broker-{node}", first, first + timedelta(hours=1), frozenset(ids.split()))


FORMATTED = [file(1, 1, "old"), file(2, 1, "old"), file(1, 2), file(1, 3, "new"), file(2, 3, "new"), file(2, 4)]
"""The disks were formatted on day 3."""


@pytest.mark.parametrize(
    ("wanted", "since", "until", "chosen", "left_out"),
    [
        (None, None, None, "new", ["broker-1/server.log.1", "broker-1/server.log.2", "broker-2/server.log.1"]),
        ("old", None, None, "old", ["broker-1/server.log.3", "broker-2/server.log.3", "broker-2/server.log.4"]),
        (None, None, 2.5, "old", ["broker-1/server.log.3", "broker-2/server.log.3", "broker-2/server.log.4"]),
        ("prod", 2.5, None, "new", ["broker-1/server.log.1", "broker-1/server.log.2", "broker-2/server.log.1"]),
    ],
)
def test_a_format_begins_another_cluster(
    wanted: str | None, since: float | None, until: float | None, chosen: str, left_out: list[str]
) -> None:
    window = [None if day is None else AT + timedelta(days=day) for day in (since, until)]
    for seed in range(3):
        shuffled = random.Random(seed).sample(FORMATTED, len(FORMATTED))
        found = choose_cluster(shuffled, wanted, *window)
        assert (found.cluster_id, sorted(found.others)) == (chosen, left_out)


def test_one_line_of_another_cluster_is_outvoted_and_its_file_is_read() -> None:
    files = [*(file(node, 1, "ours") for node in (1, 2, 3)), file(3, 2, "ours theirs")]
    assert choose_cluster(files, None, None, None).cluster_id == "ours"
    assert choose_cluster(files, None, None, None).others == {}


def test_two_clusters_side_by_side_are_left_to_a_person() -> None:
    files = [file(1, 1, "one"), file(2, 1, "two"), file(2, 2)]
    found = choose_cluster(files, None, None, None)
    assert found.cluster_id is None
    assert found.others == {"broker-1/server.log.1": {"one"}, "broker-2/server.log.1": {"two"}}
    assert choose_cluster(files, "two", None, None).others == {"broker-1/server.log.1": {"one"}}
