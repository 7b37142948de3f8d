"""What laws draw: the same examples in each run and each process. `make laws` draws new ones, and more of them.

Laws are about what holds, not about how fast: a busy machine breaks none.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import is_local_module_file

SAME, NEW = "same", "new"
"""The names of the profiles. The first is the default, the second is for `make laws`."""


def load_profiles() -> None:
    """Register both profiles and load the default."""
    same = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True, max_examples=30)
    settings.register_profile(SAME, same)
    settings.register_profile(NEW, same, derandomize=False, max_examples=100)
    settings.load_profile(SAME)
    providers.is_local_module_file = _is_drawn_from  # type: ignore[attr-defined,assignment]


def drawn(times: float) -> settings:
    """A law that is drawn so many times as often as others: more if it is cheap, less if each example is dear."""
    return settings(max_examples=round(times * settings().max_examples))


def _is_drawn_from(module: str) -> bool:
    """Whether examples may have the constants of a module of ours.

    Which modules a process has loaded depends on the tests that ran before.
    """
    return settings.get_current_profile_name() == NEW and is_local_module_file(module)
