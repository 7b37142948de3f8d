"""How a cluster on ZooKeeper is moved to KRaft, step by step."""

from __future__ import annotations

from lab.drill import migration
from lab.drill.on_groups import do
from lab.drill.scene import Scene
from lab.drill.steps_on_brokers import AddController, Bridge, FinishMigration, Migrated, TakeOver, ToKraft


@do.register
def _(step: AddController, scene: Scene) -> None:
    scene.act("controller_added", controller=len(scene.stage.cluster.brokers) + 1, expect=step.expect)
    migration.add_controller(scene.stage.cluster)


@do.register
def _(step: Bridge, scene: Scene) -> None:
    broker = scene.broker(step.broker)
    scene.act("broker_bridged", broker=broker, expect=step.expect)
    migration.bridge(scene.stage.cluster, broker)


@do.register
def _(step: TakeOver, scene: Scene) -> None:
    scene.act("controller_takes_over", controller=len(scene.stage.cluster.brokers) + 1, expect=step.expect)


@do.register
def _(step: Migrated, scene: Scene) -> None:
    controller = len(scene.stage.cluster.brokers) + 1
    scene.wait_for_line(f"controller-{controller}/*.log*", migration.MIGRATED, step.within)
    scene.act("migrated", controller=controller, expect=step.expect)


@do.register
def _(step: ToKraft, scene: Scene) -> None:
    broker = scene.broker(step.broker)
    scene.act("broker_to_kraft", broker=broker, expect=step.expect)
    migration.to_kraft(scene.stage.cluster, broker)


@do.register
def _(step: FinishMigration, scene: Scene) -> None:
    controller = len(scene.stage.cluster.brokers) + 1
    scene.act("migration_finished", controller=controller, expect=step.expect)
    migration.finish(scene.stage.cluster)
