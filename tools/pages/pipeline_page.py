"""docs/pipeline.md: the judgements, what each reads and the table it fills, as a picture and a list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_hindsight.judgements.rebuild.published import PUBLISHED
from kafka_hindsight.judgements.rebuild.sources import Judgement, RowSource
from tools.pages.markdown import as_table


def pipeline_parts(judgements: Sequence[Judgement]) -> Iterator[str]:
    """The paragraphs of the page. The judgements are in the order in which a rebuild runs them."""
    yield (
        "A rebuild runs these judgements, each after those that it reads. A judgement is one Python function over all"
        " rows of one key; its parameters are what it reads, the fields of its result are what it gives."
        " `kafka_hindsight/judgements/rebuild/` declares them."
    )
    yield f"```mermaid\nflowchart LR\n{chr(10).join(_arrows(judgements))}\n```"
    for judgement in judgements:
        yield f"## {judgement.name}"
        key = f"One call for each {', '.join(judgement.key)}." if judgement.key else "One call."
        yield f"{_about(judgement)} {key} {_functions(judgement)}."
        yield as_table(
            ("Reads", "Rows", "From"),
            [
                (name, cls.__name__ if cls else "a table", ", ".join(_origins(judgement.reads[name])))
                for name, cls in judgement.inputs.items()
            ],
        )
        outputs = [(name, cls.__name__, _filled(judgement, name)) for name, cls in judgement.outputs.items()]
        if outputs:
            yield as_table(("Gives", "Rows", "Fills"), outputs)


def _about(judgement: Judgement) -> str:
    if judgement.functions[1:]:
        return (
            f"{len(judgement.functions)} functions. Each takes the rows that it names, and all give rows of one table."
        )
    return (judgement.functions[0].__doc__ or "").strip().splitlines()[0]


def _functions(judgement: Judgement) -> str:
    if judgement.functions[1:]:
        modules = dict.fromkeys(function.__module__ for function in judgement.functions)
        return f"Modules: {', '.join(f'`{module}`' for module in modules)}"
    (function,) = judgement.functions
    return f"Function: `{function.__module__}.{function.__name__}`"


def _arrows(judgements: Sequence[Judgement]) -> Iterator[str]:
    for judgement in judgements:
        sources = {o for s in judgement.reads.values() for o in _nodes(s)} | {n.name for n in judgement.needs}
        yield from (f"    {_node(s)} --> {judgement.name}" for s in sorted(sources))
    for name, source in PUBLISHED.items():
        yield from (f"    {_node(s)} --> {_node(name)}" for s in sorted(set(_nodes(source))))


def _nodes(source: RowSource) -> Iterator[str]:
    for part in source.upstream():
        if part.judgement is not None:
            yield part.judgement.name
        elif part.table:
            yield part.table


def _node(name: str) -> str:
    return f"{name.replace('.', '_')}[{name}]" if "." in name else name


def _origins(source: RowSource) -> list[str]:
    names = [
        f"{p.judgement.name}.{p.output}" if p.judgement is not None else f"`{p.table}`"
        for p in source.upstream()
        if p.judgement is not None or p.table
    ]
    return list(dict.fromkeys(names))


def _filled(judgement: Judgement, output: str) -> str:
    def is_it(source: RowSource) -> bool:
        return source.judgement is judgement and source.output == output

    return ", ".join(f"`{name}`" for name, s in PUBLISHED.items() if is_it(s) or any(map(is_it, s.sources[:1])))
