"""docs/speed.md: its tables and its picture, made from lab/bench/figures.json by `python -m lab.bench.page`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from kafka_hindsight.settings.home import HOME
from lab.bench import cluster, sizing
from lab.bench.figures import FIGURES, beside, best

PAGE = HOME / "docs" / "speed.md"
PICTURE = HOME / "docs" / "pictures" / "speed.svg"

_PART = re.compile(r"(<!-- measured: (\w+) -->\n).*?(<!-- end of measured -->)", re.DOTALL)
_SAYS = {
    "grep": ("grep", "grep: counts the lines that hold one word"),
    "duckdb": ("DuckDB, heads", "DuckDB: heads of lines cut, to Parquet"),
    "polars": ("Polars, heads", "Polars: heads of lines cut, to Parquet"),
    "spark copy": ("Spark, copy", "Spark: lines copied as they are, to Delta"),
    "spark heads": ("Spark, heads", "Spark: heads of lines cut, to Delta"),
    "ingest": ("ingest, all of it", "**ingest, the whole step**"),
}
"""What an engine does, in the picture and in the table."""

BenchFigures = Mapping[str, Any]

NEEDS: Mapping[str, tuple[str, ...]] = {"sizing": ("growth", "groups", "cluster")}
"""The parts of the bench from which a table is made, where it has another name."""


def main() -> None:
    """Write the page and the picture from the figures that are kept."""
    write()


def write() -> None:
    """Fill the parts of the page that are measured, and draw the picture."""
    import vl_convert

    figures = json.loads(FIGURES.read_text())
    PAGE.write_text(filled(PAGE.read_text(), figures))
    PICTURE.write_text(vl_convert.vegalite_to_svg(picture(figures)))


def filled(page: str, figures: BenchFigures) -> str:
    """The page with its parts as measured; a part that was never measured says so.

    Raises KeyError for an unknown part.
    """
    return _PART.sub(lambda part: part[1] + _part(part[2], figures) + part[3], page)


def printed(name: str) -> list[str]:
    """The lines of a part's table, for a terminal."""
    return [*TABLES[name](json.loads(FIGURES.read_text()))]


def _part(name: str, figures: BenchFigures) -> str:
    if missing := [n for n in NEEDS.get(name, (name,)) if n not in figures]:
        return f"Not measured yet: `python -m lab.bench.run --only {' '.join(missing)}`.\n"
    measured = figures[NEEDS.get(name, (name,))[0]]["measured"]
    sentence = (
        f"Measured on {measured['date']} at commit {measured['commit']}, on cores {measured['cores']} of "
        f"{measured['cores_in_all']}. The load of the machine was {measured['load']} at the end."
    )
    return "\n".join([*TABLES[name](figures), "", sentence]) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A table in Markdown: the first column is text, the others are numbers."""
    yield f"| {' | '.join(head)} |"
    yield f"| --- |{' ---: |' * (len(head) - 1)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def engines_table(figures: BenchFigures) -> Iterator[str]:
    """Every engine on the same bytes, and how many times as long ingest takes."""
    engines = best(figures["engines"]["figures"])
    ours = engines["ingest"]
    head = ("", "wall s", "MB/s", "processor s", "ingest takes, wall", "processor")
    ordered = sorted(engines.items(), key=lambda item: item[1]["wall_s"])
    yield from table(head, (_engine_row(name, used, ours) for name, used in ordered))
    yield ""
    first = figures["engines"]["figures"]["rounds"][0]["ingest"]
    yield (
        f"The input: {ours['read_mb']:.0f} MB, {ours['lines']['lines_in']:,} lines, {ours['lines']['events']:,} events."
        f" The first ingest of the same JVM took {first['wall_s']:.1f} s and {first['cpu_s']:.1f} processor seconds."
    )
    yield beside(figures["engines"]["figures"])


def _engine_row(name: str, used: BenchFigures, ours: BenchFigures) -> tuple[str, ...]:
    wall, cpu = ours["wall_s"] / used["wall_s"], ours["cpu_s"] / used["cpu_s"]
    times = ("", "") if name == "ingest" else (f"{wall:.1f}x", f"{cpu:.1f}x")
    return (
        _SAYS[name][1],
        f"{used['wall_s']:.1f}",
        f"{ours['read_mb'] / used['wall_s']:.0f}",
        f"{used['cpu_s']:.1f}",
        *times,
    )


def forms_table(figures: BenchFigures) -> Iterator[str]:
    """Ingest of one night in each form, and how many times as much of the processor as the plain night it takes."""
    forms = {name: min(rounds, key=lambda used: used["cpu_s"]) for name, rounds in figures["forms"]["figures"].items()}
    plain = forms["plain"]["cpu_s"]
    yield from table(
        ("form", "read MB", "wall s", "processor s", "times"),
        (
            (name, *(f"{used[n]:,.0f}" for n in ("read_mb", "wall_s", "cpu_s")), f"{used['cpu_s'] / plain:.2f}")
            for name, used in forms.items()
        ),
    )


def growth_table(figures: BenchFigures) -> Iterator[str]:
    """Ingest of more and more bytes."""
    nights = figures["growth"]["figures"].values()
    head = ("MB", "wall s", "processor s", "largest process, MiB", "written / read", "lake / read")
    yield from table(
        head,
        (
            (
                f"{g['read_mb']:,.0f}",
                f"{g['wall_s']:.1f}",
                f"{g['cpu_s']:.1f}",
                f"{_largest_mib(g):,.0f}",
                f"{g['written_mb'] / g['read_mb']:.2f}",
                f"{g['lake_mb'] / g['read_mb']:.2f}",
            )
            for g in sorted(nights, key=lambda g: g["read_mb"])
        ),
    )
    line = sizing.fitted({g["read_mb"]: g["cpu_s"] for g in nights})
    yield ""
    yield (
        f"A straight line through them: {line.start:.0f} processor seconds at the start, and {line.slope:.3f} for each "
        "megabyte."
    )


def groups_table(figures: BenchFigures) -> Iterator[str]:
    """Both steps by Spark on nights of more and more groups."""
    head = (
        "groups",
        "events",
        "ingest, wall s",
        "processor s",
        "rebuild, wall s",
        "processor s",
        "JVM MiB",
        "Python worker MiB",
    )
    yield from table(
        head,
        (
            (
                f"{18 * int(times):,}",
                f"{night['rebuild']['events']:,}",
                *(f"{night[step][name]:.1f}" for step in ("ingest", "rebuild") for name in ("wall_s", "cpu_s")),
                *(f"{max(run[name] for run in night.values()):,.0f}" for name in ("jvm_mib", "worker_mib")),
            )
            for times, night in sorted(figures["groups"]["figures"].items(), key=lambda item: int(item[0]))
        ),
    )


def judgements_table(figures: BenchFigures) -> Iterator[str]:
    """One huge key of a judgement, in one Python worker."""
    head = ("", "size", "rows", "processor s", "peak MB")
    judgements = figures["judgements"]["figures"]
    yield from table(
        head,
        (
            (what, f"{int(size):,}", f"{m['rows']:,}", f"{m['seconds']:.1f}", f"{m['peak_mb']:,.0f}")
            for what, sizes in judgements.items()
            for size, m in sorted(sizes.items(), key=lambda item: int(item[0]))
        ),
    )


def commits_table(figures: BenchFigures) -> Iterator[str]:
    """The same commits in each form."""
    forms = {way: min(rounds, key=lambda used: used["cpu_s"]) for way, rounds in figures["commits"]["figures"].items()}
    yield from table(
        ("", "commits", "wall s", "processor s", "processor s for a million", "MiB"),
        (
            (
                way.replace("_", " "),
                f"{used['commits']:,}",
                f"{used['wall_s']:.1f}",
                f"{used['cpu_s']:.1f}",
                f"{used['cpu_s'] * 1e6 / used['commits']:.1f}",
                f"{_largest_mib(used):,.0f}",
            )
            for way, used in forms.items()
        ),
    )


def audit_table(figures: BenchFigures) -> Iterator[str]:
    """Whole audits of the recorded night."""
    head = ("", "wall s", "processor s", "largest process, MiB")
    engines = figures["audit"]["figures"].items()
    yield from table(
        head,
        ((name, *(f"{n:,.0f}" for n in (used["wall_s"], used["cpu_s"], _largest_mib(used)))) for name, used in engines),
    )


def _largest_mib(used: BenchFigures) -> float:
    return max(float(used[f"{role}_mib"]) for role in ("jvm", "worker", "driver"))


def cluster_output(figures: BenchFigures) -> Iterator[str]:
    """The output of lab/bench/cluster.py."""
    yield "```"
    yield from cluster.described(figures["cluster"]["figures"])
    yield "```"


def sizing_table(figures: BenchFigures) -> Iterator[str]:
    """The needs of larger nights."""
    yield from table(sizing.HEAD, sizing.rows(figures))


TABLES: Mapping[str, Callable[[BenchFigures], Iterator[str]]] = {
    "engines": engines_table,
    "forms": forms_table,
    "growth": growth_table,
    "groups": groups_table,
    "judgements": judgements_table,
    "commits": commits_table,
    "audit": audit_table,
    "cluster": cluster_output,
    "sizing": sizing_table,
}


def picture(figures: BenchFigures) -> dict[str, Any]:
    """The engines as bars, and the growth as a line, in the words of Vega-Lite.

    A part that was never measured has no chart: an empty one would make the picture endlessly wide.
    """
    engines = best(figures["engines"]["figures"]) if "engines" in figures else {}
    bars = [
        {"engine": _SAYS[name][0], "seconds": used["wall_s"], "ours": name == "ingest"}
        for name, used in engines.items()
    ]
    nights = figures["growth"]["figures"].values() if "growth" in figures else ()
    points = [
        {"MB": round(g["read_mb"]), "seconds": g[field], "what": what}
        for g in nights
        for field, what in (("wall_s", "wall"), ("cpu_s", "processor"))
    ]
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "background": "white",
        "config": {"font": "sans-serif"},
        "resolve": {"scale": {"color": "independent"}},
        "hconcat": [chart(values) for chart, values in ((_bars, bars), (_lines, points)) if values],
    }


def _bars(values: Sequence[BenchFigures]) -> dict[str, Any]:
    y = {"field": "engine", "type": "nominal", "sort": {"field": "seconds"}, "title": None}
    x = {"field": "seconds", "type": "quantitative", "title": "wall seconds, warm"}
    color = {"field": "ours", "type": "nominal", "legend": None, "scale": {"range": ["#9aa5b1", "#d9480f"]}}
    return {
        "title": "The same bytes, two cores",
        "width": 320,
        "height": 180,
        "data": {"values": list(values)},
        "layer": [
            {"mark": "bar", "encoding": {"x": x, "y": y, "color": color}},
            {
                "mark": {"type": "text", "align": "left", "dx": 4},
                "encoding": {"x": x, "y": y, "text": {"field": "seconds", "format": ".1f"}},
            },
        ],
    }


def _lines(values: Sequence[BenchFigures]) -> dict[str, Any]:
    return {
        "title": "Ingest of more and more bytes, cold",
        "width": 320,
        "height": 180,
        "data": {"values": list(values)},
        "mark": {"type": "line", "point": True},
        "encoding": {
            "x": {"field": "MB", "type": "quantitative", "title": "MB of logs"},
            "y": {"field": "seconds", "type": "quantitative", "title": "seconds"},
            "color": {"field": "what", "type": "nominal", "title": None, "scale": {"range": ["#1971c2", "#d9480f"]}},
        },
    }


if __name__ == "__main__":
    main()
