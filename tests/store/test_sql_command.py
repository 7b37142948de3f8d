"""The command `hindsight sql`: one answer or a prompt, in a terminal and out of one."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kafka_hindsight.settings.home import HOME
from kafka_hindsight.shared.exits import BAD_INPUT, DONE, BadInput
from kafka_hindsight.sql import prompt as sql
from kafka_hindsight.sql.duck_types import quoted_text
from kafka_hindsight.sql.lake_views import open_views
from kafka_hindsight.sql.named_queries import named_queries
from tests.support.asked_lake import LAKE, answers
from tests.support.lake import write_lake
from tests.support.rows import QUOTE


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # A space, a quote and a percent sign: a lake may lie anywhere.
    return write_lake(tmp_path_factory.mktemp("a lake's 100%"), LAKE)


@pytest.fixture(scope="module")
def session(lake: Path) -> sql.Session:
    return sql.Session(open_views(str(lake)), named_queries(), "json")


@contextmanager
def interrupted_at_work() -> Iterator[None]:
    """Ctrl-C after half a second of work of this process, even where a shell started it to ignore Ctrl-C."""
    enough = time.process_time() + 0.5

    def interrupt() -> None:
        while time.process_time() < enough:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        yield
        thread.join()
    finally:
        signal.signal(signal.SIGINT, before)


class TestMain:
    def test_command_loads_no_pandas(self, lake: Path) -> None:
        program = "import sys; from kafka_hindsight.cli.main import main; main(); print('pandas' in sys.modules)"
        words = ("sql", "SELECT count(*) AS n FROM gold.findings WHERE severity = 'info'", "--lake", str(lake))
        done = subprocess.run([sys.executable, "-c", program, *words], cwd=HOME, capture_output=True, text=True)
        assert done.stdout.split()[2:] == ["4", "(1", "row)", "False"], done.stderr

    def test_connections_are_closed_before_python_ends(self, lake: Path) -> None:
        """Threads of DuckDB that hold objects of Python abort a process that ends before them.

        What is registered first runs last at the end of a process.
        """
        program = """
import atexit, sys
def state():
    try:
        connection.execute("SELECT 1")
    except Exception as problem:
        print(type(problem).__name__)
atexit.register(state)
from kafka_hindsight.sql.lake_views import open_views
connection = open_views(sys.argv[1])
connection.execute("FROM gold.findings").fetchone()
"""
        done = subprocess.run([sys.executable, "-c", program, str(lake)], cwd=HOME, capture_output=True, text=True)
        assert (done.returncode, done.stdout.strip()) == (0, "ConnectionException"), done.stderr

    def test_bad_query_is_one_sentence_with_hint_and_exit_code_2(
        self, lake: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert sql.main(str(lake), "SELECT grup_id FROM gold.rebalances") == BAD_INPUT
        output = capsys.readouterr()
        assert output.out == ""
        assert output.err.startswith('Binder Error: Referenced column "grup_id" not found')
        assert '"group_id"' in output.err
        assert output.err.count("\n") == 1

    def test_candidate_functions_are_left_out_of_error(self, lake: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert sql.main(str(lake), "SELECT strlen(1, 2)") == BAD_INPUT
        assert "Candidate functions" not in capsys.readouterr().err

    def test_sql_prints_csv(self, lake: Path, capsys: pytest.CaptureFixture[str]) -> None:
        query = (
            "SELECT group_id, duration_ms, delayed_by, started_at FROM gold.rebalances ORDER BY rebalance_id LIMIT 1"
        )
        assert sql.main(str(lake), query, "csv") == DONE
        assert capsys.readouterr().out == (
            "group_id,duration_ms,delayed_by,started_at\n"
            'orders,9500,"[{""client_id"": ""b"", ""member_id"": ""m-1"", ""waited_ms"": 1000},'
            ' {""client_id"": null, ""member_id"": ""m-1"", ""waited_ms"": 7000}]",2026-10-01T03:00:00.000Z\n'
        )

    def test_csv_escapes_terminal_codes_and_spreadsheet_formulas(
        self, lake: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        hostile = {
            "=HYPERLINK(1)": "'=HYPERLINK(1)",
            "+1": "'+1",
            "-1": "'-1",
            "@x": "'@x",
            "\uff1d1": "'\uff1d1",
            "\t=1": "\\t=1",
            "\x1b]0;title\x07": "\\x1b]0;title\\x07",
            "a\u202eb\r": "a\\u202eb\\r",
            "two\nlines": "two\nlines",
        }
        values = ", ".join(f"({quoted_text(text)}, -1, -1.5)" for text in hostile)
        assert sql.main(str(lake), f'SELECT * FROM (VALUES {values}) AS t(a, b, "=c")', "csv") == DONE
        printed = capsys.readouterr().out
        assert all(c.isprintable() or c == "\n" for c in printed)
        rows = list(csv.reader(io.StringIO(printed)))
        assert rows == [["a", "b", "'=c"], *([inert, "-1", "-1.5"] for inert in hostile.values())]
        assert sql.main(str(lake), f"SELECT a FROM (VALUES {values}) AS t(a, b, c)", "json") == DONE
        printed = capsys.readouterr().out
        assert [row["a"] for row in json.loads(printed)] == list(hostile)
        assert all(c.isprintable() or c == "\n" for c in printed)

    def test_sql_json_has_evidence_unchanged(self, lake: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert sql.main(str(lake), "SELECT evidence FROM gold.findings LIMIT 1", "json") == DONE
        quote = QUOTE | {"happened_at": "2026-10-01T03:00:00.000Z", "kind": None}
        assert json.loads(capsys.readouterr().out) == [{"evidence": [quote]}]

    def test_sql_table_is_aligned_and_counts_rows(self, lake: Path, capsys: pytest.CaptureFixture[str]) -> None:
        query = "SELECT kind, epoch_to, leaderless_ms FROM gold.failovers ORDER BY failover_id"
        assert sql.main(str(lake), query) == DONE
        assert capsys.readouterr().out.splitlines() == [
            "kind                epoch_to  leaderless_ms",
            "------------------  --------  -------------",
            "broker_crash               5",
            "unclean_election           6         120000",
            "preferred_election         2",
            "(3 rows)",
        ]

    def test_wide_rows_are_shown_in_blocks(
        self, lake: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("COLUMNS", "31")
        assert sql.main(str(lake), "SELECT topic, happened_at FROM gold.failovers LIMIT 1") == DONE
        assert capsys.readouterr().out.splitlines()[2] == "t      2026-10-01T03:01:00.000Z"
        monkeypatch.setenv("COLUMNS", "30")
        assert sql.main(str(lake), "SELECT topic, happened_at FROM gold.failovers LIMIT 1") == DONE
        assert capsys.readouterr().out == (
            "--- row 1\ntopic        t\nhappened_at  2026-10-01T03:01:00.000Z\n(1 row)\n"
        )

    def test_last_column_may_exceed_terminal_width(
        self, lake: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("COLUMNS", "40")
        assert sql.main(str(lake), "SELECT 1 AS n, repeat('x', 99) AS long") == DONE
        assert capsys.readouterr().out.splitlines()[2] == f"1  {'x' * 99}"

    @pytest.mark.parametrize("columns", ["200", "10"])
    def test_hostile_names_are_escaped_in_terminal(
        self, lake: Path, columns: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("COLUMNS", columns)
        query = "SELECT group_id, e'\\x07\\n' AS \"\x1b[1mx\" FROM gold.rebalances WHERE cause = 'unknown'"
        assert sql.main(str(lake), query) == DONE
        printed = capsys.readouterr().out
        assert "\\x1b[2Jorders\\u202e" in printed
        assert all(c.isprintable() or c == "\n" for c in printed)
        assert sql.main(str(lake), 'SELECT "\x1b[2J" FROM gold.rebalances') == BAD_INPUT
        assert "\x1b" not in capsys.readouterr().err

    def test_long_answer_is_cut_in_table_and_whole_in_csv(self, lake: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert sql.main(str(lake), "FROM range(2500)") == DONE
        printed = capsys.readouterr().out.splitlines()
        assert (len(printed), printed[-1][:18]) == (1003, "(1000 rows or more")
        assert sql.main(str(lake), "FROM range(2500)", "csv") == DONE
        assert len(capsys.readouterr().out.splitlines()) == 2501

    def test_unknown_format_is_refused(self, lake: Path) -> None:
        with pytest.raises(BadInput, match=r"'xml' is not known\. Needed: one of table, csv, json"):
            sql.main(str(lake), "SELECT 1", "xml")


class TestPrompt:
    def test_piped_queries_stop_at_first_error(
        self, lake: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "stdin", io.StringIO("SELECT 1\n AS a;\n\nSELECT nope;\nSELECT 2;\n"))
        assert sql.main(str(lake), format="csv") == BAD_INPUT
        output = capsys.readouterr()
        assert output.out == "a\n1\n"
        assert output.err.startswith("Binder Error")

    def test_last_piped_query_needs_no_semicolon(
        self, lake: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "stdin", io.StringIO("SELECT 1 AS a;\nSELECT 2\n AS b\n"))
        assert sql.main(str(lake), format="csv") == DONE
        assert capsys.readouterr().out == "a\n1\nb\n2\n"

    def test_dot_commands_answer_and_wrong_ones_get_hints(
        self, session: sql.Session, capsys: pytest.CaptureFixture[str]
    ) -> None:
        described = answers(session, ".describe gold.rebalances", capsys)
        assert {"column": "duration_ms", "type": "BIGINT", "meaning": "From start to end [ms]"} in described
        assert answers(session, "unexplained_gaps", capsys)[0]["group_id"] == "orders"
        session.tell(".queries")
        assert "leader_timeline\n    Who led a partition" in capsys.readouterr().out
        session.tell(".help")
        assert ".describe gold.rebalances" in capsys.readouterr().out
        for wrong, sentence in (
            (".nope", "is not a command"),
            (".tabels", "Did you mean .tables"),
            (".describe x", "no table 'x'"),
            (".describe gold.rebalanses", "Did you mean gold.rebalances"),
            ("cost_by_grup", "Did you mean cost_by_group"),
            ("FROM cost_by_grup", "The table cost_by_grup does not exist. Did you mean cost_by_group"),
            ("storms grup_id=a", "Did you mean group_id"),
        ):
            with pytest.raises(BadInput, match=sentence):
                session.tell(wrong)

    @pytest.mark.parametrize("typed", ["show tables", "SHOW  TABLES;", ".tables"])
    def test_show_tables_of_other_prompts_works(
        self, session: sql.Session, capsys: pytest.CaptureFixture[str], typed: str
    ) -> None:
        assert "gold.rebalances" in {row["table"] for row in answers(session, typed, capsys)}

    @pytest.mark.parametrize(("typed", "command"), [("help", ".help"), ("exit;", ".quit"), ("Quit", ".quit")])
    def test_bare_command_word_is_complete_only_outside_statement(self, typed: str, command: str) -> None:
        assert sql.gather("", typed) == ("", typed)
        assert sql.gather("SELECT\n", typed)[1] in ("", f"SELECT\n{typed}")
        assert sql.SYNONYMS[typed.rstrip(";").lower()] == command

    def test_running_query_can_be_interrupted(self, session: sql.Session, capsys: pytest.CaptureFixture[str]) -> None:
        with interrupted_at_work(), pytest.raises(KeyboardInterrupt):
            session.tell("SELECT sum(range) FROM range(1_000_000_000_000)")
        assert answers(session, "SELECT 1 AS a", capsys) == [{"a": 1}]

    def test_prompt_answers_and_quits_in_terminal(self, lake: Path, tmp_path: Path) -> None:
        printed = _in_terminal(lake, "SELECT 40\n + 2 AS n;\nSELECT nope;\n\\q\n", tmp_path / "history")
        assert "read-only" in printed
        assert re.search(r"^42$", printed, re.M)
        assert "Binder Error" in printed
        assert "Traceback" not in printed

    def test_prompt_completes_by_tab_and_recalls_history(self, lake: Path, tmp_path: Path) -> None:
        history = tmp_path / "history"
        typed = "SELECT count(*) + 39 AS n FROM gold.rebalan\t;\n\\q\n"
        assert re.search(r"^ *42$", _in_terminal(lake, typed, history), re.M)
        two_back = "\x10\x10"
        assert re.search(r"^ *42$", _in_terminal(lake, f"{two_back}\n\\q\n", history), re.M)

    @pytest.mark.parametrize(
        ("word", "expected"),
        [
            (".d", [".describe"]),
            ("gold.rebalan", ["gold.rebalances"]),
            ("now.g", ["now.groups"]),
            ("LEADER_TIM", ["leader_timeline"]),
            ("leaderless_m", ["leaderless_ms"]),
            ("at_l", ["at_least="]),
            ("no such word", []),
        ],
    )
    def test_tab_completion_offers_commands_tables_columns_and_variables(self, word: str, expected: list[str]) -> None:
        assert sql.completions(word, sql.words_of(named_queries())) == expected


def _in_terminal(lake: Path, typed: str, history: Path) -> str:
    """What a terminal shows when this is typed into the prompt."""
    master, slave = pty.openpty()
    code = (
        "from pathlib import Path; from kafka_hindsight.sql import prompt as sql;"
        f" sql.HISTORY = Path({str(history)!r}); raise SystemExit(sql.main({str(lake)!r}))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=HOME,
        env={**os.environ, "TERM": "dumb"},
    )
    os.close(slave)
    os.write(master, typed.encode())
    printed = b"".join(_read(master))
    assert process.wait() == DONE
    os.close(master)
    return printed.decode().replace("\r\n", "\n")


def _read(terminal: int) -> Iterator[bytes]:
    while True:
        try:
            yield os.read(terminal, 4096)
        except OSError:  # Linux says so when the last writer is gone
            return
