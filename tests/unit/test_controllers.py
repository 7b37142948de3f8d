"""Who was the controller, and whose word counts."""

from __future__ import annotations

from spark_jobs.transforms.controllers import active_at, rebuild_controller_changes, speaks_for_cluster, terms_of
from tests.support.nights import WHOLE, at, events


def test_each_epoch_that_somebody_won_is_one_change() -> None:
    """Epoch 4 found no majority: controller 3 was followed by itself."""
    changes = rebuild_controller_changes(events("unclean-4.1"), WHOLE)
    assert [(c["epoch"], c["controller_from"], c["controller_to"], c["happened_at"]) for c in changes] == [
        (3, None, 3, at("01:51:57.578")),
        (5, 3, 3, at("01:52:47.160")),
    ]


def test_zookeepers_controllers() -> None:
    changes = rebuild_controller_changes(events("unclean-2.8"), WHOLE)
    assert [(c["epoch"], c["controller_from"], c["controller_to"]) for c in changes] == [(2, None, 1), (3, 1, 3)]


def test_a_node_that_starts_and_learns_who_the_controller_is_tells_no_news() -> None:
    """Broker 1 starts at 01:53:01 and says that controller 3 leads in epoch 5: that was elected long before."""
    late = [e for e in events("unclean-4.1") if e["happened_at"] > at("01:53:00")]
    assert any(e["kind"] == "controller_known" and e["node"] == 3 for e in late)
    assert rebuild_controller_changes(late, WHOLE) == []
    assert active_at(terms_of(late), at("01:53:03")) == 3


def test_a_deposed_controller_does_not_speak_for_the_cluster() -> None:
    found = events("pause-4.1")
    fencings = [e for e in found if e["kind"] == "broker_fenced"]
    assert {e["broker"]: speaks_for_cluster(terms_of(found), e) for e in fencings} == {1: False, 3: True}
