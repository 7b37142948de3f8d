"""Start Spark processes of ours: their programs, environment and configuration. No pyspark here."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import accumulate, chain
from pathlib import Path
from tempfile import NamedTemporaryFile

from kafka_hindsight.settings.config import is_dated, is_uri
from kafka_hindsight.settings.home import HOME, IS_INSTALLED, PACKAGE
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.start import python_child

RUN = HOME / "spark_jobs" / "spark_run.py"
"""The program that runs a step by Spark's workers."""

IN_ONE_PROCESS = "kafka_hindsight.steps.run"
"""The module that runs a step in its own process."""

AUDIT = "audit"
"""The argument of both for all steps of an audit, one after another, in place of a step's name."""

DEFAULT_MASTER = "local[*]"

LOAD_DEFAULTS = "--load-spark-defaults"
"""The option of spark-submit that loads Spark's own defaults besides a file of properties. Airflow's hook has no
argument for it: it is passed in place of the program, which follows it."""

_AIRFLOWS = ("AIRFLOW_CONN_", "AIRFLOW__", "HINDSIGHT_JWT", "HINDSIGHT_DATABASE")
"""Prefixes of variables that may hold Airflow's secrets."""

_JVM_FLAGS = ("-XX:+UseSerialGC", "-XX:ReservedCodeCacheSize=256m", "-Xshare:auto", "-Duser.timezone=UTC")

_FOR_LITTLE = ("-XX:TieredStopAtLevel=1", "-XX:NewRatio=1")
"""A small night is many plans and hardly any rows: the second compiler costs more than it saves, and what a plan leaves
dies young. The rows of a large night need the old generation."""

_FOR_LOOPS = (
    "-XX:Tier4InvocationThreshold=50000",
    "-XX:Tier4MinInvocationThreshold=6000",
    "-XX:Tier4CompileThreshold=150000",
    "-XX:Tier4BackEdgeThreshold=400000",
)
"""Ten times Java's own, so that the second compiler takes the loops over rows and leaves the plans alone. Measured: a
first ingest of 602 MB takes 63 processor seconds with these, 76 without, and 60 with the first compiler alone; the next
one in the same JVM 49, 57 and 55."""

_FOR_MUCH = {
    "spark.sql.files.maxPartitionBytes": "32m",
    "spark.sql.files.openCostInBytes": "32m",
    "spark.sql.codegen.hugeMethodLimit": "8000",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "20000",
}
"""More tasks than cores: a file of bronze is a task, since it holds what one task read, a tenth as long as the log was.
No generated method that Java would not compile. And twice as many records in a batch as Spark gives: 5 % less of a
worker's time, and 40 MiB more of its memory."""

_DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
"""Spark's settings with which it reads tables."""

DELTA_JARS = "HINDSIGHT_DELTA_JARS"
"""The variable that names the folder of Delta's jars."""

DRIVER_OF_YARN = "HINDSIGHT_DRIVER_OF_YARN"
"""The variable of a driver that YARN has started, which counts as failed if it starts no application of Spark."""

_CONF = "HINDSIGHT_SPARK_CONF"

_OF_JVM = "SPARK_SUBMIT_OPTS"
"""The variable with options for the JVM of spark-submit, before those of the settings."""

_MUCH = 300_000_000
"""The size in bytes from which on an input is large. Measured: a first ingest of 96 MB takes 113 processor seconds as a
small night and 154 as a large one; one of 602 MB takes about as many both ways."""


def spark_environment() -> Path:
    """The Spark environment: HINDSIGHT_SPARK_ENV, else the one that set-up builds or into which pip installed us."""
    return Path(os.environ.get("HINDSIGHT_SPARK_ENV") or (sys.prefix if IS_INSTALLED else HOME / ".venv-spark"))


def spark_python() -> Path:
    """The interpreter of the Spark environment."""
    return spark_environment() / "bin" / "python"


def spark_home() -> Path:
    """The Spark of that environment. In an image, its Python may have another minor version than ours."""
    homes = sorted(spark_environment().glob("lib/python3.*/site-packages/pyspark"))
    return homes[0] if homes else spark_environment() / f"lib/python3.{sys.version_info[1]}/site-packages/pyspark"


def spark_version() -> str:
    """The minor version of that Spark, such as 4.2; nothing where there is none."""
    names = (jar.name for jar in (spark_home() / "jars").glob("spark-core_*.jar"))
    return next((match[1] for name in names if (match := re.search(r"-(\d+\.\d+)\.[^-]*\.jar$", name))), "")


def delta_folder() -> Path:
    """The folder of Delta's jars: HINDSIGHT_DELTA_JARS, else the one that set-up fills."""
    return Path(os.environ.get(DELTA_JARS) or HOME / ".jars")


def delta_jars() -> list[Path]:
    """Delta's jars for that Spark; none where their folder has none for its version.

    A folder may hold those for several versions: a part of Delta is made for each, the others are for all.
    """
    made_for_one, folder = "delta-spark_", delta_folder()
    own = [*folder.glob(f"{made_for_one}{spark_version() or 'none'}_2.13-*.jar")]
    others = [jar for jar in sorted(folder.glob("*.jar")) if not jar.name.startswith(made_for_one)]
    return [*own, *others] if own else []


def spark_submit() -> Path:
    """The program that runs a step."""
    return spark_environment() / "bin" / "spark-submit"


def missing_environment() -> str | None:
    """The problem if pip installed us and the environment of the steps has no Spark; None if there is no problem.

    Beside Airflow, the steps run in another environment, which HINDSIGHT_SPARK_ENV must name.
    """
    if not IS_INSTALLED or spark_submit().exists():
        return None
    return (
        f"Found: no {spark_submit()}. Needed: an environment with kafka-hindsight[spark]. "
        "What to do: install the extra `spark`, or name the environment's folder in HINDSIGHT_SPARK_ENV."
    )


def spark_variables() -> dict[str, str]:
    """The variables that make spark-submit use our Python and our Spark.

    Without SPARK_HOME, spark-submit looks for `spark-class` through the first python3 on PATH. Arrow's own allocators
    keep more memory, and take more processor time, than the system's. With a threshold of ours glibc gives the memory
    of Arrow's columns back as soon as they are freed; its own threshold grows with them.
    """
    return {
        "SPARK_HOME": str(spark_home()),
        "PYSPARK_PYTHON": str(spark_python()),
        "PYSPARK_DRIVER_PYTHON": str(spark_python()),
        **python_child.variables(),
        "PYTHONDONTWRITEBYTECODE": os.environ.get("PYTHONDONTWRITEBYTECODE", ""),
        "SPARK_LOCAL_IP": os.environ.get("SPARK_LOCAL_IP", "127.0.0.1"),
        "GX_ANALYTICS_ENABLED": "false",
        "ARROW_DEFAULT_MEMORY_POOL": os.environ.get("ARROW_DEFAULT_MEMORY_POOL", "system"),
        "MALLOC_MMAP_THRESHOLD_": os.environ.get("MALLOC_MMAP_THRESHOLD_", "262144"),
        "TZ": "UTC",
    }


def java_variables(folder: Path) -> dict[str, str]:
    """The variable by which the JVM that spark-submit starts keeps its temporary files in a folder of ours.

    Spark's scratch lies there too, unless its settings name a place. Drivers that a cluster starts have their own.
    """
    own = f'-Djava.io.tmpdir="{folder}"'
    return {_OF_JVM: f"{own} {os.environ.get(_OF_JVM, '')}".rstrip()}


def without_airflows() -> dict[str, str]:
    """The variables of this process without Airflow's secrets, which no process of ours needs."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_AIRFLOWS)}


def _of_drivers_elsewhere() -> dict[str, str]:
    """Our variables for a driver that a cluster starts: it inherits neither those of spark-submit nor its address.

    YARN tries nothing again: a scheduler does, and not what ended with 2 or 42.
    """
    variables = {name: value for name, value in spark_variables().items() if name != "SPARK_LOCAL_IP"}
    prefixes = ("spark.yarn.appMasterEnv", "spark.kubernetes.driverEnv")
    of_both = {f"{prefix}.{name}": value for prefix in prefixes for name, value in variables.items()}
    return {**of_both, f"{prefixes[0]}.{DRIVER_OF_YARN}": "1", "spark.yarn.maxAppAttempts": "1"}


def is_large(*places: str | None) -> bool:
    """Whether the input at these places is large. A URI, or a place with dates, counts as large."""
    inputs = [place for place in places if place]
    return any(is_uri(place) or is_dated(place) for place in inputs) or any(
        size >= _MUCH for size in accumulate(_sizes(inputs))
    )


def names_master() -> bool:
    """Whether our configuration names a master of Spark."""
    return "spark.master=" in os.environ.get(_CONF, "")


def uses_spark(engine: str, is_large: bool) -> bool:
    """Whether Spark does the work: engine spark, or auto with a configured master, or with a large input and Spark."""
    is_best = names_master() or (is_large and spark_submit().exists())
    return engine == "spark" or (engine == "auto" and is_best)


def _sizes(places: Iterable[str]) -> Iterator[int]:
    """The bytes of each file; one that vanishes meanwhile is left out."""
    for place in map(Path, places):
        for path in chain([place], place.rglob("*")):
            with suppress(OSError):
                yield path.stat().st_size if path.is_file() else 0


def configuration(is_large: bool = False) -> dict[str, str]:
    """Spark's configuration for every step, prompt and test. HINDSIGHT_SPARK_CONF (k=v;k=v) overrides it.

    Raises:
        BadInput: Spark Connect is asked for. Its client has no JVM, and spark-submit takes no remote beside a master.
    """
    log = (PACKAGE / "start" / "log4j2.properties").as_uri()
    user_settings = _pairs(os.environ.get(_CONF, ""))
    remote = os.environ.get("SPARK_REMOTE") or user_settings.get("spark.remote")
    if remote or user_settings.get("spark.master", "").startswith("sc://"):
        raise BadInput(
            f"Found: Spark Connect, by SPARK_REMOTE or {_CONF}. Needed: a master, since steps use Spark's JVM. What to"
            f" do: unset it, and set spark.master in {_CONF}, or ENGINE=local."
        )
    memory = user_settings.get("spark.driver.memory") or os.environ.get("HINDSIGHT_DRIVER_MEMORY") or "2g"
    flags = (*_JVM_FLAGS, f"-Xms{memory}", *(_FOR_LOOPS if is_large else _FOR_LITTLE))
    settings = {
        "spark.driver.memory": memory,
        "spark.driver.extraJavaOptions": " ".join((*flags, f"-Dlog4j2.configurationFile={log}")),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "8",
        "spark.sql.execution.arrow.maxBytesPerBatch": str(64 * 1024 * 1024),
        "spark.broadcast.UDFCompressionThreshold": str(64 * 1024),
        "spark.hadoop.fs.permissions.umask-mode": umask(),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.maxPlanStringLength": "2000",
        "spark.sql.ui.explainMode": "simple",
    }
    delta = {"spark.jars": ",".join(map(str, jars)), **_DELTA} if (jars := delta_jars()) else {}
    return settings | delta | (_FOR_MUCH if is_large else {}) | _of_drivers_elsewhere() | user_settings


def submission(conf: Mapping[str, str], folder: Path, *program: str) -> list[str]:
    """The spark-submit command that starts RUN with arguments. Spark also reads its own defaults."""
    settings = str(properties_file(conf, folder))
    return [str(spark_submit()), "--properties-file", settings, LOAD_DEFAULTS, str(RUN), *program]


def umask() -> str:
    """The umask of files that we write: HINDSIGHT_UMASK, else 077. Raises: BadInput if it is not three octal digits."""
    text = os.environ.get("HINDSIGHT_UMASK") or "077"
    if not re.fullmatch("[0-7]{3}", text):
        raise BadInput(f"HINDSIGHT_UMASK is {text!r}. Needed: three digits from 0 to 7, such as 027 for a group.")
    return text


def keep_private() -> None:
    """Apply `umask` to this process and to those that it starts."""
    os.umask(int(umask(), 8))


def properties_file(settings: Mapping[str, str], folder: Path) -> Path:
    """Write Spark's settings into a file that only this user may read: any user sees the arguments of a process."""
    with NamedTemporaryFile("w", prefix="spark-", suffix=".conf", dir=folder, delete=False, encoding="utf-8") as file:
        file.writelines(f"{name} {_escaped(value)}\n" for name, value in sorted(settings.items()))
    return Path(file.name)


def _escaped(value: str) -> str:
    """A value, escaped for java.util.Properties."""
    return value.replace("\\", "\\\\").replace("\r", "\\r").replace("\n", "\\n")


def safe_run_id(text: str) -> str:
    """A scheduler's run id as a name that is safe for any file system (Hadoop refuses a colon)."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-._")[:200] or "run"


def _pairs(text: str) -> dict[str, str]:
    pairs = (p.split("=", 1) for p in text.split(";") if p.strip())
    return {p[0].strip(): p[1].strip() if len(p) > 1 else "" for p in pairs}
