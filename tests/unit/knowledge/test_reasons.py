"""What coordinators and clients write as reasons, whatever strangers put into ids and words."""

from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.knowledge.reasons import (
    CLOSED,
    FREE_TEXT,
    METADATA_CHANGED,
    POLL_EXPIRED,
    REMOVED_BY_ADMIN,
    CoordinatorReason,
    name_in_member_id,
    option_value,
    read_client_reason,
    read_coordinator_reason,
    read_metadata_change,
)

UUID_TEXT = "35264ebf-dc38-4338-91a3-b8ad0d1e11a4"
NAMES = st.text(alphabet=st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=40)


def test_reasons_of_scala_and_java_coordinators_are_read_alike() -> None:
    member = f"a-{UUID_TEXT}"
    reasons = {
        f"Adding new member {member} with group instance id None": CoordinatorReason("joined", (member,)),
        f"Adding new member {member} with group instance id null; client reason: not provided": CoordinatorReason(
            "joined", (member,)
        ),
        f"Adding new member {member} with group instance id Some(i1); client reason: ": CoordinatorReason(
            "joined", (member,), "i1", ""
        ),
        "Adding new member *** with group instance id None; client reason: not provided": CoordinatorReason(
            "joined", is_masked=True
        ),
        "Removing member *** on LeaveGroup": CoordinatorReason("left", is_masked=True),
        f"removing member {member} on LeaveGroup": CoordinatorReason("left", (member,)),
        "removing member  on LeaveGroup": CoordinatorReason("left"),
        f"Removing member {member} on LeaveGroup; client reason: the consumer is being closed": CoordinatorReason(
            "left", (member,), client_reason="the consumer is being closed"
        ),
        f"explicit `LeaveGroup` request for ({member}, b-{UUID_TEXT}) members.": CoordinatorReason(
            "left", (member, f"b-{UUID_TEXT}")
        ),
        "explicit `LeaveGroup` request for () members.": CoordinatorReason("left"),
        f"removing member {member} on heartbeat expiration.": CoordinatorReason("expired", (member,)),
        f"leader {member} re-joining group during Stable": CoordinatorReason("leader_rejoined", (member,)),
        f"Removing Set({member}) on pending sync request expiration": CoordinatorReason("sync_expired", (member,)),
    }
    assert {text: read_coordinator_reason(text) for text in reasons} == reasons


def test_unknown_coordinator_reason_is_unclaimed() -> None:
    assert read_coordinator_reason("something else").act == "unclaimed"
    assert read_coordinator_reason(None).act == "unclaimed"


@given(NAMES, NAMES)
def test_hostile_client_id_does_not_change_the_coordinator_reason(client: str, words: str) -> None:
    member = f"{client}-{UUID_TEXT}"
    reason = read_coordinator_reason(f"Adding new member {member} with group instance id None; client reason: {words}")
    assert reason.act == "joined"
    if UUID_TEXT not in client:
        assert reason.members == (member,)


def test_client_reason_is_recognised_only_as_a_whole() -> None:
    assert read_client_reason("the consumer is being closed") == CLOSED
    assert read_client_reason("the consumer is being closed by the boss") == FREE_TEXT
    assert read_client_reason("consumer poll timeout has expired.") == POLL_EXPIRED
    assert read_client_reason("member was removed by an admin: too slow") == REMOVED_BY_ADMIN
    assert read_client_reason("not provided") is None
    assert read_client_reason(" ") is None
    assert (
        read_client_reason(
            "Requesting to re-join the group and trigger rebalance since the assignment metadata has changed from"
            " (version8: {x1=3}) to (version11: {x2=3, x1=3})"
        )
        == METADATA_CHANGED
    )


def test_metadata_change_names_added_removed_and_extended_topics() -> None:
    racks = (
        "cached metadata has changed from (version11: {x1=[NO_RACKS, NO_RACKS], x2=[NO_RACKS], x3=[a]}) at the"
        " beginning of the rebalance to (version13: {x1=[], x2=[NO_RACKS, NO_RACKS], x3=[a], x4=[a]})"
    )
    change = read_metadata_change(racks)
    assert change is not None
    assert (change.added, change.removed, change.extended) == (("x4",), ("x1",), ("x2",))
    counts = read_metadata_change("changed from (version8: {x1=3}) to (version11: {x2=3, x1=4})")
    assert counts is not None
    assert (counts.added, counts.removed, counts.extended) == (("x2",), (), ("x1",))
    assert read_metadata_change("cached metadata has changed") is None


def test_a_member_id_names_its_client_only_in_front_of_a_uuid() -> None:
    assert name_in_member_id(f"my-app-1-{UUID_TEXT}") == "my-app-1"
    assert name_in_member_id("zzjkQj_MRce186K6U2x0Aw") is None
    assert name_in_member_id(None) is None


def test_option_is_read_in_scala_and_java_form() -> None:
    assert [option_value(t) for t in ("Some(i1)", "Optional[i1]", "i1", "None", "null", "Optional.empty", None)] == [
        "i1", "i1", "i1", None, None, None, None,
    ]  # fmt: skip
