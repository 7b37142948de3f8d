"""Settings: everything a user may get wrong is told at once, in sentences."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.settings import models
from kafka_hindsight.settings.maintenance import maintenance_of
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared.exits import BadInput

GOOD = {"logs": "/logs", "lake": "/lake", "run_id": "r-1", "run_at": "2026-11-21T03:00:00Z"}


def settings(**changed: Any) -> Settings:
    return Settings.of({**GOOD, **changed})


def problems(**changed: Any) -> list[str]:
    with pytest.raises(BadInput) as refusal:
        settings(**changed)
    return list(refusal.value.sentences)


def test_all_setting_problems_come_at_once() -> None:
    sentences = problems(logs="", window_from="yesterday", logs_tz="Mars/Base", look_ahead_hours="-1", colour="red")
    assert sorted(t.split()[0] for t in sentences) == ["'colour'", "FROM", "LOGS", "LOGS_TZ", "LOOK_AHEAD_HOURS"]
    assert all(re.search(r"\. Needed: .+\. (Correct it|Rename it|Set it, or give --logs)\.$", t) for t in sentences)


@pytest.mark.parametrize(
    ("given_text", "instant"),
    [
        ("2026-11-20", datetime(2026, 11, 20, tzinfo=UTC)),
        ("2026-11-20T01:30", datetime(2026, 11, 20, 1, 30, tzinfo=UTC)),
        ("2026-11-20T01:30:00+02:00", datetime(2026, 11, 19, 23, 30, tzinfo=UTC)),
        (" 2026-11-20T01:30Z ", datetime(2026, 11, 20, 1, 30, tzinfo=UTC)),
    ],
)
def test_instants_are_utc_unless_offset_is_written(given_text: str, instant: datetime) -> None:
    assert settings(window_from=given_text, window_to="2026-11-22").window_from == instant


def test_window_needs_both_ends_in_order() -> None:
    assert problems(window_from="2026-11-20") == [
        "FROM is set and TO is not. Needed: both, or neither to audit everything."
    ]
    assert problems(window_to="2026-11-20")[0].startswith("TO is set and FROM is not")
    assert "lies before TO" in problems(window_from="2026-11-20", window_to="2026-11-20T00:00Z")[0]


def test_setting_of_a_scheduler_that_is_missing_is_named() -> None:
    assert problems(run_at="") == ["RUN_AT is not set. Needed: a value. Add it."]


def test_blank_setting_means_default() -> None:
    read = settings(client_logs="  ", cluster="", logs_tz=" ", window_from="", window_to=None, look_back_hours="")
    assert (read.client_logs, read.cluster, read.logs_tz, read.window_from) == (None, None, "UTC", None)
    assert read.look_back_hours == models.LOOK_BACK_HOURS


def test_local_paths_become_absolute_and_uris_stay(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    read = settings(logs="night 1/$(logs)", client_logs="s3a://bucket/clients", lake="file:/srv/lake")
    assert read.logs == f"{tmp_path}/night 1/$(logs)"
    assert (read.client_logs, read.lake) == ("s3a://bucket/clients", "file:/srv/lake")


def test_control_character_is_refused() -> None:
    assert "control character" in problems(cluster="prod\x1b[2J")[0]


@pytest.mark.parametrize("run_id", ["", "a/b", "../x", "a:b", "a b"])
def test_run_id_must_be_portable_file_name(run_id: str) -> None:
    assert problems(run_id=run_id)[0].startswith("RUN_ID is" if run_id else "RUN_ID is not set")


def test_settings_survive_json() -> None:
    read = settings(window_from="2026-11-20T00:00+01:00", window_to="2026-11-21", look_ahead_hours="3")
    assert Settings.of(json.loads(read.to_json())) == read


def test_secrets_are_masked_where_settings_are_printed() -> None:
    secret = {"logs": "s3a://AKIA:verysecret@bucket/logs", "snapshots": "https://store/x?sig=topsecret&part=1"}
    described = settings().model_copy(update=secret).described()
    assert "secret" not in described
    assert "logs = s3a://***@bucket/logs" in described
    assert "part=1" in described


@pytest.mark.parametrize("field", ["logs", "client_logs", "snapshots", "lake"])
@pytest.mark.parametrize(
    ("place", "shown"),
    [
        ("s3a://AKIA:SECRET@bucket/logs", "s3a://***@bucket/logs"),
        ("https://store/x?part=1&sig=SECRET", "https://store/x?part=1&sig=***"),
        ("wasbs://c@a.blob/x;accountKey=SECRET", "wasbs://***@a.blob/x;accountKey=***"),
    ],
)
def test_uri_with_secret_is_refused_and_masked(field: str, place: str, shown: str) -> None:
    (sentence,) = problems(**{field: place})
    assert sentence.startswith(f"{field.upper()} is '{shown}'. Needed: a URI without a password or a key, ")
    assert "SECRET" not in sentence


def test_user_name_in_uri_is_no_secret() -> None:
    assert settings(logs="abfss://container@account.dfs.core.windows.net/x").logs.startswith("abfss://container@")


def test_missing_local_inputs_are_named_and_uris_not_checked(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    read = settings(logs=str(tmp_path / "logs"), client_logs="s3a://b/c", snapshots=str(tmp_path / "none.jsonl"))
    assert [m.split()[0] for m in models.missing_inputs(read)] == ["SNAPSHOTS"]


def test_environment_variables_map_to_settings() -> None:
    values = models.from_environment({"LOGS": " /x ", "FROM": "2026-11-20", "CLIENT_LOGS": " ", "HOME": "/home/me"})
    assert values == {"logs": "/x", "window_from": "2026-11-20"}


@given(st.dictionaries(st.sampled_from(models.INPUTS), st.text(max_size=40)))
def test_any_input_gives_settings_or_sentences(typed: dict[str, str]) -> None:
    try:
        read = Settings.of({**GOOD, **typed})
    except BadInput as refusal:
        assert refusal.sentences
    else:
        assert Settings.of(json.loads(read.to_json())) == read


def test_maintenance_windows_are_read_and_checked() -> None:
    declared = "2026-11-20T01:00/2026-11-20T03:00+01:00 patching; 2026-11-21/2026-11-22"
    assert settings(maintenance=declared).maintenance == declared
    first, second = maintenance_of(declared)
    assert (first.start, first.end, first.reason) == (
        datetime(2026, 11, 20, 1, tzinfo=UTC),
        datetime(2026, 11, 20, 2, tzinfo=UTC),
        "patching",
    )
    assert (second.end, second.reason) == (datetime(2026, 11, 22, tzinfo=UTC), "")
    backwards, unread, single = problems(maintenance="2026-11-22/2026-11-21; tonight; 2026-11-21T01:00Z patching")
    assert "'2026-11-22/2026-11-21'" in backwards and "an end after the start" in backwards
    assert "'tonight'" in unread and "two instants with / between" in unread
    assert "'2026-11-21T01:00Z patching'" in single
    assert maintenance_of(None) == maintenance_of(" ; ") == ()
