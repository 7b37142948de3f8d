"""The Airflow connection of type `hindsight`: one cluster, its lake, and where its alerts go."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from airflow.exceptions import AirflowNotFoundException
from airflow.sdk import Connection
from hindsight_airflow import AirflowFailException, BaseHook

from kafka_hindsight.settings.clusters import Cluster, OfConnection
from kafka_hindsight.settings.clusters import clusters as configured
from kafka_hindsight.settings.models import checked
from kafka_hindsight.shared.exits import BadInput


def connection_or_none(connection_id: str) -> Connection | None:
    """The Airflow connection of that id; None if there is none."""
    try:
        return Connection.get(connection_id)
    except AirflowNotFoundException:
        return None


class HindsightHook(BaseHook):
    """The hook of a connection: the host is the lake, the schema the cluster, the extra holds the other inputs."""

    conn_name_attr = "hindsight_conn_id"
    default_conn_name = "hindsight_default"
    conn_type = "hindsight"
    hook_name = "Kafka Hindsight"

    def __init__(self, hindsight_conn_id: str = default_conn_name) -> None:
        super().__init__()
        self.hindsight_conn_id = hindsight_conn_id

    def get_conn(self) -> dict[str, Any]:
        """The inputs of the cluster by their fields; none if there is no connection of the default name.

        Raises:
            AirflowFailException: The connection cannot be used, or one of another name does not exist.
        """
        connection = connection_or_none(self.hindsight_conn_id)
        if connection is None:
            if self.hindsight_conn_id == self.default_conn_name:
                return {}
            raise AirflowFailException(f"There is no connection {self.hindsight_conn_id}. Name another, or add it.")
        return inputs_of(connection)


def inputs_of(connection: Any) -> dict[str, Any]:
    """The inputs that a connection describes. Raises: AirflowFailException: it cannot be used."""
    values = {"lake": connection.host, "cluster": connection.schema, **connection.extra_dejson}
    try:
        return checked(OfConnection, values).model_dump(exclude_unset=True)
    except BadInput as problem:
        raise AirflowFailException(f"The connection {connection.conn_id}: {problem}") from None


def described(cluster: Cluster) -> Cluster:
    """The cluster; if it has no name, with what the connection says of it."""
    return cluster if cluster.name else replace(cluster, inputs={**cluster.inputs, **HindsightHook().get_conn()})


def clusters() -> tuple[Cluster, ...]:
    """The clusters of hindsight.toml, or the one of the connection. Not for DAG files: it asks for the connection."""
    return tuple(map(described, configured()))
