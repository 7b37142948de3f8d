"""How what is done to groups and their members is done."""

from __future__ import annotations

import time
from contextlib import suppress
from functools import singledispatch

from lab.drill.act_expectations import DURATION_BLAME, SILENCES
from lab.drill.admin import Admin, AdminFault
from lab.drill.frameworks import ConnectMember
from lab.drill.libraries import JAVA
from lab.drill.scene import JOINED, Scene, SceneFault
from lab.drill.steps import (
    MAIN,
    AddPartitions,
    Back,
    Close,
    Configure,
    CreateTopic,
    CutHost,
    DeleteTopic,
    Deny,
    DrillStep,
    EndCertificate,
    EnforceRebalance,
    ExceedQuota,
    FellBehind,
    Gone,
    HostGone,
    JoinHost,
    Kill,
    LimitFetches,
    LimitRequests,
    Owners,
    Pause,
    Rebalanced,
    Rejoining,
    RemoveAll,
    RemoveByAdmin,
    Reported,
    Resume,
    Settled,
    Slow,
    SlowHost,
    Start,
    Subscribe,
    Until,
    Wait,
    WithdrawPassword,
)

_SETTLES_WITHIN = 150
"""Seconds. A busy machine has not failed."""

_REFUSED_WITHIN = 15
_NEXT_TO_NOTHING = 1.0
_UNTIL_HELD_BACK = 5
"""So often a program does what its quota does not let it do."""


@singledispatch
def do(step: DrillStep, scene: Scene) -> None:
    """Do one step of a scenario.

    Raises SceneFault where it lacks the effect that the scenario is about.
    """
    raise NotImplementedError(type(step).__name__)


@do.register
def _(step: Start, scene: Scene) -> None:
    returns = step.member in scene.members
    if returns:
        scene.members[step.member].end()
    member = scene.make(step)
    scene.members[step.member] = member
    settings: dict[str, str | None] = {**scene.config(step, scene.clients[step.member])}
    credentials = scene.credentials(step, scene.clients[step.member])
    for plain in {*scene.stage.cluster.reach(step.library), *credentials, "group.id", "client.id", "auto.offset.reset"}:
        settings.pop(plain)
    if instance := settings.pop("group.instance.id", None):
        scene.instances[step.member] = instance
    config = {key.replace(".", "_"): value for key, value in settings.items()} | {"pattern": scene.pattern(step)}
    scene.act_on(step.member, "member_start", expect=step.expect, library=step.library, **config)
    joined = scene.count_said(step.member, JOINED)
    member.join()
    if step.refused:
        scene.rest(_REFUSED_WITHIN)
    else:
        scene.present.add(step.member)
    if step.settles:
        if returns and instance and step.library == JAVA:
            scene.wait_until_joined(step.member, joined, _SETTLES_WITHIN)
        scene.settle(_SETTLES_WITHIN)


@do.register
def _(step: Close, scene: Scene) -> None:
    scene.act_on(step.member, "member_close", expect=step.expect)
    scene.members[step.member].leave()
    if step.expect not in SILENCES:
        scene.present.discard(step.member)
        scene.settle(_SETTLES_WITHIN)


@do.register
def _(step: Kill, scene: Scene) -> None:
    scene.act_on(step.member, "member_kill9", expect=step.expect)
    scene.members[step.member].kill()


@do.register
def _(step: Pause, scene: Scene) -> None:
    scene.act_on(step.member, "member_sigstop", expect=step.expect)
    scene.members[step.member].pause()


@do.register
def _(step: Resume, scene: Scene) -> None:
    scene.act_on(step.member, "member_sigcont", expect=step.expect)
    scene.members[step.member].resume()
    scene.present.add(step.member)
    scene.settle(_SETTLES_WITHIN)


@do.register
def _(step: Slow, scene: Scene) -> None:
    action = "member_slow_within_limit" if step.expect == DURATION_BLAME else "member_slow_poll"
    scene.act_on(step.member, action, expect=step.expect, ms=step.ms)
    scene.members[step.member].slow(step.ms)


@do.register
def _(step: Subscribe, scene: Scene) -> None:
    scene.act_on(step.member, "subscription_changed", expect=step.expect)
    scene.members[step.member].subscribe([scene.topic(t) for t in step.topics])


@do.register
def _(step: EnforceRebalance, scene: Scene) -> None:
    scene.act_on(step.member, "enforce_rebalance", expect=step.expect)
    scene.members[step.member].enforce_rebalance()


@do.register
def _(step: Configure, scene: Scene) -> None:
    worker = scene.members[step.member]
    assert isinstance(worker, ConnectMember)
    fields = {"connector": step.connector, "tasks": step.tasks, "consumers": f"connect-{step.connector}"}
    scene.act("connector_configured", group=scene.group, expect=step.expect, **fields)
    worker.configure(step.connector, step.tasks)


@do.register
def _(step: WithdrawPassword, scene: Scene) -> None:
    scene.act_on(step.member, "password_withdrawn", expect=step.expect)
    scene.stage.admin.withdraw_password(scene.clients[step.member])


@do.register
def _(step: EndCertificate, scene: Scene) -> None:
    scene.rest(max(0.0, scene.ends[step.member] - time.monotonic()))
    scene.act_on(step.member, "certificate_ended", expect=step.expect)


@do.register
def _(step: Deny, scene: Scene) -> None:
    scene.act_on(step.member, f"{step.what}_denied", expect=step.expect)
    name = scene.group if step.what == "group" else scene.topic(MAIN)
    scene.stage.admin.deny(scene.clients[step.member], step.what.upper(), name)


@do.register
def _(step: LimitRequests, scene: Scene) -> None:
    scene.act_on(step.member, "requests_limited", expect=step.expect)
    scene.stage.admin.limit(scene.clients[step.member], "request_percentage", 0.001)


@do.register
def _(step: LimitFetches, scene: Scene) -> None:
    scene.act_on(step.member, "fetches_limited", expect=step.expect)
    scene.stage.admin.limit(scene.clients[step.member], "consumer_byte_rate", _NEXT_TO_NOTHING)


@do.register
def _(step: ExceedQuota, scene: Scene) -> None:
    stage, client = scene.stage, scene.names.client(scene.group)
    scene.clients[step.program] = client
    scene.act("quota_exceeded", producer=client, quota=step.quota, expect=step.expect)
    stage.admin.limit(client, step.quota, _NEXT_TO_NOTHING)
    reach = {**stage.cluster.reach(JAVA), "client.id": client}
    with Admin(reach, stage.clients / f"{client}.log") as program, suppress(AdminFault):
        for number in range(_UNTIL_HELD_BACK):
            if step.quota == "producer_byte_rate":
                program.produce(stage.main, 0, 1, "1", 2000)
            else:
                program.create_topic(f"{scene.topic(step.program)}-{number}", _UNTIL_HELD_BACK)


@do.register
def _(step: Reported, scene: Scene) -> None:
    names = {**scene.clients, "group": scene.group}
    who = {} if step.about in names else {"broker": scene.broker(step.about)}
    about = names.get(step.about) or f"broker {who['broker']}"
    scene.act("reported", about=about, rule=step.rule, expect=step.expect, **who)


@do.register
def _(step: RemoveByAdmin, scene: Scene) -> None:
    scene.act_on(step.member, "member_removed_by_admin", expect=step.expect)
    scene.stage.admin.remove_static_member(scene.group, scene.instances[step.member])


@do.register
def _(step: RemoveAll, scene: Scene) -> None:
    scene.act("members_removed_by_admin", group=scene.group, expect=step.expect)
    scene.stage.admin.remove_all_members(scene.group)


@do.register
def _(step: CreateTopic, scene: Scene) -> None:
    topic = scene.topic(step.topic)
    matched = scene.act("topic_matched", group=scene.group, topic=topic, expect=step.expect) if step.expect else None
    placed = {p: [scene.broker(role) for role in roles] for p, roles in enumerate(step.placed)}
    partitions = len(placed) or step.partitions
    scene.stage.truth.write("topic_created", topic=topic, partitions=partitions)
    scene.stage.admin.create_topic(topic, step.partitions, step.replicas, placed, step.configs)
    scene.watch(step.topic, partitions)
    scene.last = matched or scene.last


@do.register
def _(step: DeleteTopic, scene: Scene) -> None:
    scene.forget(step.topic)
    scene.act("topic_deleted", group=scene.group, topic=scene.topic(step.topic), expect=step.expect)
    scene.stage.admin.delete_topic(scene.topic(step.topic))


@do.register
def _(step: AddPartitions, scene: Scene) -> None:
    topic = scene.topic(step.topic)
    scene.act("partitions_added", group=scene.group, topic=topic, to=step.to, expect=step.expect)
    scene.stage.admin.add_partitions(topic, step.to)
    scene.watch(step.topic, step.to)


@do.register
def _(step: Gone, scene: Scene) -> None:
    scene.present.discard(step.member)
    scene.settle(step.within)


@do.register
def _(step: Back, scene: Scene) -> None:
    scene.present.add(step.member)
    scene.settle(step.within)


@do.register
def _(step: Settled, scene: Scene) -> None:
    scene.settle(step.within)


@do.register
def _(step: Rebalanced, scene: Scene) -> None:
    if scene.wait_for_generation(step.within):
        scene.settle(_SETTLES_WITHIN)
    elif step.else_note:
        scene.stage.truth.withdraw(scene.last, step.else_note)
    else:
        raise SceneFault(f"Needed within {step.within:.0f} s: a rebalance of {scene.group}. None came.")


@do.register
def _(step: Owners, scene: Scene) -> None:
    owners = scene.wait_for_owners(step.topic, step.within)
    scene.stage.truth.write("owners_asked", group=scene.group, owners=owners, expect=step.expect)


@do.register
def _(step: CutHost, scene: Scene) -> None:
    for member in scene.on_host(step.host):
        scene.act_on(member, "member_cut_off", expect=step.expect, host=step.host)
    scene.hosts.cut(scene.host(step.host))


@do.register
def _(step: JoinHost, scene: Scene) -> None:
    for member in scene.on_host(step.host):
        scene.act_on(member, "member_joined_up", expect=step.expect, host=step.host)
        scene.present.add(member)
    scene.hosts.join(scene.host(step.host))
    scene.settle(_SETTLES_WITHIN)


@do.register
def _(step: HostGone, scene: Scene) -> None:
    cut = [row["at"] for row in scene.stage.truth.rows() if row["action"] == "member_cut_off"][-1]
    scene.present -= set(scene.on_host(step.host))
    scene.settle(step.within)
    scene.act(
        "host_cut_off",
        at=cut,
        group=scene.group,
        host=scene.hosts.address_of(scene.host(step.host)),
        expect=step.expect,
    )


@do.register
def _(step: FellBehind, scene: Scene) -> None:
    last = [row["at"] for row in scene.stage.truth.rows() if row.get("group") == scene.group][-1]
    scene.act("group_fell_behind", at=last, group=scene.group, expect=step.expect)


@do.register
def _(step: SlowHost, scene: Scene) -> None:
    for member in scene.on_host(step.host):
        scene.act_on(member, "member_link_set", expect=step.expect, host=step.host, rate=step.rate)
    if step.rate:
        scene.hosts.slow(scene.host(step.host), step.rate)
    else:
        scene.hosts.hasten(scene.host(step.host))


@do.register
def _(step: Rejoining, scene: Scene) -> None:
    if not scene.wait_for_join(step.member, step.within):
        raise SceneFault(f"Needed within {step.within:.0f} s: {scene.clients[step.member]} joins again. It did not.")


@do.register
def _(step: Wait, scene: Scene) -> None:
    scene.rest(step.seconds * scene.rng.uniform(0.9, 1.3))


@do.register
def _(step: Until, scene: Scene) -> None:
    scene.rest(max(0.0, scene.stage.began + step.seconds - time.monotonic()))
