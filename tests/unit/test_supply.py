"""Licences out of a bill of materials."""

from __future__ import annotations

from tools.supply import by_licence


def test_packages_stand_under_what_they_declare() -> None:
    components = [
        {"name": "b", "version": "2", "licenses": [{"license": {"id": "MIT"}}]},
        {"name": "A", "version": "1", "licenses": [{"license": {"id": "MIT"}}]},
        {"name": "c", "version": "3", "licenses": [{"expression": "MIT OR Apache-2.0"}]},
        {"name": "d", "version": "4", "licenses": [{"license": {"name": "BSD"}}, {"license": {"id": "MIT"}}]},
        {"name": "e", "version": "5"},
    ]
    assert dict(by_licence(components)) == {
        "BSD and MIT": ["d 4"],
        "MIT": ["A 1", "b 2"],
        "MIT OR Apache-2.0": ["c 3"],
        "not declared": ["e 5"],
    }
