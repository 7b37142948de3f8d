"""Names that say nothing about what is done to those who bear them."""

from __future__ import annotations

import random

_FIRST = (
    *("ads", "audit", "billing", "carts", "claims", "crm", "email", "fleet", "fraud", "geo", "ledger", "loans"),
    *("mobile", "orders", "parcels", "payroll", "prices", "quotes", "rides", "search", "stock", "tickets", "users"),
)
_SECOND = (
    *("app", "batch", "bridge", "core", "etl", "export", "feed", "hub", "import", "index", "jobs", "loader"),
    *("mirror", "reader", "relay", "sink", "svc", "sync", "tracker", "view", "worker", "writer"),
)


class DrawnNames:
    """Names drawn by a seed, none of them twice."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._names: set[str] = set()

    def group(self) -> str:
        """A consumer group."""
        return self._fresh(("{first}-{second}-{n}", "{first}.{second}.v{n}", "{second}-of-{first}-{n}"))

    def topic(self) -> str:
        """A topic; it may be the beginning of several topics' names."""
        return self._fresh(("{first}-{n}-{second}", "{first}.{n}"))

    def client(self, group: str) -> str:
        """A member of a group; any instance of an application may be called so."""
        return self._fresh((f"{group}-{{h}}", "{second}-{h}", "{first}-{second}-{h}"))

    def _fresh(self, shapes: tuple[str, ...]) -> str:
        while True:
            rng = self._rng
            name = rng.choice(shapes).format(
                first=rng.choice(_FIRST),
                second=rng.choice(_SECOND),
                n=rng.randint(1, 99),
                h=f"{rng.getrandbits(20):05x}",
            )
            if name not in self._names:
                self._names.add(name)
                return name
