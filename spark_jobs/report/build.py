"""Rows in, blocks out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from spark_jobs.report import brokers, coverage, groups, rules
from spark_jobs.report.durability_risk import danger
from spark_jobs.report.history import history
from spark_jobs.report.imbalance import imbalance
from spark_jobs.report.page import Masthead, Report
from spark_jobs.report.page_rows import Night
from spark_jobs.report.remedies import remedies
from spark_jobs.report.restarts import controllers, out_of_sync_periods, restarts
from spark_jobs.report.timeline import timeline
from spark_jobs.report.verdict import verdict


def build_report(tables: Mapping[str, Sequence[Mapping[str, Any]]], run: Mapping[str, Any]) -> Report:
    """The report of one window.

    Takes: rows by full table name, exactly as the catalog has them, those of this window and of one cluster;
        night.READS names the tables that are looked at. quality.unparsed_lines may come counted by template instead:
        rows of template, records, lines, sample. quality.validation_results are those of one run.
        `run` names cluster, window_from and window_to, and where known run_id, lake, log_path, report_path,
        started_at, took_seconds, versions (name to version), files_not_read and warnings (texts), and history, what
        report.history takes.
    Gives: blocks whose every text is harmless: printable, on one line but for quotations, of bounded length.
    Order: none that the rows come in; the same rows give the same report.
    Raises: ValueError for a table that the catalog does not hold.
    """
    night = Night.of(tables, run)
    first, end = night.window
    return Report(
        masthead=Masthead(night.run["cluster"], first, end, night.day),
        verdict=verdict(night),
        coverage=coverage.coverage(night),
        history=history(night),
        timeline=timeline(night),
        incidents=groups.incidents(night),
        remedies=remedies(night),
        rebalances=groups.rebalances(night),
        restarts=restarts(night),
        outages=brokers.outages(night),
        failovers=brokers.failovers(night),
        controllers=controllers(night),
        replication=brokers.replication(night),
        danger=danger(night),
        out_of_sync_periods=out_of_sync_periods(night),
        imbalance=imbalance(night),
        lag=rules.lag(night),
        findings=rules.findings(night),
        unread=coverage.unread(night),
        making=coverage.making(night),
    )
