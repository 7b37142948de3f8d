"""The lake over JDBC: Spark's own Thrift server with every table of the lake, and no statement that writes."""

from __future__ import annotations

import re
import socket
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import SparkSession

from spark_jobs.catalog import TABLES, Table
from spark_jobs.edges import session
from spark_jobs.edges.store import Store, at_once
from spark_jobs.shared import launch
from spark_jobs.shared.conform import literal, quoted
from spark_jobs.shared.exits import BadInput

_READS = re.compile(r"(Describe|Explain|Show)\w*|ResetCommand|SetCatalogAndNamespace|SetCommand")
"""The commands of Spark and Delta that write nothing, by the names of their classes. Any other is refused, also one
that a later Spark brings; what is no command cannot write."""

_RUN_ANYTHING = ("java_method", "reflect", "try_reflect")
"""The functions that call a method of Java by its name."""

_LOUDNESS = {"spark": "error", "spark.sql.hive.thriftserver": "off", "hive": "off", "hadoop.hive": "off"}
"""What the packages of org.apache write: where a client asked wrongly, that client is told."""

_AUTHORIZER = "org.apache.hadoop.hive.ql.security.authorization.MetaStoreAuthzAPIAuthorizerEmbedOnly"
"""Odd: Hive's default lets a client wait five seconds for its first list of tables, while a metastore starts that is
asked who may do what. This one asks nobody; Spark heeds neither."""


def serve(lake: str, host: str, port: int) -> None:
    """Serves a lake until the process is told to stop.

    Takes: the lake's folder, absolute, or a URI that Spark reads; where to listen, port 0 for any that is free.
    Raises: BadInput where nothing can be listened on there, or where there is no lake; RuntimeError where Java ended.
    """
    _require_free(host, port)
    with tempfile.TemporaryDirectory(prefix="hindsight-thrift-") as scratch:
        spark = session.start("hindsight thrift", launch.DEFAULT_MASTER, _settings(scratch))
        try:
            tables = register(spark, lake)
            only_read(spark)
            _keep_quiet(spark, scratch)
            listening = _listen(spark, host, port)
            print(_greeting(lake, tables, f"jdbc:hive2://{host}:{listening}/gold"), flush=True)
            context: Any = spark.sparkContext
            context._gateway.proc.wait()
            raise RuntimeError("Java ended by itself, and the server with it. What it said last stands above.")
        finally:
            spark.stop()


def register(spark: SparkSession, lake: str) -> Sequence[Table]:
    """Names every table of the lake that is there in Spark's catalog, which lives in memory; gives those tables.

    Odd: Delta copies columns and comments into the catalog only where it is told to, and JDBC asks nobody else.
    Raises: BadInput where there is none.
    """
    store = Store(spark, lake)
    tables = [t for t in TABLES if store.has(t)]
    if not tables:
        raise BadInput(
            f"There is no lake at {lake}: none of its {len(TABLES)} tables was found. Needed: the tables of an audit."
            " Run `make audit` first, or name the lake with --lake."
        )
    for layer in dict.fromkeys(t.layer for t in tables):
        spark.sql(f"CREATE SCHEMA {quoted(layer)}")
    at_once(*(lambda t=t: spark.sql(_named(t, store.lake)) for t in tables))
    return tables


def only_read(spark: SparkSession) -> None:
    """Lets the sessions that are opened from this one read tables by their names, and nothing else.

    Odd: Spark calls back into Python for each statement that it has understood and not begun, some two milliseconds.
    Where that fails the statement fails. This session itself has its rules already.
    """
    context: Any = spark.sparkContext
    context._gateway.callback_server_parameters.propagate_java_exceptions = True
    ensure_callback_server_started(context._gateway)
    of_java: Any = spark._jsparkSession
    of_java.extensions().injectCheckRule(_Rules(context._jvm))
    functions = _object(context._jvm, "org.apache.spark.sql.catalyst.analysis.FunctionRegistry").builtin()
    for name in _RUN_ANYTHING:
        functions.dropFunction(context._jvm.org.apache.spark.sql.catalyst.FunctionIdentifier(name))


def refused(command: str | None, reads_files: bool) -> str | None:
    """Why a statement is not carried out; None where it may be.

    Takes: the class of its command, None where it is a query; whether its session takes files for tables.
    """
    if command is not None and not _READS.fullmatch(command):
        return f"The lake is only read here, and {command} is none of the commands that only read."
    if command is None and reads_files:
        return "Tables are read here by their names: spark.sql.runSQLOnFiles must be false."
    return None


class _Rules:
    """What Spark asks for the rule of a session that it opens."""

    class Java:
        implements = ("scala.Function1",)

    def __init__(self, jvm: Any) -> None:
        self._jvm = jvm
        self._command = _object(jvm, "org.apache.spark.sql.catalyst.trees.TreePattern").COMMAND()

    def apply(self, of_session: Any) -> _Rule:
        return _Rule(self._jvm, self._command, of_session)


class _Rule:
    """What Spark asks about each statement of a session."""

    class Java:
        implements = ("scala.Function1",)

    def __init__(self, jvm: Any, command: Any, of_session: Any) -> None:
        self._jvm = jvm
        self._command = command
        self._session = of_session

    def apply(self, plan: Any) -> None:
        command = plan.getClass().getSimpleName() if plan.containsPattern(self._command) else None
        why = refused(command, self._session.sessionState().conf().runSQLonFile())
        if why:
            raise Py4JJavaError(why, self._jvm.java.lang.UnsupportedOperationException(why))


def _settings(scratch: str) -> Mapping[str, str]:
    return {
        "spark.hadoop.hive.security.authorization.manager": _AUTHORIZER,
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.hive.thriftServer.singleSession": "false",
        "spark.sql.runSQLOnFiles": "false",
        "spark.sql.warehouse.dir": scratch,
        "spark.databricks.delta.catalog.update.enabled": "true",
    }


def _require_free(host: str, port: int) -> None:
    try:
        socket.create_server((host, port)).close()
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or str(error).rstrip(".")
        raise BadInput(
            f"Nothing can listen on port {port} of {host}: {why}. Needed: a free port of an address of this machine."
            " Choose with --port (0 takes any that is free) and --host."
        ) from error


def _named(table: Table, lake: str) -> str:
    name, place = f"{quoted(table.layer)}.{quoted(table.name)}", f"{lake}/{table.layer}/{table.name}"
    return f"CREATE TABLE {name} USING delta COMMENT {literal(table.grain)} LOCATION {literal(place)}"


def _keep_quiet(spark: SparkSession, scratch: str) -> None:
    """Odd: Hive starts a database of its own, in memory, when the first client leaves; it logs where it was started."""
    context: Any = spark.sparkContext
    context._jvm.java.lang.System.setProperty("derby.stream.error.file", f"{scratch}/derby.log")
    of_log4j = context._jvm.org.apache.logging.log4j
    for package, level in _LOUDNESS.items():
        of_log4j.core.config.Configurator.setLevel(f"org.apache.{package}", of_log4j.Level.toLevel(level))


def _listen(spark: SparkSession, host: str, port: int) -> int:
    """Starts the server within this session's Java; gives the port that it listens on."""
    context: Any = spark.sparkContext
    spark.conf.set("hive.server2.thrift.bind.host", host)
    spark.conf.set("hive.server2.thrift.port", str(port))
    of_spark = _object(context._jvm, "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2")
    server = of_spark.startWithSparkSession(spark._jsparkSession, False)
    (listening,) = (s.getPortNumber() for s in server.getServices() if s.getName() == "ThriftBinaryCLIService")
    return int(listening)


def _greeting(lake: str, tables: Sequence[Table], url: str) -> str:
    beeline = launch.spark_home() / "bin" / "beeline"
    return (
        f"{len(tables)} of {len(TABLES)} tables of {lake} are served at {url}, without a password, to be read."
        f" Ctrl-C stops.\nAsk with: {beeline} -u {url}"
    )


def _object(jvm: Any, name: str) -> Any:
    """An object of Scala by its name."""
    return getattr(getattr(jvm, f"{name}$"), "MODULE$")
