"""Claims of runs: the rows of their cluster, and for a moment what all clusters of a lake publish together.

Runs of different clusters work side by side. Each commits rows of its own cluster, and names the version of the table
that it saw; a commit of another one in between makes it begin from the new version. They meet at the publication.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from datetime import timedelta
from functools import partial

from kafka_hindsight.lake import publication, publishing
from kafka_hindsight.lake.landing import safe_name
from kafka_hindsight.lake.lock import hold_lock
from kafka_hindsight.lake.store import Store
from kafka_hindsight.shared.at_once import at_once

PATIENCE = timedelta(minutes=30)
"""The time that a run waits for another: the hourly collect and the nightly audit of a cluster meet every night."""

PUBLICATION, MAINTENANCE = "publication", "maintenance"


def hold_cluster(lake: str, cluster: str, run_id: str) -> AbstractContextManager[None]:
    """Hold a cluster's rows in all tables while the block runs. Raises: see `hold_lock`."""
    return _hold(lake, f"cluster-{safe_name(cluster)}", run_id)


def hold_publication(lake: str, run_id: str) -> AbstractContextManager[None]:
    """Hold what the clusters of a lake share while the block runs: what readers see of gold, and the pages of all.

    It is taken last, for seconds. Raises: see `hold_lock`.
    """
    return _hold(lake, PUBLICATION, run_id)


def hold_maintenance(lake: str, run_id: str) -> AbstractContextManager[None]:
    """Hold the work on files of all clusters while the block runs. Raises: see `hold_lock`."""
    return _hold(lake, MAINTENANCE, run_id)


def hold_source(lake: str, source: str, run_id: str) -> AbstractContextManager[None]:
    """Hold the landed lines of a source, which may be those of several clusters. Raises: see `hold_lock`."""
    return _hold(lake, f"source-{safe_name(source)}", run_id)


def _hold(lake: str, name: str, run_id: str) -> AbstractContextManager[None]:
    return hold_lock(lake, name, run_id, PATIENCE, partial(fence, lake, run_id))


def fence(lake: str, run_id: str) -> None:
    """Give every table and the list of published versions a new version, after a holder of a lock has died.

    What it still has on the way names an older one, so it is refused. Nothing in Delta compares holders.
    """
    store = Store(lake)
    at_once(*(partial(store.fence, table, run_id) for table in publication.newest_versions(store.lake)))
    publishing.fence(store.lake, run_id)
