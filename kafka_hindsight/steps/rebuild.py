"""The step rebuild: timelines of rebalances and failovers, their causes, and findings; all of it staged.

judgements/rebuild declares the judgements and their inputs. This step runs them.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.engine.judgement_run import OUTSIDE_GOLD, rebuild
from kafka_hindsight.engine.workers import Workers
from kafka_hindsight.judgements.reasoning.clock_errors import ClockError
from kafka_hindsight.judgements.reasoning.scope import Scope
from kafka_hindsight.lake.staging import Staged, clear, list_staged
from kafka_hindsight.lake.store import Store
from kafka_hindsight.settings.maintenance import maintenance_of
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.steps.renewal import renew_from_staging


def run_step(workers: Workers, settings: Settings, earlier: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Rebuild the window of ingest, and stage every gold table.

    Args:
        workers: Those that judge.
        settings: What the user set.
        earlier: The summary of ingest: cluster, window_from, window_to, clocks.

    Returns:
        cluster, window_from and window_to.
    """
    ingested = earlier["ingest"]
    window = Window(datetime.fromisoformat(ingested["window_from"]), datetime.fromisoformat(ingested["window_to"]))
    around = Window(
        window.start - timedelta(hours=settings.look_back_hours),
        window.end + timedelta(hours=settings.look_ahead_hours),
    )
    clocks = tuple(map(ClockError.of, ingested.get("clocks", ())))
    scope = Scope(ingested["cluster"], window, around, clocks, maintenance_of(settings.maintenance))
    store = Store(settings.lake)
    clear(store.lake, scope.cluster)
    with workers.runner(store) as runner:
        staged = Staged(settings.run_id, rebuild(runner, scope))
    for name in OUTSIDE_GOLD:
        if name in staged.files:
            store.create(BY_NAME[name])
            renew_from_staging(store, BY_NAME[name], staged, scope.cluster, window)
    list_staged(store.lake, scope.cluster, staged)
    return {name: ingested[name] for name in ("cluster", "window_from", "window_to")}
