"""What transports wrap around the lines of a log: when a line passed, from where, and the line inside.

An envelope is a prefix that a regex matches, or an object of JSON with certain fields. Envelopes may nest: the
line inside of one may be another.
"""

from __future__ import annotations

from kafka_hindsight.knowledge.model import JsonEnvelope, PrefixEnvelope

_LINE = "[2026-11-21 01:44:29,117] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)"
_ISO = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)"
_SYSLOG = r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d"

PREFIXES = (
    PrefixEnvelope(
        name="colours",
        regex=r"",
        source="ECMA-48, 8.3.117: select graphic rendition",
        samples=(f"\x1b[32m{_LINE}\x1b[0m", f"\x1b[36mkafka-1  |\x1b[0m {_LINE}"),
        counter_samples=(_LINE,),
    ),
    PrefixEnvelope(
        name="cri",
        regex=rf"(?P<at>{_ISO}) (?P<stream>stdout|stderr) (?P<part>[FP])(?::\S{{1,80}})? ?(?P<line>.*)",
        source="Kubernetes' container runtime interface: CRI's format of logs, with lines cut in parts (P)",
        samples=(f"2026-11-21T01:44:29.117123456Z stdout F {_LINE}",),
        counter_samples=(_LINE, f"2026-11-21T01:44:29.117Z {_LINE}"),
    ),
    PrefixEnvelope(
        name="kubectl-prefix",
        regex=r"\[pod/(?P<from>[^\]\s]{1,400})\] (?P<line>.*)",
        source="kubectl logs --prefix",
        samples=(f"[pod/kafka-0/kafka] {_LINE}",),
        counter_samples=(_LINE,),
    ),
    PrefixEnvelope(
        name="timestamps",
        regex=rf"(?P<at>{_ISO}) (?P<line>.*)",
        source="kubectl logs --timestamps, docker logs --timestamps, CloudWatch's export to S3",
        samples=(f"2026-11-21T01:44:29.117123456Z {_LINE}",),
        counter_samples=(_LINE,),
    ),
    PrefixEnvelope(
        name="cloudwatch-tail",
        regex=rf"(?P<at>{_ISO}) (?P<from>[\w./-]{{1,400}}) (?P<line>.*)",
        source="aws logs tail: time, stream, message",
        samples=(f"2026-11-21T01:44:29.117000+00:00 kafka-0 {_LINE}",),
        counter_samples=(_LINE,),
    ),
    PrefixEnvelope(
        name="loki",
        regex=rf"(?P<at>{_ISO}) (?P<labels>\{{[^}}]{{0,2000}}\}}) ?(?P<line>.*)",
        source="logcli query: time, labels, line",
        samples=(f'2026-11-21T01:44:29Z {{app="kafka", pod="kafka-0"}} {_LINE}',),
        counter_samples=(_LINE,),
    ),
    PrefixEnvelope(
        name="compose",
        regex=r"(?P<from>[A-Za-z0-9][\w.-]{0,200}?) +\| ?(?P<line>.*)",
        source="docker compose logs",
        samples=(f"kafka-1  | {_LINE}",),
        counter_samples=(_LINE, "%4|1795226046.941|MAXPOLL|a#b| [thrd:main]: x"),
    ),
    PrefixEnvelope(
        name="syslog-5424",
        regex=rf"(?:<\d{{1,3}}>)?\d{{1,2}} (?P<at>{_ISO}) (?P<host>\S{{1,255}}) (?P<from>\S{{1,48}}) "
        r"\S{1,128} \S{1,32} (?:-|(?:\[[^\]]{0,2000}\]){1,9})(?: (?:\xef\xbb\xbf)?(?P<line>.*))?",
        source="RFC 5424, 6: the format of a syslog message",
        samples=(f"<134>1 2026-11-21T01:44:29.117Z host-1 kafka 123 - - {_LINE}",),
        counter_samples=(_LINE,),
    ),
    PrefixEnvelope(
        name="journald",
        regex=rf"(?:<\d{{1,3}}>)?(?:(?P<at>{_ISO})|{_SYSLOG}) (?P<host>\S{{1,255}}) "
        r"(?P<from>[^\s:\[]{1,100})(?:\[\d{1,10}\])?: (?P<line>.*)",
        source="journalctl -o short-iso and -o short; RFC 3164, 5.4",
        samples=(
            f"2026-11-21T01:44:29+0000 host-1 kafka-server-start.sh[123]: {_LINE}",
            f"<30>Nov 21 01:44:29 host-1 kafka[123]: {_LINE}",
        ),
        counter_samples=(_LINE,),
    ),
)
"""Order: the first that all lines have, and behind which the most is understood."""

_POD = (("kubernetes.pod.name", "kubernetes.container.name"), ("kubernetes.pod_name", "kubernetes.container_name"))
ORIGINS = (
    *_POD,
    ("labels.pod", "labels.container"),
    ("stream.pod", "stream.container"),
    ("container.name",),
    ("container_name",),
    ("_container_name",),
    ("CONTAINER_NAME",),
    ("_HOSTNAME", "_SYSTEMD_UNIT"),
    ("host.name", "log.file.path"),
    ("host.name",),
    ("host", "file"),
    ("host", "path"),
    ("host",),
    ("hostname",),
    ("labels.instance",),
)
"""Who wrote a line, by the fields of which the first that are there are taken."""

_AT = ("@timestamp", "timestamp", "time", "ts", "date", "__REALTIME_TIMESTAMP")

OBJECTS = (
    JsonEnvelope(
        name="fluent-bit",
        line="log",
        has=("log", "kubernetes"),
        at=_AT,
        source="Fluent Bit: records of tail with the filter kubernetes, the field log",
        samples=(
            '{"date":1795225469.117,"stream":"stdout","log":"%s",'
            '"kubernetes":{"pod_name":"kafka-0","container_name":"kafka"}}' % _LINE,
        ),
        counter_samples=('{"message":"x"}', '{"log":"x"}'),
    ),
    JsonEnvelope(
        name="docker",
        line="log",
        has=("log", "stream", "time"),
        at=_AT,
        has_origin=False,
        source="Docker's driver json-file",
        samples=('{"log":"%s\\n","stream":"stdout","time":"2026-11-21T01:44:29.117123456Z"}' % _LINE,),
        counter_samples=('{"message":"x","@timestamp":"2026-11-21T01:44:29Z"}',),
    ),
    JsonEnvelope(
        name="log",
        line="log",
        has=("log",),
        at=_AT,
        source="Fluent Bit and Fluentd: records of tail without the filter kubernetes",
        samples=('{"date":1795225469.117,"log":"%s"}' % _LINE,),
        counter_samples=('{"message":"x"}',),
    ),
    JsonEnvelope(
        name="journald-json",
        line="MESSAGE",
        has=("MESSAGE", "__REALTIME_TIMESTAMP"),
        at=_AT,
        source="journalctl -o json",
        samples=(
            '{"__REALTIME_TIMESTAMP":"1795225469117000","_HOSTNAME":"h","_SYSTEMD_UNIT":"kafka.service","MESSAGE":"%s"}'
            % _LINE,
        ),
        counter_samples=('{"message":"x"}',),
    ),
    JsonEnvelope(
        name="elasticsearch",
        line="_source",
        has=("_index", "_source"),
        at=(),
        has_origin=False,
        is_around_objects=True,
        source="elasticdump and the exports of OpenSearch: a document a line",
        samples=(
            '{"_index":"logs","_id":"1","_source":{"@timestamp":"2026-11-21T01:44:29.117Z","message":"%s"}}' % _LINE,
        ),
        counter_samples=('{"message":"x"}',),
    ),
    JsonEnvelope(
        name="gelf",
        line="full_message",
        has=("version", "host", "short_message"),
        at=_AT,
        otherwise="short_message",
        source="Graylog's extended log format 1.1",
        samples=('{"version":"1.1","host":"h","short_message":"%s","timestamp":1795225469.117}' % _LINE,),
        counter_samples=('{"message":"x"}',),
    ),
    JsonEnvelope(
        name="loki-json",
        line="line",
        has=("line",),
        at=_AT,
        source="logcli query -o jsonl; Loki's push API has the same fields",
        samples=('{"labels":{"pod":"kafka-0"},"line":"%s","timestamp":"2026-11-21T01:44:29.117Z"}' % _LINE,),
        counter_samples=('{"message":"x"}',),
    ),
    JsonEnvelope(
        name="message",
        line="message",
        has=("message",),
        at=_AT,
        source="Filebeat, Logstash, Vector and CloudWatch's events: the field message",
        samples=(
            '{"@timestamp":"2026-11-21T01:44:30.001Z","host":{"name":"h"},"log":{"file":{"path":"/v/server.log"}},'
            '"message":"%s"}' % _LINE,
            '{"file":"/var/log/kafka/server.log","host":"h","message":"%s","source_type":"file",'
            '"timestamp":"2026-11-21T01:44:30Z"}' % _LINE,
            '{"@timestamp":"2026-11-21T01:44:30Z","@version":"1","path":"/v/server.log","message":"%s"}' % _LINE,
        ),
        counter_samples=('{"log":"x"}',),
    ),
)
"""Order: an object is of the first whose fields it has."""

OTLP = "otlp"
"""OpenTelemetry's records in JSON: one line holds many. Source: opentelemetry-proto, logs/v1/logs.proto."""
