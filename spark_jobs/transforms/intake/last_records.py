"""Where the last record of some lines begins, so that lines can be divided between records."""

from __future__ import annotations

from collections.abc import Sequence

from spark_jobs.transforms.intake.detection import layout_of
from spark_jobs.transforms.intake.envelopes import Chain
from spark_jobs.transforms.intake.forms import chains_of, every_layout, form_of
from spark_jobs.transforms.intake.wrapped_lines import lines_in


def last_record(lines: Sequence[bytes], pattern: str | None = None) -> int | None:
    """The number of the line with which the last record begins; None where no line begins one.

    Takes: lines of one source, wrapped or not; the pattern that a user gave, if any.
    Edge case: of a few lines none may be an event, by which envelopes are found. A head inside of any shows them too.
    """
    texts = [line.decode(errors="replace") for line in lines]
    form = form_of(texts, pattern)
    found = _last_head(lines, form.envelopes, [*form.others, *([pattern] if pattern else [])])
    others = () if found is not None or form.envelopes else chains_of(texts)
    tried = (_last_head(lines, envelopes, every_layout(pattern)) for envelopes in others)
    return next((n for n in tried if n is not None), found)


def _last_head(lines: Sequence[bytes], envelopes: Sequence[str], layouts: Sequence[str]) -> int | None:
    inside = Chain(envelopes).lines(lines_in(b"".join(line + b"\n" for line in lines), 0))
    texts = inside.texts().to_pylist()
    for n in reversed(range(len(inside))):
        if inside.are_records[n] or layout_of(texts[n].decode(errors="replace"), layouts):
            return int(inside.seen[n] - inside.physical[n])
    return None
