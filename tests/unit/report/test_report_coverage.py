"""What a report says of its input: what was read, what was not, and which expectations were evaluated."""

from __future__ import annotations

from kafka_hindsight.report.blocks import Expandable, Item, Paragraph
from tests.support import report_blocks as seen
from tests.support.report_blocks import build_report
from tests.support.report_rows import coverage, made, run, witnesses


def test_coverage_names_layouts_other_than_kafkas_own():
    rows = [coverage(source="a", layouts=["apache"]), coverage(source="b", layouts=["docker>strimzi", "<b>%d %m"])]
    page = build_report({"quality.coverage": rows}, run())
    sentence = "Layouts of the lines: apache in 1 source, docker>strimzi in 1 source and <b>%d %m in 1 source."
    assert ("plain", sentence) in seen.statements(page, "coverage")
    own = build_report({"quality.coverage": [coverage(layouts=["apache", "librdkafka"])]}, run())
    assert not any("Layouts" in text for _, text in seen.statements(own, "coverage"))


def test_coverage_names_missing_inputs():
    statements = seen.statements(build_report({"quality.coverage": [coverage(origin="broker")]}, run()), "coverage")
    assert any("no client's log" in s and "no snapshot" in s and "no broker" not in s for _, s in statements)


def test_input_outside_the_window_is_not_reported_missing():
    tables = {"quality.coverage": [coverage(origin="broker")]}

    def statements(*inputs):
        shown = seen.statements(build_report(tables, run(inputs=inputs)), "coverage")
        return [sentence for _, sentence in shown if sentence.startswith(("The input holds", "No line", "No snapshot"))]

    assert statements("client", "snapshot") == [
        "No line of the client logs lies in this window.",
        "No snapshot that shows leaders and replicas lies in this window.",
    ]
    missing, outside = statements("client")
    assert missing.startswith("The input holds no snapshot of the cluster (")
    assert outside == "No line of the client logs lies in this window."


def test_files_not_read_are_counted_by_their_reason():
    files = [
        "a (1).txt (not named like a log)",
        "b.out (not named like a log)",
        "gc.log (a log of the JVM)",
        "of an old run",
    ]
    page = build_report({}, run(files_not_read=files))
    assert [s for _, s in seen.statements(page, "coverage") if " file" in s] == [
        "2 files were not read: not named like a log.",
        "1 file was not read: a log of the JVM.",
        "1 file was not read.",
    ]
    (shown,) = [e for e in seen.found(Expandable, page) if e.summary == "Files not read: not named like a log"]
    assert [seen.text(item) for item in seen.found(Item, shown)] == ["a (1).txt", "b.out"]


def test_expectations_without_rows_are_counted_separately():
    checks = [
        made("quality.validation_results", expectation=f"e-{i}", success=True, is_vacuous=vacuous)
        for i, vacuous in enumerate((False, False, True, None))
    ]
    broken = made("quality.validation_results", severity="warning", success=False, sentences=["Odd."])
    for rows, sentence in (
        (checks, "All 3 evaluated expectations on the tables held. 1 further expectation had no row to judge."),
        (
            [*checks, broken],
            "1 of 4 evaluated expectations on the tables did not hold. 1 further expectation had no row to judge.",
        ),
        (checks[:2], "All 2 evaluated expectations on the tables held."),
        (checks[2:3], "No expectation was evaluated. 1 further expectation had no row to judge."),
    ):
        page = build_report({"quality.validation_results": rows}, run())
        assert sentence in [text for _, text in seen.statements(page, "coverage")]


def test_calm_page_does_not_print_expectations_as_proof():
    checks = [made("quality.validation_results", success=True, is_vacuous=vacuous) for vacuous in (False, True)]
    rows = {"quality.coverage": [coverage()], "quality.witnesses": witnesses(), "quality.validation_results": checks}
    verdict = seen.section(build_report(rows, run()), "verdict")
    assert not any("expectation" in seen.text(p) for p in seen.found(Paragraph, verdict))


def test_verdict_says_that_outage_began_before_the_window():
    window = run()
    gone = made(
        "gold.findings",
        rule_id="broker_gone",
        severity="critical",
        subject_kind="broker",
        message="Broker 1 was shut down at 01:53:36 and had not come back by the end",
        first_at=window["window_from"],
    )
    page = build_report({"quality.coverage": [coverage()], "gold.findings": [gone]}, window)
    assert any("by the end. That was before this window." in seen.text(item) for item in seen.found(Item, page))


def test_what_went_on_as_the_window_began_is_no_zero():
    away = made(
        "gold.findings",
        rule_id="broker_still_away",
        severity="warning",
        subject_kind="broker",
        message="Broker 2 crashed at 10:34:36, away for 1 min 31 s: it was away as the window began",
    )
    tables = {"quality.coverage": [coverage()], "quality.witnesses": witnesses()}
    before, page = (build_report({**tables, "gold.findings": own}, run()) for own in ([], [away]))
    zero = "no broker was away"
    assert any(zero in seen.text(p) for p in seen.found(Paragraph, before))
    assert not any(zero in seen.text(p) for p in seen.found(Paragraph, page))
    items = [seen.text(item) for item in seen.found(Item, page)]
    assert any("it was away as the window began." in text for text in items)
    assert any("times a broker went down, not counting what had begun before the window" in text for text in items)


def test_two_ids_of_a_cluster_stand_beside_the_badge():
    tables = {"quality.coverage": [coverage()]}
    badge, *_ = seen.found(Paragraph, build_report(tables, run(cluster_ids=["old", "new"])))
    assert "The cluster has 2 ids, one after the other: old and new. It was formatted, or" in seen.text(badge)
    one, *_ = seen.found(Paragraph, build_report(tables, run(cluster_ids=["new"])))
    assert "ids" not in seen.text(one)
