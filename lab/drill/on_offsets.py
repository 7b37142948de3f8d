"""How what is done to the offsets of a group is done, and how what follows is written down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from lab.drill.members import JavaMember
from lab.drill.on_groups import do
from lab.drill.reads import PrintedJump, Span, bill_of, jumps_of, text_of
from lab.drill.scene import Scene, SceneFault
from lab.drill.steps_on_offsets import (
    Billed,
    Committed,
    DeleteGroup,
    DeleteOffsets,
    DeleteRecords,
    FellBack,
    HasRead,
    HoldPartition,
    Jumped,
    LetGo,
    LogBegins,
    NeverStood,
    OffsetsExpire,
    OnOffsets,
    Pace,
    ResetOffsets,
    Seek,
    Stood,
)

PARTITION = 0
PACED = "member_paced"
_STOPS_WITHIN = timedelta(seconds=2)
"""A member may print so much later what its poll under way brings."""


def _about(step: OnOffsets, scene: Scene) -> dict[str, Any]:
    return {"group": scene.group, "topic": scene.topic(step.topic), "partition": PARTITION}


def _spans(step: OnOffsets, scene: Scene) -> Sequence[Span]:
    return scene.reads().get((scene.topic(step.topic), PARTITION), [])


def _java(member: str, scene: Scene) -> JavaMember:
    java = scene.members[member]
    assert isinstance(java, JavaMember)
    return java


@do.register
def _(step: HasRead, scene: Scene) -> None:
    upto = step.upto
    end = scene.stage.admin.end_offset(scene.topic(step.topic), PARTITION) if upto is None else upto
    scene.wait_for_reads(
        step.topic, lambda spans: bool(spans) and spans[-1].end >= end, f"all below {end}", step.within
    )


@do.register
def _(step: Committed, scene: Scene) -> None:
    place = (scene.group, scene.topic(step.topic), PARTITION)
    what = f"offset {step.offset} of {place[1]}-{PARTITION} committed by {scene.group}"
    scene.wait_until(lambda: scene.stage.admin.committed(*place) == step.offset, what, step.within)


@do.register
def _(step: DeleteRecords, scene: Scene) -> None:
    scene.act("records_deleted", below=step.below, expect=step.expect, **_about(step, scene))
    scene.stage.admin.delete_records(scene.topic(step.topic), PARTITION, step.below)


@do.register
def _(step: LogBegins, scene: Scene) -> None:
    topic = scene.topic(step.topic)
    what = f"the log of {topic}-{PARTITION} begins at {step.at}"
    scene.wait_until(lambda: scene.stage.admin.log_start(topic, PARTITION) == step.at, what, step.within)


@do.register
def _(step: OffsetsExpire, scene: Scene) -> None:
    place = (scene.group, scene.topic(step.topic), PARTITION)
    scene.wait_until(
        lambda: scene.stage.admin.committed(*place) is None, f"no offset of {scene.group} is kept", step.within
    )
    scene.act("offsets_expired", expect=step.expect, **_about(step, scene))


@do.register
def _(step: DeleteGroup, scene: Scene) -> None:
    scene.act("group_deleted", group=scene.group, expect=step.expect)
    scene.stage.admin.delete_group(scene.group)


@do.register
def _(step: DeleteOffsets, scene: Scene) -> None:
    scene.act("offsets_deleted", expect=step.expect, **_about(step, scene))
    scene.stage.admin.delete_offset(scene.group, scene.topic(step.topic), PARTITION)


@do.register
def _(step: ResetOffsets, scene: Scene) -> None:
    scene.act("offsets_reset_by_admin", to=step.to, expect=step.expect, **_about(step, scene))
    scene.stage.admin.commit(scene.group, scene.topic(step.topic), PARTITION, step.to)


@do.register
def _(step: Seek, scene: Scene) -> None:
    scene.act_on(
        step.member, "member_sought", topic=scene.topic(step.topic), partition=PARTITION, to=step.to, expect=step.expect
    )
    _java(step.member, scene).seek(scene.topic(step.topic), PARTITION, step.to)


def _owner(step: OnOffsets, scene: Scene) -> str:
    """The member that owns the partition, by its role."""
    name = f"{scene.topic(step.topic)}-{PARTITION}"
    owners = [m for m in sorted(scene.present) if name in scene.members[m].owned()]
    if len(owners) != 1:
        raise SceneFault(f"Found: {len(owners)} members say they own {name}. Needed: one.")
    return owners[0]


@do.register
def _(step: HoldPartition, scene: Scene) -> None:
    owner, topic = _owner(step, scene), scene.topic(step.topic)
    scene.act_on(owner, "partition_held", topic=topic, partition=PARTITION, expect=step.expect)
    _java(owner, scene).hold(topic, PARTITION)


@do.register
def _(step: LetGo, scene: Scene) -> None:
    owner, topic = _owner(step, scene), scene.topic(step.topic)
    scene.act_on(owner, "partition_let_go", topic=topic, partition=PARTITION, expect=step.expect)
    _java(owner, scene).let_go(topic, PARTITION)


@do.register
def _(step: Pace, scene: Scene) -> None:
    topic = scene.topic(step.topic)
    behind = scene.stage.admin.end_offset(topic, PARTITION) - _spans(step, scene)[-1].end
    about = {"topic": topic, "partition": PARTITION, "ms": step.ms, "behind": behind}
    scene.act_on(step.member, PACED, expect=step.expect, **about)
    _java(step.member, scene).pace(step.ms)


@do.register
def _(step: Jumped, scene: Scene) -> None:
    found: list[PrintedJump] = []

    def has_jumped(spans: Sequence[Span]) -> bool:
        wanted = (step.offset_from, step.offset_to)
        found[:] = [jump for jump in jumps_of(spans) if (jump.offset_from, jump.offset_to) == wanted]
        return bool(found)

    what = f"a jump from {step.offset_from} to {step.offset_to}"
    scene.wait_for_reads(step.topic, has_jumped, what, step.within)
    jump = found[-1]
    scene.stage.truth.write(
        "offset_jumped",
        **_about(step, scene),
        client=jump.client,
        offset_from=jump.offset_from,
        offset_to=jump.offset_to,
        records=jump.records,
        cause=step.cause,
        is_exact=step.is_exact,
        left_at=text_of(jump.left_at),
        resumed_at=text_of(jump.resumed_at),
        expect=step.expect,
    )


@do.register
def _(step: Stood, scene: Scene) -> None:
    since = _at(_last_acts(step.since, scene)[-1])
    spans = _spans(step, scene)
    moved = [s for s in spans if s.until > since + _STOPS_WITHIN]
    waiting = scene.stage.admin.end_offset(scene.topic(step.topic), PARTITION) - spans[-1].end
    if moved or waiting <= 0:
        raise SceneFault(f"Found: read since {since}: {moved}; {waiting} records wait. Needed: it stands, some wait.")
    fields = {"client": spans[-1].client, "offset": spans[-1].end, "waiting": waiting, "cause": step.cause}
    scene.stage.truth.write(
        "partition_stood", **_about(step, scene), since=text_of(since), **fields, expect=step.expect
    )


@do.register
def _(step: NeverStood, scene: Scene) -> None:
    scene.stage.truth.write("group_unhindered", expect=step.expect, **_about(step, scene))


@do.register
def _(step: FellBack, scene: Scene) -> None:
    slow, fast = _last_acts(PACED, scene)[-2:]
    if fast["behind"] - slow["behind"] < step.by:
        raise SceneFault(
            f"Found: a lag of {slow['behind']} records, then of {fast['behind']}. Needed: {step.by} more at least."
        )
    fields = {"client": fast["client"], "since": slow["at"], "slow_until": fast["at"], "behind": fast["behind"]}
    scene.stage.truth.write("partition_fell_behind", **_about(step, scene), **fields, expect=step.expect)


@do.register
def _(step: Billed, scene: Scene) -> None:
    topic = scene.topic(step.topic)
    spans = {partition: own for (name, partition), own in scene.reads().items() if name == topic}
    bills = {str(partition): bill_of(own) for partition, own in sorted(spans.items())}
    scene.stage.truth.write(
        "records_billed",
        group=scene.group,
        topic=topic,
        since=text_of(min(s.since for own in spans.values() for s in own)),
        read_again={partition: again for partition, (again, _) in bills.items()},
        skipped={partition: skipped for partition, (_, skipped) in bills.items()},
        expect=step.expect,
    )


def _last_acts(action: str, scene: Scene) -> Sequence[Mapping[str, Any]]:
    """The acts of that name upon the scenario's group, or upon a topic of it, in their order."""
    names = {scene.group, *scene.topics.values()}
    return [r for r in scene.stage.truth.rows() if r["action"] == action and {r.get("group"), r.get("topic")} & names]


def _at(act: Mapping[str, Any]) -> datetime:
    return datetime.fromisoformat(act["at"])
