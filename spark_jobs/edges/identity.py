"""Which cluster the input is of, and whether the lake knows another under that name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pyspark.sql import functions as F

from spark_jobs.catalog import bronze, silver
from spark_jobs.edges.readings import Readings
from spark_jobs.edges.store import Store
from spark_jobs.shared.config import Settings
from spark_jobs.shared.exits import BadInput


def name_cluster(
    store: Store, settings: Settings, told: Mapping[str, frozenset[str]], readings: Readings
) -> tuple[str, list[str]]:
    """The name under which the input is kept, and what is doubtful about it.

    Takes: the ids that lines tell, by who wrote them.
    Order: the name given; the id that snapshots or brokers tell; the one id that clients tell; the folder's name.
    Raises: BadInput where the input is of two clusters, or the lake knows another cluster under that name.
    """
    ids = told["broker"] | readings.cluster_ids
    if len(ids) > 1:
        raise BadInput(
            f"LOGS and SNAPSHOTS name {len(ids)} clusters: {_listed(ids)}. "
            "Needed: the logs and readings of one cluster. Audit each cluster by itself."
        )
    if not ids and len(told["client"]) == 1:
        ids = told["client"]
    name = settings.cluster or next(iter(ids), None)
    if name is None:
        name = settings.logs.rstrip("/").rpartition("/")[2]
        return name, [f"No line and no reading names the cluster; it is called {name}, after its folder. Give CLUSTER."]
    if ids and name not in ids and (others := _known(store, name) - ids):
        raise BadInput(
            f"The lake {store.lake} knows the cluster {_listed(others)} as {name}, and the input is of {_listed(ids)}. "
            "Needed: one cluster under one name. Give another CLUSTER, or another LAKE."
        )
    return name, []


def _known(store: Store, name: str) -> frozenset[str]:
    """The ids of the clusters that the lake holds under a name."""
    told = []
    if store.has(bronze.SNAPSHOT_READINGS):
        told.append(store.read(bronze.SNAPSHOT_READINGS).select("cluster", F.col("cluster_id").alias("id")))
    if store.has(bronze.LOG_FILES):
        read = store.read(bronze.LOG_FILES).where("origin = 'broker'")
        told.append(read.select("cluster", F.explode("cluster_ids").alias("id")))
    if store.has(silver.EVENTS):
        named = store.read(silver.EVENTS).where("kind = 'cluster_named' AND origin = 'broker'")
        told.append(named.select("cluster", F.col("detail").alias("id")))
    rows = (row for frame in told for row in frame.where(F.col("cluster") == name).select("id").distinct().collect())
    return frozenset(row["id"] for row in rows if row["id"])


def _listed(ids: Iterable[str]) -> str:
    return " and ".join(sorted(ids))
