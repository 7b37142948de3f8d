"""Write the generated pages of docs/, and the suites: `python -m tools.pages.docs`; --check only compares."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os.path import normpath
from pathlib import Path

from pydantic import BaseModel

from expectations.derive import CHECKED, suite_of
from kafka_hindsight.alerts.messages import Alert
from kafka_hindsight.alerts.sightings import OWN_TROUBLES
from kafka_hindsight.catalog import TABLES, Column, Table
from kafka_hindsight.catalog.codes import (
    Cause,
    FailoverKind,
    FindingSeverity,
    ImbalanceEnd,
    OutOfSyncKind,
    RemedySetting,
)
from kafka_hindsight.catalog.kinds import KINDS, Kind
from kafka_hindsight.catalog.nouns.partitions import NO_KNOWN_END
from kafka_hindsight.catalog.steps import RECLASSIFY, STEPS
from kafka_hindsight.cli import clusters_file
from kafka_hindsight.judgements.rebuild.published import PUBLISHED
from kafka_hindsight.judgements.rebuild.sources import judgements_in_order
from kafka_hindsight.knowledge.advice import advise
from kafka_hindsight.knowledge.isr_advice import RESTART_ADVICE
from kafka_hindsight.knowledge.model import Noise, Pattern, Rule
from kafka_hindsight.knowledge.noise import NOISE
from kafka_hindsight.knowledge.patterns import PATTERNS
from kafka_hindsight.knowledge.rules import RULES
from kafka_hindsight.settings.alerts import AlertSettings, Owner, Receiver
from kafka_hindsight.settings.changes import Change
from kafka_hindsight.settings.clusters import ClustersFile, ClusterTable
from kafka_hindsight.settings.home import HOME
from kafka_hindsight.settings.models import MEANINGS, fields_of, param_name, variable
from kafka_hindsight.sql.named_queries import NamedQuery, named_queries
from tools.pages import boards
from tools.pages.advice_page import JAVA_MEMBER, advice_page
from tools.pages.codes_page import codes_page
from tools.pages.markdown import as_codes, as_table, code, fenced, link, page, prose
from tools.pages.pipeline_page import pipeline_parts
from tools.pages.ruling_pages import CAUSES_OF, causes_page, places, rulings_page
from tools.pages.ruling_tables import RULING_TABLES
from tools.pages.samples import samples_of

FOLDER = HOME / "docs"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pages. With --check, write nothing, and return 1 if a page is not current."""
    parser = argparse.ArgumentParser("python -m tools.pages.docs", description="Write the generated pages of docs/.")
    parser.add_argument("--check", action="store_true", help="only print which pages are not current")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="the folder of the pages")
    options = parser.parse_args(arguments)
    texts = pages()
    stale = [name for name, text in texts.items() if _text_of(options.folder / name) != text]
    if options.check:
        for name in stale:
            file = normpath(f"docs/{name}")
            print(f"{file} is not what its declarations say. Needed: the page as generated. Run `make docs`.")
        return 1 if stale else 0
    for name in stale:
        (options.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (options.folder / name).write_text(texts[name], encoding="utf-8")
        print(f"wrote {normpath(f'docs/{name}')}")
    return 0


def _text_of(page: Path) -> str | None:
    return page.read_text(encoding="utf-8") if page.exists() else None


def pages() -> dict[str, str]:
    """Every generated page, and every suite, by its path from docs/."""
    declared = places()
    return {
        "tables.md": tables_page(TABLES, {name: step.name for step in (RECLASSIFY, *STEPS) for name in step.writes}),
        "patterns.md": patterns_page(PATTERNS, NOISE),
        "causes.md": causes_page(tuple(Cause), RULING_TABLES[CAUSES_OF], declared),
        "rulings.md": rulings_page(RULING_TABLES, declared),
        "rules.md": rules_page(RULES),
        "runbook.md": runbook_page(RULES, tuple(Cause)),
        "advice.md": advice_page(tuple(Cause)),
        "queries.md": queries_page(tuple(named_queries().values())),
        "settings.md": settings_page(),
        "pipeline.md": page(
            "The rebuild",
            "kafka_hindsight/judgements/rebuild/",
            list(pipeline_parts(judgements_in_order(PUBLISHED.values()))),
        ),
        "codes.md": codes_page(),
        clusters_file.SCHEMA_PAGE: clusters_file.schema_text(),
        "webhook.schema.json": json.dumps(
            {"$schema": "https://json-schema.org/draft/2020-12/schema", **Alert.model_json_schema()}, indent=2
        )
        + "\n",
        **boards.files(),
        **{f"../expectations/suites/{t.full_name}.json": json.dumps(suite_of(t), indent=1) + "\n" for t in CHECKED},
    }


def tables_page(tables: Sequence[Table], writers: Mapping[str, str]) -> str:
    """The tables of the lake, with every column and check. `writers` names the step that writes each table."""
    parts = ["Each table is at `<LAKE>/<layer>/<table>`. Instants are in UTC."]
    parts.append(as_table(("Table", "One row is"), [(link(t.full_name), prose(t.grain)) for t in tables]))
    for table in tables:
        window = f" A row belongs to the window of its {code(table.time_column)}." if table.time_column else ""
        parts += [
            f"## {table.full_name}",
            f"One row is {prose(table.grain)}. Key: {as_codes(table.key)}.{window}"
            f" Written by the step {writers[table.full_name]}.",
            as_table(("Column", "Type", "Null", "Meaning", "Unit"), [_column(c) for c in table.columns]),
        ]
        if table.checks:
            checks = [(prose(c.says), code(c.predicate), c.severity) for c in table.checks]
            parts.append(as_table(("Every row keeps", "As SQL", "Severity"), checks))
    return page("Tables", "kafka_hindsight/catalog/", parts)


def _column(column: Column) -> tuple[str, ...]:
    codes = f": {as_codes(column.codes)}" if column.codes else ""
    null = "yes" if column.nullable else ""
    return code(column.name), code(column.type), null, prose(column.meaning) + codes, prose(column.unit)


def patterns_page(patterns: Sequence[Pattern], noise: Sequence[Noise]) -> str:
    """The log lines that are read, by kind, and the noise of the same loggers."""
    parts = [
        f"{len(patterns)} patterns read {len({p.kind for p in patterns})} kinds of events; {len(noise)} shapes of lines"
        f" are known to carry nothing we use."
    ]
    from_source = as_codes(p.pattern_id for p in patterns if all(s.made for s in samples_of(p)))
    if from_source:
        parts.append(f"Known from Kafka's source alone, until a line is captured: {from_source}.")
    for kind in KINDS:
        parts += _kind(kind, [p for p in patterns if p.kind == kind])
    parts.append("## Known and ignored")
    ignored = [(code(n.contains), as_codes(n.loggers), prose(n.why)) for n in noise]
    parts.append(as_table(("A message that holds", "Of the logger", "Why"), ignored))
    return page("Patterns", "kafka_hindsight/knowledge/patterns/ and kafka_hindsight/knowledge/noise/", parts)


def _kind(kind: Kind, patterns: Sequence[Pattern]) -> Iterator[str]:
    """A kind of event with its patterns; nothing if it has none."""
    if patterns:
        yield from (f"## {kind}", prose(f"{kind.meaning}: {kind.fields}" if kind.fields else kind.meaning))
        for pattern in patterns:
            yield from _pattern(pattern)


def _writer(versions: str) -> str:
    """Versions with the name of their product: Kafka, or the library that they name."""
    return prose(versions if versions[0].isalpha() and versions[-1].isdigit() else f"Kafka {versions}")


def _pattern(pattern: Pattern) -> Iterator[str]:
    """A pattern with a sample, captured if there is one, else made from Kafka's source."""
    sample = min(samples_of(pattern), key=lambda s: s.made)
    origin = "made from the source" if sample.made else f"captured on {_writer(sample.version)}"
    yield f"### {pattern.pattern_id}"
    yield (
        f"{_writer(pattern.versions)}; loggers {as_codes(pattern.loggers)};"
        f" fields {as_codes(pattern.fields) or 'none'}. Source: {prose(pattern.source)}. A record, {origin}:"
    )
    yield fenced(sample.record)


def rules_page(rules: Sequence[Rule]) -> str:
    """The rules: what raises a finding, at which threshold, and the source of that threshold."""
    parts = [
        "The rules behind `gold.findings`. Findings judge the cluster, never the data. The severity of a rule decides"
        " whether it pages: `critical` does, `warning` is sent to receivers that page no one, and `info` is in the"
        " report only. An incident alerts by its harm instead ([who gets alerts](operations.md#who-gets-alerts)).",
        "Its history shows how often a rule has fired in the windows of the lake.",
    ]
    about = [(link(r.rule_id), r.severity, r.subject_kind) for r in rules]
    parts.append(as_table(("Rule", "Severity", "About"), about))
    for rule in rules:
        limits = ", ".join(f"{prose(name)} {value:g}" for name, value in rule.thresholds.items()) or "none"
        points = (
            ("Says", prose(rule.says)),
            ("Severity", f"{rule.severity}, about a {rule.subject_kind}"),
            ("Thresholds", limits),
            ("What to do", prose(rule.advice)),
            ("Source", prose(rule.source)),
            ("History", code(f'hindsight sql "rules_fired rule_id={rule.rule_id}"')),
        )
        parts += [f"## {rule.rule_id}", "\n".join(f"- {name}: {text}" for name, text in points)]
    return page("Rules", "kafka_hindsight/knowledge/rules/", parts)


def runbook_page(rules: Sequence[Rule], causes: Sequence[Cause]) -> str:
    """The advice on everything that an audit reports, on one page."""
    worst_first = sorted(rules, key=lambda r: [*map(str, FindingSeverity)].index(r.severity))
    happened, standing = (
        [
            (link(r.rule_id, "rules.md"), r.severity, prose(r.advice))
            for r in worst_first
            if r.is_standing is is_standing
        ]
        for is_standing in (False, True)
    )
    why = [(link(c, "causes.md"), prose(c.noun.label), prose(advise(c, JAVA_MEMBER).text)) for c in causes]
    of_restarts = {"yes" if early else "no": do for early, do in RESTART_ADVICE.items()}
    settings = [(code(r.option), prose(r.avoids), prose(r.costs)) for r in (setting.noun for setting in RemedySetting)]
    in_words = ("Kind", "In words", "What to do")
    tables: tuple[tuple[str, str, Sequence[str], Iterable[Sequence[str]]], ...] = (
        ("Findings: what happened", "findings_worst_first", ("Finding", "Severity", "What to do"), happened),
        ("Findings: how things are set up", "durability", ("Finding", "Severity", "What to do"), standing),
        ("Causes of rebalances", "rebalances_by_cause", ("Cause", "In words", "What to do"), why),
        ("Changes of leaders", "leader_timeline", in_words, _advised(FailoverKind)),
        (
            "Brokers out of in-sync replicas",
            "isr_trouble_by_broker",
            in_words,
            _advised(OutOfSyncKind),
        ),
        (
            "Leaders that are not where they are preferred",
            "imbalance_periods",
            ("Ended by", "What to do"),
            [("nothing yet", prose(NO_KNOWN_END.advice)), *((code(e), prose(e.noun.advice)) for e in ImbalanceEnd)],
        ),
        (
            "Restarts of the cluster, broker by broker",
            "rolling_restart_scorecard",
            ("Stopped too early", "What to do"),
            [(early, prose(do)) for early, do in of_restarts.items()],
        ),
        ("Settings that would have helped", "what_would_have_helped", ("Setting", "Avoids", "Costs"), settings),
    )
    parts = ["What to do, for each thing that an audit reports. Begin with [it is 8 in the morning](morning.md)."]
    for title, query, header, rows in tables:
        parts += [f"## {title}", f"`hindsight sql {query}` ({link(query, 'queries.md')})", as_table(header, rows)]
    parts += [
        "## Hindsight's own alerts",
        "What the schedule reports about itself; [day by day](operations.md) has the rest.",
        as_table(("Alert", "What to do"), [(code(rule), prose(do)) for rule, do in OWN_TROUBLES.items()]),
    ]
    return page("Runbook", "kafka_hindsight/knowledge/ and kafka_hindsight/alerts/sightings.py", parts)


def _advised(kinds: Iterable[FailoverKind | OutOfSyncKind]) -> list[tuple[str, ...]]:
    """A row for each code, with its label and its advice."""
    return [(code(kind), prose(kind.noun.label), prose(kind.noun.advice)) for kind in kinds]


def queries_page(queries: Sequence[NamedQuery]) -> str:
    """The named queries, what each answers, and its SQL."""
    parts = [
        "Each is run by its name: `hindsight sql leader_timeline`, with variables behind it where it asks for some:"
    ]
    parts.append(fenced('hindsight sql "leader_timeline topic=shop-events partition=5"', "sh"))
    parts.append(as_table(("Query", "Answers"), [(link(q.name), prose(q.says)) for q in queries]))
    for query in queries:
        parts += [f"## {query.name}", prose(query.says)]
        if query.variables:
            parts.append("\n".join(f"- {code(name)}: {prose(meaning)}" for name, meaning in query.variables.items()))
        parts.append(fenced(query.sql, "sql"))
    return page("Named queries", "queries/", parts)


def settings_page() -> str:
    """The settings, and the names that they have in each place."""
    parts = [
        "As an option of `hindsight audit` (`--client-logs` for `CLIENT_LOGS`), as a variable, also on make's command"
        " line, and as a param of a DAG. In Airflow they come from the form or the conf of a run, else"
        " from hindsight.toml, else from [the connection](operations.md#one-cluster). The connection's host is `lake`,"
        " its schema `cluster`; the other params are keys of its extra:"
    ]
    rows = [(code(variable(f)), code(param_name(f)), prose(meaning)) for f, meaning in MEANINGS.items()]
    parts.append(as_table(("Variable", "Param", "Meaning"), rows))
    parts.append(
        "[hindsight.toml](operations.md#several-clusters) lists several clusters. `[[clusters]]` and `[defaults]` take"
        " the params above too, but for `cluster`, `from` and `to`:"
    )
    tables: dict[str, type[BaseModel]] = {"": ClustersFile, "clusters": ClusterTable, "alerts": AlertSettings}
    tables |= {"alerts.receivers": Receiver, "alerts.owners": Owner, "changes": Change}
    keys = [
        (code(table) if table else "", code(key), prose(of.description or ""))
        for table, model in tables.items()
        for key, of in fields_of(model).items()
        if table != "clusters" or key not in MEANINGS
    ]
    parts.append(as_table(("Table", "Key", "Meaning"), keys))
    return page("Settings", "kafka_hindsight/settings/models.py, clusters.py, alerts.py and changes.py", parts)


if __name__ == "__main__":
    sys.exit(main())
