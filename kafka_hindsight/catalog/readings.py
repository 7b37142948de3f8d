"""One reading of a cluster as a type: docs/design.md, section 7.

It has the fields that are read. Other fields stay in the file and are ignored.
"""

from kafka_hindsight.catalog.row import Row, struct
from kafka_hindsight.catalog.rows.structs import MissingPart

Parts = list[str]
"""Such as topic, partition, offset: names and numbers mixed, so all are read as text."""


@struct
class ReadBroker(Row):
    """A broker."""

    id: int
    host: str
    port: int
    rack: str


@struct
class ReadPartition(Row):
    """A partition."""

    partition: int
    leader: int
    replicas: list[int]
    isr: list[int]


@struct
class ReadTopic(Row):
    """A topic."""

    topic: str
    internal: bool
    partitions: list[ReadPartition]


@struct
class ReadMember(Row):
    """A member of a group."""

    member_id: str
    client_id: str
    host: str
    instance_id: str
    assignment: list[Parts]


@struct
class ReadGroup(Row):
    """A group."""

    group: str
    state: str
    type: str
    assignor: str
    coordinator: int
    error: str
    members: list[ReadMember]
    committed: list[Parts]
    committed_epochs: list[Parts]


@struct
class ReadConfig(Row):
    """A setting."""

    resource_type: str
    resource: str
    name: str
    value: str
    source: str


@struct
class Reading(Row):
    """One reading. Fields that did not answer are missing."""

    at: str
    cluster: str
    cluster_id: str
    controller: int
    error: str
    missing: list[MissingPart]
    brokers: list[ReadBroker]
    topics: list[ReadTopic]
    begin_offsets: list[Parts]
    stable_offsets: list[Parts]
    end_offsets: list[Parts]
    groups: list[ReadGroup]
    configs: list[ReadConfig]
