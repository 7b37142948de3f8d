"""The sections of the report: each module here is one. A new module is on the page without another change."""

from importlib import import_module
from pkgutil import iter_modules

from spark_jobs.catalog.row import Row
from spark_jobs.report.page_rows import Section

SECTIONS: tuple[Section, ...] = tuple(
    sorted(
        (import_module(f"{__name__}.{module.name}").SECTION for module in iter_modules(__path__)), key=lambda s: s.order
    )
)
"""In the order of the page."""

READS: tuple[type[Row], ...] = tuple(dict.fromkeys(kind for section in SECTIONS for kind in section.reads))
"""The rows that the page is made of."""
