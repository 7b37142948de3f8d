"""The sections of the report: each module here is one. A new module is on the page without another change."""

from importlib import import_module
from pkgutil import iter_modules

from kafka_hindsight.report.page_rows import Section


def discovered() -> tuple[Section, ...]:
    """The section of each module here, by view, in order."""
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    return tuple(sorted((module.SECTION for module in modules), key=lambda section: (section.view, section.order)))


SECTIONS = discovered()
