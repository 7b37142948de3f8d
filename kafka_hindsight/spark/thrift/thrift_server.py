"""The lake over JDBC: Spark's own Thrift server with every table of the lake, and no statement that writes."""

from __future__ import annotations

import os
import secrets
import shlex
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from pyspark.sql import SparkSession

from kafka_hindsight.catalog import TABLES, Table
from kafka_hindsight.lake import publication
from kafka_hindsight.lake.ddl import literal, quoted
from kafka_hindsight.lake.half_done import state_of
from kafka_hindsight.settings.home import WORK
from kafka_hindsight.shared.at_once import at_once
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.spark import session
from kafka_hindsight.spark.tables.store import Store
from kafka_hindsight.spark.thrift import thrift_rules
from kafka_hindsight.start import launch

PASSWORD_FILE = WORK / ".thrift-password"
"""Where the password lies that the server draws at its first start."""

_GUARD = Path(__file__).with_name("ThriftGuard.java")

_ANALYSIS = "org.apache.spark.sql.catalyst.analysis"
_THRIFT_SERVER = "org.apache.spark.sql.hive.thriftserver"
_GUARD_CLASS = f"{_THRIFT_SERVER}.ThriftGuard"

_FOLLOW_SECONDS = 2.0
"""How often the server looks whether something was published."""

_OF_HIVE = {"authentication": "CUSTOM", "enable.doAs": "false", "transport.mode": "binary"}

_LOUDNESS = {"spark": "error", "spark.sql.hive.thriftserver": "off", "hive": "off", "hadoop.hive": "off"}
"""What the packages of org.apache write: where a client's query is wrong, that client gets the error."""

_AUTHORIZER = "org.apache.hadoop.hive.ql.security.authorization.MetaStoreAuthzAPIAuthorizerEmbedOnly"
"""Edge case: Hive's default lets a client wait five seconds for its first list of tables, while a metastore starts
that is asked who may do what. This one does not ask; Spark uses neither."""


def serve(lake: str, host: str, port: int, password_file: Path = PASSWORD_FILE) -> None:
    """Serves a lake until the process is stopped.

    Takes: the lake's folder, absolute, or a URI that Spark reads; where to listen, port 0 for any that is free; the
    file with the password, which is drawn where there is none.
    Raises: BadInput where nothing can be listened on there, where there is no lake, or where the file with the password
    cannot be used; RuntimeError where Java ended.
    """
    _require_free(host, port)
    password = password_of(password_file)
    with tempfile.TemporaryDirectory(prefix="hindsight-thrift-") as scratch:
        spark = session.start("hindsight thrift", launch.DEFAULT_MASTER, _settings(scratch), [lake])
        try:
            tables = register(spark, lake)
            guard = _guard(spark, scratch)
            _see_published(spark, guard, lake)
            _only_read(spark, guard, tables)
            _keep_quiet(spark, scratch)
            listening = _listen(spark, guard, host, port)
            guard.accept(password)
            print(_greeting(lake, tables, f"jdbc:hive2://{host}:{listening}/gold", password_file), flush=True)
            _wait(spark, guard, lake)
            raise RuntimeError("Java ended by itself, and the server with it. What it said last stands above.")
        finally:
            spark.stop()


def password_of(file: Path) -> str:
    """The password that a file holds, which only its owner may read; it is drawn where there is no file.

    Raises: BadInput where the file cannot be read or made, is open to others, or holds nothing.
    """
    try:
        with suppress(FileExistsError), open(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as drawn:
            drawn.write(secrets.token_urlsafe(24) + "\n")
        mode, password = stat.S_IMODE(file.stat().st_mode), file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8"
        raise BadInput(
            f"The password cannot be read from {file}: {why}. Needed: a file that this user may read, in a folder where"
            " it may be written if it is missing. Choose it with --password-file."
        ) from error
    if mode & 0o077:
        raise BadInput(
            f"{file} has mode {mode:04o}, so that others may read it. Needed: mode 0600. Run chmod 600 {file}."
        )
    if not password:
        raise BadInput(f"{file} holds no password. Needed: one line of text. Write it, or remove the file to draw one.")
    return password


def register(spark: SparkSession, lake: str) -> Sequence[Table]:
    """Names every table of the lake that is there in Spark's catalog, which lives in memory; gives those tables.

    Edge case: Delta copies columns and comments into the catalog only where a setting says so, and JDBC looks nowhere
    else.
    Raises: BadInput where there is none.
    """
    store = Store(spark, lake)
    tables = [t for t in TABLES if store.has(t)]
    for note in state_of(store.lake, publication.newest_versions(store.lake)).notes:
        print(note, file=sys.stderr)
    if not tables:
        raise BadInput(
            f"There is no lake at {lake}: none of its {len(TABLES)} tables was found. Needed: the tables of an audit."
            " Run `hindsight audit` first, or name the lake with --lake."
        )
    for layer in dict.fromkeys(t.layer for t in tables):
        spark.sql(f"CREATE SCHEMA {quoted(layer)}")
    at_once(*(lambda t=t: spark.sql(_named(t, store.lake)) for t in tables))
    return tables


def _guard(spark: SparkSession, scratch: str) -> Any:
    """The Java that decides what clients may do, compiled beside Spark's own classes.

    Edge case: Hive looks for the class that knows the password by its name, in the class loader of whichever thread
    asks; only Spark's own class loader is behind all of them.
    """
    context: Any = spark.sparkContext
    jvm = context._jvm
    files = context._gateway.new_array(jvm.java.io.File, 1)
    files[0] = jvm.java.io.File(str(_GUARD))
    compiler = jvm.org.codehaus.janino.Compiler()
    compiler.setDestinationDirectory(jvm.java.io.File(scratch), False)
    compiler.compile(files)
    beside, handles = (
        jvm.java.lang.Class.forName(f"{_THRIFT_SERVER}.HiveThriftServer2"),
        jvm.java.lang.invoke.MethodHandles,
    )
    lookup = handles.privateLookupIn(beside, handles.lookup())
    for compiled in Path(scratch).rglob("*.class"):
        lookup.defineClass(compiled.read_bytes())
    return getattr(jvm, _GUARD_CLASS)()


def _see_published(spark: SparkSession, guard: Any, lake: str) -> None:
    """Shows what is published together in the versions that are listed now."""
    context: Any = spark.sparkContext
    versions = context._jvm.java.util.HashMap()
    newest = publication.newest_versions(lake, *publication.TOGETHER)
    for table, version in publication.visible_versions(lake, newest).items():
        versions.put(table.full_name, str(version))
    guard.see(versions)


def _wait(spark: SparkSession, guard: Any, lake: str) -> None:
    """Waits until Java ends, and follows what is published.

    Edge case: where the lake cannot be reached for a while, what was seen last is seen on.
    """
    context: Any = spark.sparkContext
    while True:
        try:
            context._gateway.proc.wait(_FOLLOW_SECONDS)
            return
        except subprocess.TimeoutExpired:
            with suppress(OSError):
                _see_published(spark, guard, lake)


def _only_read(spark: SparkSession, guard: Any, tables: Sequence[Table]) -> None:
    """Lets the sessions that are opened from this one ask what thrift_rules allows. This one has its rules already."""
    context: Any = spark.sparkContext
    jvm, of_java = context._jvm, cast("Any", spark._jsparkSession)
    functions = [
        name
        for kind in ("Function", "TableFunction")
        for name in _keep_functions(_object(jvm, f"{_ANALYSIS}.{kind}Registry"))
    ]
    layers = dict.fromkeys(t.layer for t in tables)
    schemas = ("", "spark_catalog", *layers, *(f"spark_catalog.{layer}" for layer in layers))
    allowed = (thrift_rules.PARSED, thrift_rules.ANALYZED, functions, schemas, thrift_rules.FILES)
    guard.checkPlans(of_java.extensions(), *(_set(jvm, names) for names in allowed))
    guard.pinVersions(of_java.extensions())


def _keep_functions(registry: Any) -> Sequence[str]:
    """Drops from Spark's functions those that are not allowed; gives the names of the others."""
    functions, kept = registry.builtin(), []
    for function in _each(functions.listFunction()):
        group, name = functions.lookupFunction(function).get().getGroup(), function.funcName()
        if group in thrift_rules.FUNCTION_GROUPS or name in thrift_rules.FUNCTIONS:
            kept.append(name)
        else:
            functions.dropFunction(function)
    return kept


def _each(found: Any) -> Iterator[Any]:
    """The elements of a collection of Scala."""
    elements = found.iterator()
    while elements.hasNext():
        yield elements.next()


def _set(jvm: Any, names: Iterable[str]) -> Any:
    found = jvm.java.util.HashSet()
    for name in names:
        found.add(name)
    return found


def _settings(scratch: str) -> Mapping[str, str]:
    return {
        "spark.authenticate": "true",
        "spark.hadoop.hive.security.authorization.manager": _AUTHORIZER,
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.hive.thriftServer.singleSession": "false",
        "spark.sql.runSQLOnFiles": "false",
        "spark.sql.variable.substitute": "false",
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
    """Edge case: Hive starts a database of its own, in memory, when the first client leaves; it logs where it was
    started.
    """
    context: Any = spark.sparkContext
    context._jvm.java.lang.System.setProperty("derby.stream.error.file", f"{scratch}/derby.log")
    of_log4j = context._jvm.org.apache.logging.log4j
    for package, level in _LOUDNESS.items():
        of_log4j.core.config.Configurator.setLevel(f"org.apache.{package}", of_log4j.Level.toLevel(level))


def _listen(spark: SparkSession, guard: Any, host: str, port: int) -> int:
    """Starts the server within this session's Java, where it refuses everyone; gives the port that it listens on."""
    context: Any = spark.sparkContext
    jvm, of_java = context._jvm, cast("Any", spark._jsparkSession)
    jvm.java.lang.System.setProperty("hive.server2.custom.authentication.class", _GUARD_CLASS)
    for name, value in {**_OF_HIVE, "thrift.bind.host": host, "thrift.port": str(port)}.items():
        spark.conf.set(f"hive.server2.{name}", value)
    server = _object(jvm, f"{_THRIFT_SERVER}.HiveThriftServer2").startWithSparkSession(of_java, False)
    services = {service.getName(): service for service in server.getServices()}
    guard.checkSettings(server, services["CLIService"], _set(jvm, thrift_rules.SETTINGS))
    return int(services["ThriftBinaryCLIService"].getPortNumber())


def _greeting(lake: str, tables: Sequence[Table], url: str, password_file: Path) -> str:
    beeline = [str(launch.spark_home() / "bin" / "beeline"), "-u", url, "-n", "hindsight", "-w", str(password_file)]
    return (
        f"{len(tables)} of {len(TABLES)} tables of {lake} are served at {url}, to be read with the password in"
        f" {password_file}. Ctrl-C stops.\nAsk with: {shlex.join(beeline)}"
    )


def _object(jvm: Any, name: str) -> Any:
    """An object of Scala by its name."""
    return getattr(getattr(jvm, f"{name}$"), "MODULE$")
