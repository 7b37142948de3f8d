"""The envelopes that transports put around the lines of a log: the time, the origin, and the line inside.

An envelope is a prefix that a regex matches, or an object of JSON with certain fields. Envelopes may nest: the
line inside of one may be another.
"""

from __future__ import annotations

from kafka_hindsight.knowledge.model import JsonEnvelope, PrefixEnvelope

_DATE, _TIME, _ZONE = r"\d{4}-\d\d-\d\d", r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?", r"(?:Z|[+-]\d\d:?\d\d)"
_ISO = f"{_DATE}T{_TIME}{_ZONE}"
# A date has the form of a label, too: where one stands there is no name.
_POD = rf"(?!{_DATE} )[a-z0-9][a-z0-9.]{{0,99}}-[a-z0-9.-]{{1,150}}"
_LABEL = rf"(?!{_DATE} )[a-z0-9][a-z0-9-]{{0,62}}"
_SYSLOG = r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d"

PREFIXES = (
    PrefixEnvelope(
        name="cri",
        regex=rf"(?P<at>{_ISO}) (?P<stream>stdout|stderr) (?P<part>[FP])(?::\S{{1,80}})? ?(?P<line>.*)",
        source="Kubernetes' container runtime interface: CRI's format of logs, with lines cut in parts (P)",
    ),
    PrefixEnvelope(
        name="kubectl-prefix", regex=r"\[pod/(?P<from>[^\]\s]{1,400})\] (?P<line>.*)", source="kubectl logs --prefix"
    ),
    PrefixEnvelope(
        name="timestamps",
        regex=rf"(?P<at>{_ISO}) (?P<line>.*)",
        source="kubectl logs --timestamps, docker logs --timestamps, CloudWatch's export to S3",
    ),
    PrefixEnvelope(
        name="local-time",
        regex=r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d ?+"
        r"(?P<line>(?:\[\d{4}-\d\d-\d\d |\t|Caused by: |[a-z]+[.][\w.$]{1,200}:).*)",
        source="wrappers of services and viewers that write the local time before each line, such as ts of moreutils"
        " with %Y/%m/%d %H:%M:%S: the line's own time counts",
    ),
    PrefixEnvelope(
        name="cloudwatch-tail",
        regex=rf"(?P<at>{_ISO}) (?P<from>[\w./-]{{1,400}}) (?P<line>.*)",
        source="aws logs tail: time, stream, message",
    ),
    PrefixEnvelope(
        name="loki",
        regex=rf"(?P<at>{_ISO}) (?P<labels>\{{[^}}]{{0,2000}}\}}) ?(?P<line>.*)",
        source="logcli query: time, labels, line",
    ),
    PrefixEnvelope(
        name="compose", regex=r"(?P<from>[A-Za-z0-9][\w.-]{0,200}?) +\| ?(?P<line>.*)", source="docker compose logs"
    ),
    PrefixEnvelope(
        name="syslog-5424",
        regex=rf"(?:<\d{{1,3}}>)?\d{{1,2}} (?P<at>{_ISO}) (?P<host>\S{{1,255}}) (?P<from>\S{{1,48}}) "
        r"\S{1,128} \S{1,32} (?:-|(?:\[[^\]]{0,2000}\]){1,9})(?: (?:\xef\xbb\xbf)?(?P<line>.*))?",
        source="RFC 5424, 6: the format of a syslog message",
    ),
    PrefixEnvelope(
        name="fluentd",
        regex=rf"(?P<at>{_DATE}[T ]{_TIME} ?{_ZONE})[\t ](?P<from>[\w.*/-]{{1,400}})(?:\t|: )(?P<line>\{{.*)",
        source="Fluentd: the formatter out_file, time TAB tag TAB JSON, and out_stdout, time tag: JSON",
    ),
    PrefixEnvelope(
        name="stern",
        regex=rf"(?P<host>{_POD}) (?P<from>{_LABEL}) (?P<line>.*)",
        source="stern without colours, cmd/cmd.go: {{.PodName}} {{.ContainerName}} {{.Message}}",
    ),
    PrefixEnvelope(
        name="stern-namespaces",
        regex=rf"(?P<namespace>{_LABEL}) (?P<host>{_POD}) (?P<from>{_LABEL}) (?P<line>.*)",
        source="stern --all-namespaces: {{.Namespace}} before the pod",
    ),
    PrefixEnvelope(
        name="journald",
        regex=rf"(?:<\d{{1,3}}>)?(?:(?P<at>{_ISO})|{_SYSLOG}) (?P<host>\S{{1,255}}) "
        r"(?P<from>[^\s:\[]{1,100})(?:\[\d{1,10}\])?: (?P<line>.*)",
        source="journalctl -o short-iso and -o short; RFC 3164, 5.4",
    ),
)
"""A log has the first of these prefixes that all its lines have and behind which most lines can be read."""

_PODS = (("kubernetes.pod.name", "kubernetes.container.name"), ("kubernetes.pod_name", "kubernetes.container_name"))
ORIGINS = (
    *_PODS,
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
"""The fields that name the writer of a line: the first of these that an object has count."""

OBJECTS = (
    JsonEnvelope(
        name="fluent-bit",
        line="log",
        has=("kubernetes",),
        source="Fluent Bit: records of tail with the filter kubernetes, the field log",
    ),
    JsonEnvelope(
        name="docker", line="log", has=("stream", "time"), has_origin=False, source="Docker's driver json-file"
    ),
    JsonEnvelope(
        name="log", line="log", source="Fluent Bit and Fluentd: records of tail without the filter kubernetes"
    ),
    JsonEnvelope(name="journald-json", line="MESSAGE", has=("__REALTIME_TIMESTAMP",), source="journalctl -o json"),
    JsonEnvelope(
        name="elasticsearch",
        line="_source",
        has=("_index",),
        at=(),
        has_origin=False,
        is_around_objects=True,
        source="elasticdump and the exports of OpenSearch: a document a line",
    ),
    JsonEnvelope(
        name="gelf",
        line="full_message",
        has=("version", "host", "short_message"),
        otherwise="short_message",
        source="Graylog's extended log format 1.1",
    ),
    JsonEnvelope(name="loki-json", line="line", source="logcli query -o jsonl; Loki's push API has the same fields"),
    JsonEnvelope(
        name="message", line="message", source="Filebeat, Logstash, Vector and CloudWatch's events: the field message"
    ),
)
"""An object belongs to the first of these envelopes whose fields it has."""

OTLP = "otlp"
"""OpenTelemetry's records in JSON: one line holds many. Source: opentelemetry-proto, logs/v1/logs.proto."""
