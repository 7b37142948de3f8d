"""What one reading of a cluster holds: docs/design.md section 7, as a type."""

_PAIRS = "ARRAY<ARRAY<STRING>>"
"""Lists such as [topic, partition, offset]: names and numbers mixed, so all are read as text."""

READING = (
    "STRUCT<at: STRING, cluster: STRING, cluster_id: STRING, controller: INT, error: STRING,"
    " missing: ARRAY<STRUCT<part: STRING, reason: STRING>>,"
    " brokers: ARRAY<STRUCT<id: INT, host: STRING, port: INT, rack: STRING>>,"
    " topics: ARRAY<STRUCT<topic: STRING, internal: BOOLEAN, partitions: ARRAY<STRUCT<"
    "partition: INT, leader: INT, replicas: ARRAY<INT>, isr: ARRAY<INT>>>>>,"
    f" end_offsets: {_PAIRS},"
    " groups: ARRAY<STRUCT<group: STRING, state: STRING, type: STRING, assignor: STRING, coordinator: INT,"
    " error: STRING, members: ARRAY<STRUCT<member_id: STRING, client_id: STRING, host: STRING, instance_id: STRING,"
    f" assignment: {_PAIRS}>>, committed: {_PAIRS}>>,"
    " configs: ARRAY<STRUCT<resource_type: STRING, resource: STRING, name: STRING, value: STRING, source: STRING>>>"
)
"""The fields that are read, as a Spark SQL type; others are kept in the file and passed over."""
