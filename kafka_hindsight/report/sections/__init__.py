"""The sections of the report, in the modules here. A new module is on the page without another change."""

from importlib import import_module
from pkgutil import iter_modules

from kafka_hindsight.report.page_rows import Section


def discovered() -> tuple[Section, ...]:
    """The sections that the modules here declare, by view, in order."""
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    sections = {value for module in modules for value in vars(module).values() if isinstance(value, Section)}
    return tuple(sorted(sections, key=lambda section: (section.view, section.order)))


SECTIONS = discovered()
