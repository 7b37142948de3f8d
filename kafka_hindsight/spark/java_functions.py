"""Functions of Java for SQL, where only Java knows a file system: compiled by the compiler that Spark brings."""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession


def teach(spark: SparkSession, name: str, source: str, gives: str) -> bool:
    """Gives Spark a function by this name, and its class to the workers. Gives: whether Spark did not know it before.

    Takes: the name of the class, whose text lies beside this file; the type of what it gives, as Spark names it.
    """
    if spark.catalog.functionExists(name):
        return False
    context: Any = spark.sparkContext
    jvm, new_array = context._jvm, context._gateway.new_array
    scratch = tempfile.mkdtemp(dir=context._temp_dir)
    files = new_array(jvm.java.io.File, 1)
    files[0] = jvm.java.io.File(str(Path(__file__).with_name(f"{source}.java")))
    compiler = jvm.org.codehaus.janino.Compiler()
    compiler.setDestinationDirectory(jvm.java.io.File(scratch), False)
    compiler.compile(files)
    jar = f"{scratch}/hindsight-{source}.jar"
    with zipfile.ZipFile(jar, "w") as packed:
        for compiled in Path(scratch).rglob("*.class"):
            packed.write(compiled, compiled.relative_to(scratch))
    spark.sql(f"ADD JAR '{jar}'")
    made = jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader().loadClass(f"hindsight.{source}")
    function = made.getDeclaredConstructor(new_array(jvm.java.lang.Class, 0)).newInstance(
        new_array(jvm.java.lang.Object, 0)
    )
    of_java: Any = spark._jsparkSession  # type: ignore[attr-defined]
    of_java.udf().register(name, function, getattr(jvm.org.apache.spark.sql.types.DataTypes, gives))
    return True
