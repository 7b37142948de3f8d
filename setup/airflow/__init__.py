"""Kafka Hindsight's part of Airflow as pip installs it: the library and the plugins, inside this one package."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent

sys.path += [str(_HERE / "plugins"), str(_HERE)]
_library = Path(str(importlib.import_module("kafka_hindsight").__file__)).resolve()
if _library.parents[1] != _HERE:
    raise ImportError(
        f"Found: another package kafka_hindsight, {_library.parent}. Needed: the one of kafka-hindsight-airflow."
        " What to do: rename yours, or take its folder off PYTHONPATH and out of the DAGs and plugins folders."
    )
