"""Loki, Elasticsearch, OpenSearch, CloudWatch, by stand-ins that check requests against the documentation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.sources import cloudwatch, documents, loki
from kafka_hindsight.sources.cloudwatch import CloudWatch
from kafka_hindsight.sources.documents import Elasticsearch, OpenSearch
from kafka_hindsight.sources.http import Server
from kafka_hindsight.sources.land import land
from kafka_hindsight.sources.loki import Loki
from kafka_hindsight.sources.model import Period, SourceFails
from tests.support.log_servers import Answer, CloudWatchStandIn, DocumentsStandIn, LokiStandIn, served
from tests.support.sources import PERIOD, killed_and_read_again, landed

pytestmark = pytest.mark.long

QUERY = '{app="kafka"} |= `a b`'
HEADERS = {"Authorization": "Bearer s3cret", "X-Scope-OrgID": "team"}
AT = 1_795_225_469_117_000_000
"""2026-11-21T01:44:29.117Z"""


def entries(count: int, of_one_instant: int = 3) -> list[tuple[Mapping[str, str], int, str]]:
    """Entries of two pods, several at each instant, and some of them equal."""
    labels = [{"app": "kafka", "pod": f"kafka-{n}", "container": "kafka"} for n in range(2)]
    return [(labels[n % 2], AT + n // of_one_instant, f"line {n // 2 % 7}") for n in range(count)]


def texts(folder: Path | str, field: str = "line") -> dict[str, list[str]]:
    return {log: [json.loads(line)[field] for line in lines] for log, lines in landed(folder).items()}


def of_pods(given: list[tuple[Mapping[str, str], int, str]]) -> dict[str, list[str]]:
    return {f"kafka-{n}/kafka.log": [t for labels, _, t in given if labels["pod"] == f"kafka-{n}"] for n in range(2)}


@pytest.mark.parametrize("limit", [4, 5, 7, 5000])
def test_each_entry_of_loki_lands_once_in_pages_of_any_size(
    limit: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loki, "_LIMIT", limit)
    given, folder = entries(100), str(tmp_path / "night")
    for known in (40, 40, 41, 100):
        with served(LokiStandIn(given[:known], QUERY, HEADERS)) as url:
            land(Loki(url, QUERY, HEADERS), folder, PERIOD, to_end=False)
    with served(LokiStandIn(given, QUERY, HEADERS)) as url:
        land(Loki(url, QUERY, HEADERS), folder, PERIOD, to_end=True)
    assert texts(folder) == of_pods(given)


def test_what_lands_is_what_logcli_writes(tmp_path: Path) -> None:
    labels = {"filename": "/var/log/server.log", "host": "broker-1", "detected_level": "info"}
    with served(LokiStandIn([(labels, AT + 1, "a line")], QUERY, {})) as url:
        land(Loki(url, QUERY), str(tmp_path / "night"), PERIOD, to_end=True)
    ((name, (line,)),) = landed(tmp_path / "night").items()
    assert name == "filename-/var/log/server.log/host-broker-1.log"
    assert json.loads(line) == {"labels": labels, "line": "a line", "timestamp": "2026-11-21T01:44:29.117000001Z"}


def test_more_entries_of_one_instant_than_a_page_holds_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loki, "_LIMIT", 3)
    with served(LokiStandIn(entries(4, 4), QUERY, {})) as url, pytest.raises(BadInput, match="of one instant, 2026-11"):
        land(Loki(url, QUERY), str(tmp_path / "night"), PERIOD, to_end=True)


def test_only_what_lies_in_the_period_is_asked_for(tmp_path: Path) -> None:
    told = [({"pod": "a"}, AT + n * 10**9, f"{n}") for n in range(4)]
    second = datetime(2026, 11, 21, 1, 44, 30, 117_000, tzinfo=UTC)
    with served(LokiStandIn(told, QUERY, {})) as url:
        land(Loki(url, QUERY), str(tmp_path / "n"), Period(second, second.replace(second=32)), to_end=True)
    assert list(texts(tmp_path / "n").values()) == [["1", "2"]]


def test_a_reading_of_loki_that_is_killed_goes_on(tmp_path: Path) -> None:
    given = [(labels, AT + n * 1000, f"{line} {n} {'x' * 40}") for n, (labels, _, line) in enumerate(entries(12_000))]
    stand_in = LokiStandIn(given, QUERY, HEADERS)
    with served(stand_in) as url:
        headers = ", ".join(f'{name} = "{value}"' for name, value in HEADERS.items())
        (tmp_path / "night.toml").write_text(
            f'kind = "loki"\nurl = "{url}"\nquery = {json.dumps(QUERY)}\nheaders = {{{headers}}}\n'
        )
        folder = tmp_path / "lake" / "night"
        assert killed_and_read_again("source://night", folder, tmp_path, kills=2) >= 1
    assert texts(folder) == of_pods(given)


def documents_of(count: int) -> list[dict[str, Any]]:
    """Documents of Filebeat: lines of one instant are told apart by where they lie in their file."""
    return [
        {
            "_index": "logs-1",
            "_id": f"{n * 7919 % 1000:03d}",
            "_source": {
                "@timestamp": AT // 1_000_000 + n // 5,
                "host": {"name": f"kafka-{n % 2}"},
                "log": {"offset": 100 * n},
                "message": f"line {n}",
            },
        }
        for n in range(count)
    ]


@pytest.mark.parametrize("kind", [Elasticsearch, OpenSearch])
@pytest.mark.parametrize("size", [3, 7, 2000])
def test_each_document_lands_once_in_the_order_of_its_file(
    kind: type[Elasticsearch], size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "_SIZE", size)
    given, folder = documents_of(60), str(tmp_path / "night")
    for known in (22, 22, 24, 60):
        stand_in = DocumentsStandIn(given[:known][::-1], kind is OpenSearch)
        with served(stand_in) as url:
            land(kind(url, "logs-*"), folder, PERIOD, to_end=known == 60)
        assert stand_in.open == {}, "a point in time that was opened is closed"
    found = {log: [json.loads(t)["_source"]["message"] for t in lines] for log, lines in landed(folder).items()}
    assert found == {f"kafka-{k}.log": [f"line {n}" for n in range(k, 60, 2)] for k in range(2)}


def test_what_lands_is_what_elasticdump_writes(tmp_path: Path) -> None:
    (given,) = documents_of(1)
    with served(DocumentsStandIn([given], False)) as url:
        land(Elasticsearch(url, "logs-*", {"term": {"kafka": True}}), str(tmp_path / "night"), PERIOD, to_end=True)
    assert {log: list(map(json.loads, lines)) for log, lines in landed(tmp_path / "night").items()} == {
        "kafka-0.log": [given]
    }


def test_an_answer_that_lacks_a_shard_is_no_answer(tmp_path: Path) -> None:
    stand_in = DocumentsStandIn(documents_of(9), False)
    stand_in.failed = 1
    with served(stand_in) as url:
        with pytest.raises(SourceFails, match="1 shards failed"):
            land(Elasticsearch(url, "logs-*"), str(tmp_path / "night"), PERIOD, to_end=True)
        assert stand_in.open == {}
        assert land(Elasticsearch(url, "logs-*"), str(tmp_path / "night"), PERIOD, to_end=True) == 9


@pytest.mark.parametrize(
    ("code", "said", "error"),
    [
        (401, "the token s3cret-token has expired", BadInput),
        (503, "busy", SourceFails),
        (429, "too many", SourceFails),
        (302, "http://127.0.0.1:1/elsewhere", BadInput),
    ],
)
def test_a_server_that_refuses_is_quoted_without_secrets(code: int, said: str, error: type[Exception]) -> None:
    def refusing(*_: Any) -> Answer:
        return code, said

    with served(refusing) as url, pytest.raises(error, match=f"answers {code}") as refused:
        Server(url, {"Authorization": "s3cret-token"}).ask("GET", "x")
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "http://user:s3cret@host", "host:3100", ""])
def test_only_urls_without_secrets_are_asked(url: str) -> None:
    with pytest.raises(BadInput, match="Needed: http") as refused:
        Server(url, {})
    assert "s3cret" not in str(refused.value)


def test_a_server_that_is_not_there_may_be_tried_again() -> None:
    with pytest.raises(SourceFails, match="gives no answer"):
        Server("http://127.0.0.1:1", {}).ask("GET", "x")


GROUP = "/msk/orders"
MILLIS = AT // 1_000_000


@pytest.fixture()
def aws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment in which AWS's client finds a key, a region, and no file of a user's."""
    for name in ("CONFIG_FILE", "SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(f"AWS_{name}", str(tmp_path / "none"))
    for name in ("PROFILE", "DEFAULT_REGION", "SESSION_TOKEN"):
        monkeypatch.delenv(f"AWS_{name}", raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s3cret")
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    return monkeypatch


def events_of(count: int) -> list[tuple[str, int, str]]:
    """Events of two streams, several at each instant, and some of them equal."""
    return [(f"kafka-{n % 2}/kafka", MILLIS + n // 3, f"line {n // 2 % 7}") for n in range(count)]


@pytest.mark.parametrize("size", [1, 2, 7, 10_000])
def test_each_event_of_cloudwatch_lands_once_in_pages_of_any_size(
    size: int, tmp_path: Path, aws: pytest.MonkeyPatch
) -> None:
    aws.setattr(cloudwatch, "_AT_ONCE", 4)
    given, folder = events_of(60), str(tmp_path / "night")
    for known in (22, 22, 23, 60):
        with served(CloudWatchStandIn(GROUP, given[:known], size)) as url:
            aws.setenv("AWS_ENDPOINT_URL", url)
            land(CloudWatch(GROUP), folder, PERIOD, to_end=known == 60)
    assert landed(folder) == {f"kafka-{k}/kafka.log": [m for _, _, m in given[k::2]] for k in range(2)}


def test_only_streams_and_instants_that_are_asked_for_come_from_cloudwatch(
    tmp_path: Path, aws: pytest.MonkeyPatch
) -> None:
    second = datetime(2026, 11, 21, 1, 44, 30, 117_000, tzinfo=UTC)
    given = [(stream, MILLIS + n * 1000, f"{n}\n\tat a.b.C") for stream in ("kafka-0", "app") for n in range(4)]
    with served(CloudWatchStandIn(GROUP, given, 3)) as url:
        aws.setenv("AWS_ENDPOINT_URL", url)
        land(CloudWatch(GROUP, "kafka-"), str(tmp_path / "n"), Period(second, second.replace(second=32)), to_end=True)
    assert landed(tmp_path / "n") == {"kafka-0.log": ["1", "\tat a.b.C", "2", "\tat a.b.C"]}


def test_cloudwatch_is_asked_again_where_it_is_asked_too_often(tmp_path: Path, aws: pytest.MonkeyPatch) -> None:
    stand_in = CloudWatchStandIn(GROUP, events_of(6), 2, (400, "ThrottlingException", "Rate exceeded"))
    with served(stand_in) as url:
        aws.setenv("AWS_ENDPOINT_URL", url)
        assert land(CloudWatch(GROUP), str(tmp_path / "n"), PERIOD, to_end=True) == 6


@pytest.mark.parametrize(
    ("refused", "error", "said"),
    [
        ((400, "ThrottlingException", "Rate exceeded"), SourceFails, "ThrottlingException, Rate exceeded"),
        ((500, "ServiceUnavailableException", "busy"), SourceFails, "busy"),
        ((400, "AccessDeniedException", "not authorized to perform"), BadInput, "not authorized to perform"),
        ((400, "InvalidSignatureException", "does not match\nx-amz-security-token: s3cret"), BadInput, "not match"),
    ],
)
def test_cloudwatch_that_refuses_is_quoted_without_secrets(
    refused: tuple[int, str, str], error: type[Exception], said: str, tmp_path: Path, aws: pytest.MonkeyPatch
) -> None:
    aws.setattr(cloudwatch, "_ATTEMPTS", 1)
    with served(CloudWatchStandIn(GROUP, [], 2, refused)) as url:
        aws.setenv("AWS_ENDPOINT_URL", url)
        with pytest.raises(error, match=said) as told:
            land(CloudWatch(GROUP), str(tmp_path / "n"), PERIOD, to_end=True)
    assert "s3cret" not in str(told.value)


@pytest.mark.parametrize("lacking", ["AWS_REGION", "AWS_ACCESS_KEY_ID"])
def test_cloudwatch_without_credentials_or_region_is_refused(
    lacking: str, tmp_path: Path, aws: pytest.MonkeyPatch
) -> None:
    aws.delenv(lacking)
    aws.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(BadInput, match="Needed: credentials and a region"):
        land(CloudWatch(GROUP), str(tmp_path / "n"), PERIOD, to_end=True)


def test_cloudwatch_that_is_not_there_may_be_tried_again(tmp_path: Path, aws: pytest.MonkeyPatch) -> None:
    aws.setattr(cloudwatch, "_ATTEMPTS", 1)
    aws.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    with pytest.raises(SourceFails, match="gives no answer"):
        land(CloudWatch(GROUP), str(tmp_path / "n"), PERIOD, to_end=True)


def test_a_reading_of_cloudwatch_that_is_killed_goes_on(tmp_path: Path, aws: pytest.MonkeyPatch) -> None:
    given = [(stream, at, f"{line} {n} {'x' * 40}") for n, (stream, at, line) in enumerate(events_of(4_000))]
    (tmp_path / "night.toml").write_text(f'kind = "cloudwatch"\ngroup = "{GROUP}"\n')
    with served(CloudWatchStandIn(GROUP, given, 300)) as url:
        aws.setenv("AWS_ENDPOINT_URL", url)
        assert killed_and_read_again("source://night", tmp_path / "lake" / "night", tmp_path, kills=2) >= 1
    found = landed(tmp_path / "lake" / "night")
    assert found == {f"kafka-{k}/kafka.log": [m for _, _, m in given[k::2]] for k in range(2)}
