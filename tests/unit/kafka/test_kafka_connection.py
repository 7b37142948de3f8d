"""How a cluster is reached: what is accepted, what is refused in words, and that no secret is ever shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.kafka.connection import (
    BOOTSTRAP,
    JAVA_ONLY,
    Connection,
    from_environment,
    from_json,
    parsed,
    properties_of,
)
from kafka_hindsight.shared.exits import BadInput

SECRET_KEYS = ("sasl.password", "sasl.username", "ssl.key.password", "ssl.key.pem", "sasl.oauthbearer.client.secret")
secrets = st.text(st.characters(min_codepoint=0x3B1, max_codepoint=0x3C9), min_size=4)
"""In letters that no message of ours holds, so that a secret that shows is one that leaked."""


def refused(settings: dict[str, object]) -> str:
    with pytest.raises(BadInput) as problem:
        Connection.of("prod", settings)
    return str(problem.value)


@given(st.dictionaries(st.sampled_from(SECRET_KEYS), secrets, min_size=1))
def test_no_secret_is_ever_shown(settings: dict[str, str]) -> None:
    connection = Connection.of("prod", {BOOTSTRAP: "b:1", "sasl.mechanism": "PLAIN", **settings})
    shown = "\n".join((connection.described(), repr(connection), str(connection), f"{connection!s}"))
    assert not any(secret in shown for secret in settings.values())
    assert not any(secret in connection.masked(f"bad {secret}!") for secret in settings.values())
    assert "sasl.mechanism = PLAIN" in shown


@given(st.dictionaries(st.sampled_from([*SECRET_KEYS, *JAVA_ONLY, BOOTSTRAP, "default.api.timeout.ms"]), secrets))
def test_refusal_shows_no_secret_setting(settings: dict[str, str]) -> None:
    try:
        Connection.of("prod", settings)
    except BadInput as problem:
        hidden = [v for k, v in settings.items() if k not in (BOOTSTRAP, "default.api.timeout.ms")]
        open_ = [v for k, v in settings.items() if k in (BOOTSTRAP, "default.api.timeout.ms")]
        assert not any(h in str(problem) for h in hidden if not any(h in o for o in open_))


def test_connection_survives_json_round_trip_to_child_process() -> None:
    connection = Connection.of("prod", {BOOTSTRAP: "b:1", "sasl.password": "s3cret", "default.api.timeout.ms": 5000})
    assert from_json(connection.to_json()) == connection
    assert connection.timeout_ms == 5000


@pytest.mark.parametrize("text", ["", "no json s3cret", "[]", '{"name": "x"}', '{"name": "x", "settings": "s3cret"}'])
def test_invalid_connection_json_is_refused_and_not_quoted(text: str) -> None:
    with pytest.raises(BadInput, match="Stdin holds no connection") as problem:
        from_json(text)
    assert "s3cret" not in str(problem.value)


@pytest.mark.parametrize(
    "servers", ["b:1", "b", "b:1, c:2", "SASL_SSL://b:1", "[::1]:9092", "10.0.0.1:9092", "a-b.c_d:1"]
)
def test_valid_bootstrap_servers_are_accepted(servers: str) -> None:
    assert Connection.of("prod", {BOOTSTRAP: servers}).settings[BOOTSTRAP] == servers


@pytest.mark.parametrize("servers", ["b:port", "b:0", "b:65536", "b c", ":9092", "http://b:1/x", "b:1;c:2", "::1"])
def test_invalid_bootstrap_servers_are_refused(servers: str) -> None:
    assert "in bootstrap.servers. Needed: host:port,host:port" in refused({BOOTSTRAP: servers})


def test_credentials_in_an_address_are_refused_and_not_quoted() -> None:
    message = refused({BOOTSTRAP: "user:s3cret@b:1"})
    assert "credentials" in message
    assert "s3cret" not in message


def test_all_invalid_settings_are_reported_at_once() -> None:
    message = refused({"sasl.jaas.config": "s3cret", "ssl.truststore.location": "/t", "default.api.timeout.ms": "soon"})
    assert len(message.splitlines()) == 4
    assert "Give sasl.username and sasl.password instead" in message
    assert "s3cret" not in message


def test_airflow_s_booleans_and_numbers_become_text() -> None:
    extra = json.loads(
        '{"bootstrap.servers": "b:1", "enable.ssl.certificate.verification": false, "x.ms": 5, "y": null}'
    )
    assert Connection.of("c", extra).settings == {
        BOOTSTRAP: "b:1",
        "enable.ssl.certificate.verification": "false",
        "x.ms": "5",
    }


def test_a_properties_file_is_read_as_java_reads_it() -> None:
    text = "# comment\n! too\n\n  a=1\nb = two words\nc: 3\nd=one,\\\n  two\ne=\nsasl.password=a=b#c\n"
    values, wrong = parsed(text + "nothing\n")
    assert values == {"a": "1", "b": "two words", "c": "3", "d": "one,two", "e": "", "sasl.password": "a=b#c"}
    assert wrong == [11]


def test_environment_variable_bootstrap_overrides_properties_file(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text("bootstrap.servers=a:1\nsasl.password=s3cret\n")
    assert from_environment({"BOOTSTRAP": " "}) is None
    alone = from_environment({"KAFKA_CONFIG": str(file)})
    both = from_environment({"KAFKA_CONFIG": str(file), "BOOTSTRAP": "b:2"})
    assert alone and alone.settings == {BOOTSTRAP: "a:1", "sasl.password": "s3cret"}
    assert both and both.settings == {BOOTSTRAP: "b:2", "sasl.password": "s3cret"}


def test_unreadable_properties_file_is_refused_without_its_content(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read: No such file"):
        properties_of(str(tmp_path / "none"))
    (tmp_path / "keystore").write_bytes(b"\xfe\xed\xff")
    with pytest.raises(BadInput, match="not text in UTF-8"):
        properties_of(str(tmp_path / "keystore"))
    (tmp_path / "half").write_text("a=1\ns3cret\n")
    with pytest.raises(BadInput, match="no key=value in line 2") as problem:
        properties_of(str(tmp_path / "half"))
    assert "s3cret" not in str(problem.value)
