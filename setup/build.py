"""Build what is missing: both environments, Airflow's own tables, the sample night.

Standard library only: it needs Python 3.11 to 3.14, Java 17 and nothing else. Current parts stay as they are.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from kafka_hindsight.start import launch
from setup.needs import HOME, CannotBuild, require_java, require_python, require_space

BUILD = HOME / ".build"
LOG = BUILD / "setup.log"
LOCKS = HOME / "locks"
DELTA_LOCK = LOCKS / "jars.sha256"
UV = BUILD / "uv" / "bin" / "uv"
AIRFLOW = HOME / ".venv-airflow"
SPARK = HOME / ".venv-spark"
OLDER_DUCKDB = BUILD / "duckdb-1.5" / "bin" / "python"
"""The Python of tests on the older DuckDB that the wheel accepts."""
OURS = ("kafka_hindsight", "spark_jobs", "expectations")
"""The packages that an audit imports."""
JARS = launch.delta_folder()
SAMPLE = HOME / "samples" / "night-4.1.tar.gz"
SAMPLES = HOME / ".samples"
SPACE = 3.5
"""Bytes on the disk for each byte that is fetched: environments and the installer's cache."""


class BuildPart(NamedTuple):
    """One thing to build. It is current while its stamp holds the fingerprint of its inputs."""

    name: str
    sentence: str
    made_from: tuple[Path, ...]
    makes: Path
    build: Callable[[], None]
    megabytes: int = 0
    """What is fetched."""
    without: str = ""
    """What follows where it cannot be built; empty: set-up stops."""

    @property
    def says(self) -> str:
        """The sentence, with what is fetched."""
        return self.sentence + (f", {self.megabytes} MB to fetch" if self.megabytes else "")


def main() -> int:
    """Build every part that is missing or out of date. Return 0, or 2 if this machine lacks something."""
    parser = argparse.ArgumentParser(description="Build what is missing. Current parts stay as they are.")
    parser.add_argument("--check", action="store_true", help="also build the tools of tests and checks")
    parser.add_argument("--only", nargs="+", choices=NAMES, help="build only these parts")
    options = parser.parse_args()
    of_setup = [p for p in PARTS if p.name in (options.only or {*NAMES} - {"local"})]
    return ensure([*of_setup, *(CHECK_PARTS if options.check else ())])


def ensure(parts: Sequence[BuildPart]) -> int:
    """Build those of the parts that are missing or out of date. Return 0, or 2 if this machine lacks something."""
    try:
        require_python()
        if any(p.name == "spark" for p in parts):
            require_java()
        missing = [p for p in parts if not is_current(p)]
        if missing:
            build(missing, len(parts))
    except (CannotBuild, PermissionError) as problem:
        cannot_write = (
            f"Found: {getattr(problem, 'filename', '')} cannot be written. Needed: write access to this folder.\n"
        )
        advice = problem if isinstance(problem, CannotBuild) else f"{cannot_write}What to do: use a copy that you own."
        print(f"\nSet-up stopped.\n{advice}", file=sys.stderr)
        return 2
    return 0


def build(missing: Sequence[BuildPart], of: int) -> None:
    """Build the missing parts in order, and print the progress."""
    megabytes = sum(p.megabytes for p in missing)
    require_space(SPACE * megabytes * 1_000_000)
    BUILD.mkdir(exist_ok=True)
    print(
        f"Setting up: {len(missing)} of {of} parts are missing, {megabytes:,} MB to fetch. This happens once; "
        f"details: {relative(LOG)}."
    )
    began = time.monotonic()
    for number, part in enumerate(missing, start=1):
        Ticker.label = f"  [{number}/{len(missing)}] {part.says}"
        Ticker.began = time.monotonic()
        Ticker.show()
        stamp_of(part).unlink(missing_ok=True)
        try:
            part.build()
        except CannotBuild as problem:
            if not part.without:
                raise
            print(f"\n{part.without}\n{problem}", file=sys.stderr)
            continue
        stamp_of(part).write_text(fingerprint(part))
        Ticker.finish()
    print(f"Set-up is complete after {time.monotonic() - began:.0f} s.\n", flush=True)


class Ticker:
    """The line of the part that is built, with its seconds, which are updated on a terminal."""

    label = ""
    began = 0.0

    @classmethod
    def show(cls) -> None:
        if sys.stdout.isatty():
            print(f"\r{cls.label} ... {time.monotonic() - cls.began:.0f} s", end="", flush=True)

    @classmethod
    def finish(cls) -> None:
        start = "\r" if sys.stdout.isatty() else ""
        print(f"{start}{cls.label} ... done in {time.monotonic() - cls.began:.0f} s", flush=True)


def stamp_of(part: BuildPart) -> Path:
    return BUILD / f"{part.name}.stamp"


def fingerprint(part: BuildPart) -> str:
    """A hash of the part's inputs and of its path: an environment that was moved does not work.

    Links are followed: a worktree may use the environments of another checkout.
    """
    digest = hashlib.sha256(str(part.makes.resolve()).encode())
    for path in part.made_from:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def is_current(part: BuildPart) -> bool:
    stamp = stamp_of(part)
    return part.makes.exists() and stamp.exists() and stamp.read_text() == fingerprint(part)


def relative(path: Path) -> str:
    return str(path.relative_to(HOME))


def run(command: list[str], what_failed: str, **environment: str) -> None:
    """Run a program with its output in the log. Raises: CannotBuild with its last lines.

    The program writes bytecode even if the shell's variables forbid it: otherwise each process compiles it again.
    """
    with LOG.open("ab") as log:
        log.write(f"\n$ {' '.join(command)}\n".encode())
        log.flush()
        start = log.tell()
        process = subprocess.Popen(
            command,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=HOME,
            env={**os.environ, **environment, "PYTHONDONTWRITEBYTECODE": ""},
        )
        try:
            while True:
                try:
                    process.wait(timeout=1)
                    break
                except subprocess.TimeoutExpired:
                    Ticker.show()
        except BaseException:
            process.terminate()
            raise
    if process.returncode:
        words = LOG.read_bytes()[start:].decode(errors="replace").strip().splitlines()[-6:]
        raise CannotBuild(
            "\n".join([what_failed, "Its last lines:", *(f"  {w}" for w in words), f"All lines: {relative(LOG)}"])
        )


def build_installer() -> None:
    uv = BUILD / "uv"
    shutil.rmtree(uv, ignore_errors=True)
    run(
        [sys.executable, "-m", "venv", str(uv)],
        "Python could not make an environment. Needed: its venv module. "
        "What to do: install it (a package such as python3.11-venv).",
    )
    run(
        [
            str(uv / "bin" / "pip"),
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--require-hashes",
            "-r",
            str(LOCKS / "uv.txt"),
        ],
        "The installer could not be fetched. Needed: access to a Python package index. "
        "What to do: check the network, or set PIP_INDEX_URL.",
    )


def build_environment(environment: Path, *locks: str, compiles: bool = True) -> None:
    """Make an environment, or fill it; `compiles`: for programs that start often, not for a few starts."""
    if not (environment / "bin" / "python").exists() or not is_here(environment):
        run(
            [str(UV), "venv", "--clear", "--python", sys.executable, str(environment)],
            f"{environment.name} could not be made.",
        )
    run(
        [
            str(UV),
            "pip",
            "sync",
            "--require-hashes",
            *(["--compile-bytecode"] if compiles else []),
            "--python",
            str(environment / "bin" / "python"),
            "--build-constraints",
            str(LOCKS / "build.txt"),
            *(str(LOCKS / lock) for lock in locks),
        ],
        f"{environment.name} could not be filled. Needed: access to a Python package index. "
        "What to do: check the network, or set PIP_INDEX_URL, then start again: what was fetched is kept.",
        TMPDIR=str(BUILD),
        **index_settings(),
    )


def build_steps_environment(*locks: str) -> None:
    """Fill the environment of the steps, and compile our own modules for its Python."""
    build_environment(SPARK, *locks)
    run(
        [str(SPARK / "bin" / "python"), "-m", "compileall", "-q", *OURS],
        "Our modules could not be compiled. What to do: see the lines below.",
    )


def is_here(environment: Path) -> bool:
    """Whether the environment was created at this path, which its scripts name."""
    activate = environment / "bin" / "activate"
    return activate.exists() and str(environment.resolve()) in activate.read_text()


def index_settings() -> dict[str, str]:
    """The settings of pip's indexes as variables of uv, so that one setting serves both."""
    listing = subprocess.run(
        [str(BUILD / "uv" / "bin" / "python"), "-m", "pip", "config", "list"], capture_output=True, text=True
    ).stdout
    pairs = dict(re.findall(r"^[^=]*\.([a-z-]+)='(.*)'$", listing, flags=re.MULTILINE))
    in_uv = {"index-url": "UV_DEFAULT_INDEX", "extra-index-url": "UV_INDEX", "cert": "SSL_CERT_FILE"}
    settings = {in_uv[key]: value for key, value in pairs.items() if key in in_uv}
    return {"UV_HTTP_TIMEOUT": "180", **{k: v for k, v in settings.items() if k not in os.environ}}


def fetch_jars() -> None:
    """Fetch Delta's jars, if the user has none in a folder."""
    from setup import maven

    if os.environ.get(launch.DELTA_JARS):
        return
    hashes = maven.locked(DELTA_LOCK)
    modules = [maven.Module("io.delta", *name.removesuffix(".jar").rsplit("-", 1)) for name in hashes]
    try:
        maven.fetch(modules, hashes, JARS, BUILD / "ivy", is_transitive=False)
    except maven.CannotFetch as problem:
        raise CannotBuild(str(problem)) from None


def migrate_airflow() -> None:
    from kafka_hindsight.start import embedded_airflow

    (HOME / ".airflow").mkdir(exist_ok=True)
    run(
        [str(AIRFLOW / "bin" / "airflow"), "db", "migrate"],
        "Airflow could not make its tables. What to do: remove the folder .airflow and start again.",
        **embedded_airflow.airflow_variables(),
    )


def unpack_samples() -> None:
    target = SAMPLES / "night-4.1"
    shutil.rmtree(target, ignore_errors=True)
    with tarfile.open(SAMPLE) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # Python before 3.11.4 has none
        archive.extractall(target)


PARTS: tuple[BuildPart, ...] = (
    BuildPart("uv", "the installer", (LOCKS / "uv.txt",), UV, build_installer, 25),
    BuildPart(
        "airflow",
        "Airflow's environment: some 130 packages",
        (LOCKS / "airflow.txt",),
        AIRFLOW / "bin" / "airflow",
        lambda: build_environment(AIRFLOW, "airflow.txt"),
        200,
    ),
    BuildPart(
        "local",
        "the environment of audits without Spark: some 60 packages",
        (LOCKS / "local.txt",),
        SPARK / "bin" / "python",
        lambda: build_steps_environment("local.txt"),
        220,
    ),
    BuildPart(
        "spark",
        "Spark's environment: some 80 packages, half of it Spark",
        (LOCKS / "spark.txt", LOCKS / "build.txt"),
        SPARK / "bin" / "spark-submit",
        lambda: build_steps_environment("spark.txt"),
        900,
    ),
    BuildPart(
        "jars",
        "Delta's four jars, with which Spark reads tables",
        (DELTA_LOCK,),
        JARS,
        fetch_jars,
        13,
        f"Set-up goes on without them: rebuilds do without Spark. {launch.DELTA_JARS} may name a folder of them.",
    ),
    BuildPart(
        "airflow-tables",
        "Airflow's own tables",
        (LOCKS / "airflow.txt",),
        HOME / ".airflow" / "airflow.db",
        migrate_airflow,
    ),
    BuildPart("samples", "the recorded night", (SAMPLE,), SAMPLES / "night-4.1", unpack_samples),
)
NAMES = [part.name for part in PARTS]
CHECK_PARTS: tuple[BuildPart, ...] = (
    BuildPart(
        "check",
        "the tools for tests and checks",
        (LOCKS / "spark.txt", LOCKS / "check.txt"),
        SPARK / "bin" / "pytest",
        lambda: build_steps_environment("spark.txt", "check.txt"),
    ),
    BuildPart(
        "duckdb-1.5",
        "DuckDB 1.5 with its extensions, for tests",
        (LOCKS / "duckdb-1.5.txt",),
        OLDER_DUCKDB,
        lambda: build_environment(OLDER_DUCKDB.parents[1], "duckdb-1.5.txt"),
        54,
    ),
)

if __name__ == "__main__":
    sys.exit(main())
