"""How a Spark process of ours is started: where it lives, its environment, its configuration. No pyspark here."""

from __future__ import annotations

import os
import re
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent.parent
RUN = HOME / "spark_jobs" / "steps" / "run.py"
SUBMIT = HOME / "spark_jobs" / "steps" / "submit.py"
SERVE = "serve"
"""What stands where RUN takes a step's name, and makes it the application that takes steps one after another."""

DEFAULT_MASTER = "local[*]"

CLASSES = HOME / ".build" / "classes.jsa"
"""The classes of Spark and Delta as the JVM keeps them for its next start. Set-up makes it; an empty file says that
this Java cannot. A JVM of another kind, or other jars, pass it over."""

_JVM_FLAGS = (
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:ReservedCodeCacheSize=256m",
    "-Xshare:auto",
    "-Duser.timezone=UTC",
)


def spark_environment() -> Path:
    """The Spark environment: HINDSIGHT_SPARK_ENV, else the one that set-up builds in the project."""
    return Path(os.environ.get("HINDSIGHT_SPARK_ENV") or HOME / ".venv-spark")


def spark_python() -> Path:
    """The interpreter of the Spark environment."""
    return spark_environment() / "bin" / "python"


def spark_home() -> Path:
    """The Spark inside that environment. An image may have it built for another minor version of Python than ours."""
    found = sorted(spark_environment().glob("lib/python3.*/site-packages/pyspark"))
    return found[0] if found else spark_environment() / "lib" / "python3.11" / "site-packages" / "pyspark"


def spark_submit() -> Path:
    """The program that runs a step."""
    return spark_environment() / "bin" / "spark-submit"


def jars() -> Path:
    """The folder with Delta's jars."""
    return Path(os.environ.get("HINDSIGHT_JARS") or HOME / ".jars")


def environment() -> dict[str, str]:
    """The variables without which spark-submit finds another Python, or another Spark, or none.

    Edge case: spark-submit looks for `spark-class` through the first python3 on PATH unless SPARK_HOME is set.
    """
    return {
        "SPARK_HOME": str(spark_home()),
        "PYSPARK_PYTHON": str(spark_python()),
        "PYSPARK_DRIVER_PYTHON": str(spark_python()),
        "PYTHONPATH": str(HOME),
        "PYTHONDONTWRITEBYTECODE": os.environ.get("PYTHONDONTWRITEBYTECODE", ""),
        "SPARK_LOCAL_IP": os.environ.get("SPARK_LOCAL_IP", "127.0.0.1"),
        "GX_ANALYTICS_ENABLED": "false",
        "TZ": "UTC",
    }


def _classes() -> tuple[str, ...]:
    """How a JVM starts from the classes that were kept, without a word where it cannot."""
    kept = CLASSES.is_file() and CLASSES.stat().st_size
    return (f"-XX:SharedArchiveFile={CLASSES}", "-Xlog:disable") if kept else ()


def configuration() -> dict[str, str]:
    """Spark's configuration for every step, prompt and test. HINDSIGHT_SPARK_CONF (k=v;k=v) has the last word."""
    log = (HOME / "spark_jobs" / "edges" / "log4j2.properties").as_uri()
    ours = {
        "spark.driver.memory": os.environ.get("HINDSIGHT_DRIVER_MEMORY") or "2g",
        "spark.driver.extraClassPath": f"{jars()}/*",
        "spark.executor.extraClassPath": f"{jars()}/*",
        "spark.driver.extraJavaOptions": " ".join((*_JVM_FLAGS, f"-Dlog4j2.configurationFile={log}", *_classes())),
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "8",
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    return ours | _pairs(os.environ.get("HINDSIGHT_SPARK_CONF", ""))


def safe_run_id(text: str) -> str:
    """A scheduler's run id as a name that every file system takes (a colon is none to Hadoop)."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-._")[:200] or "run"


def _pairs(text: str) -> dict[str, str]:
    pairs = (p.split("=", 1) for p in text.split(";") if p.strip())
    return {p[0].strip(): p[1].strip() if len(p) > 1 else "" for p in pairs}
