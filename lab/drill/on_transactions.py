"""How what is done with transactional producers is done."""

from __future__ import annotations

from lab.drill.on_groups import do
from lab.drill.producers import DONE, TransactionalProducer
from lab.drill.scene import Scene, SceneFault
from lab.drill.steps_on_transactions import Begin, Commit, PauseProducer, ResumeProducer, StartProducer


@do.register
def _(step: StartProducer, scene: Scene) -> None:
    client = scene.names.client(scene.group)
    own = {"client.id": client, "transactional.id": scene.transactional_id}
    scene.act("producer_start", producer=client, transactional_id=scene.transactional_id, expect=step.expect)
    config = {**scene.stage.cluster.reach("librdkafka"), **own, **step.config}
    scene.producers[step.producer] = TransactionalProducer(scene.stage.clients / f"{client}.log", config)


@do.register
def _(step: Begin, scene: Scene) -> None:
    topic = scene.topic(step.topic)
    scene.act("transaction_begun", topic=topic, records=step.count, expect=step.expect)
    answer = scene.producers[step.producer].ask({"do": "begin", "topic": topic, "count": step.count})
    _check(answer, step.refused)


@do.register
def _(step: Commit, scene: Scene) -> None:
    act = scene.act("transaction_committed", expect=step.expect)
    answer = scene.producers[step.producer].ask({"do": "commit"})
    scene.stage.truth.amend(act, said=answer)
    _check(answer, step.refused)


def _check(answer: str, refused: bool) -> None:
    if (answer != DONE) != refused:
        raise SceneFault(f"Found: the producer says {answer}. Needed: {'an error' if refused else DONE}.")


@do.register
def _(step: PauseProducer, scene: Scene) -> None:
    scene.act("producer_sigstop", expect=step.expect)
    scene.producers[step.producer].pause()


@do.register
def _(step: ResumeProducer, scene: Scene) -> None:
    scene.act("producer_sigcont", expect=step.expect)
    scene.producers[step.producer].resume()
