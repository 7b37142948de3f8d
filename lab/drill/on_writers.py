"""How what is done with producers that write all the time is done."""

from __future__ import annotations

from lab.drill.on_groups import do
from lab.drill.scene import Scene
from lab.drill.steps_on_writers import CloseWriter, StartWriter
from lab.drill.writers import writer_of


@do.register
def _(step: StartWriter, scene: Scene) -> None:
    cluster, client, topic = scene.stage.cluster, scene.names.client(scene.group), scene.topic(step.topic)
    own = {"client.id": client, **({"transactional.id": scene.transactional_id} if step.is_transactional else {})}
    config = {**cluster.reach(step.library), **own, **step.config}
    log = scene.stage.clients / f"{client}.log"
    start = scene.act(
        "writer_start", producer=client, library=step.library, topic=topic, config=dict(step.config), expect=step.expect
    )
    scene.writers[step.writer] = writer_of(
        step.library, cluster.libs, cluster.version, log, topic, config, step.logs_failures
    )
    scene.clients[step.writer] = client
    scene.writes[step.writer] = {"topic": topic, "since": start["at"]}


@do.register
def _(step: CloseWriter, scene: Scene) -> None:
    client, about = scene.clients[step.writer], scene.writes[step.writer]
    closed = scene.act("writer_close", about=client, kinds=list(step.kinds), expect=step.expect, **about)
    scene.stage.truth.amend(closed, **scene.writers[step.writer].close())
