"""What set-up runs once, so that Java keeps the classes of a step, and Python the bytecode of what it imports."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from kafka_hindsight.spark import session
from spark_jobs.warming import warm

for _ in warm("set-up"):
    continue
session.stop()
