"""The compose stack, as far as it can be checked without a container engine; tests/stack starts it for real."""

from __future__ import annotations

import http.server
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import yaml

from kafka_hindsight import __version__
from kafka_hindsight.catalog.steps import BY_NAME
from kafka_hindsight.settings.alerts import DEFAULT
from kafka_hindsight.settings.home import HOME
from kafka_hindsight.start.launch import spark_environment, spark_home
from lab.drill import everyday
from lab.drill.jars import NEWEST
from lab.drill.scenarios import SCENARIOS
from setup import build
from setup import stack as setup_stack
from tests.stack.compose import IMAGE_HOME, Service, mib, stack

LAPTOP = 8 * 1024
SECRETS = {name: f"drawn-{name.lower()}" for name in setup_stack.DEFAULTS}
DOCKERFILE = (HOME / "Dockerfile").read_text(encoding="utf-8")
SERVICES = stack(SECRETS)
OURS = {name: s for name, s in SERVICES.items() if s.declared.get("build")}
AIRFLOW = {name: s for name, s in OURS.items() if name.startswith("airflow-")}
BROKERS = {name: s for name, s in OURS.items() if name.startswith("broker-")}
ONCE = {name for s in SERVICES.values() for name, condition in s.waits_for.items() if "completed" in condition}

each = pytest.mark.parametrize("service", SERVICES.values(), ids=SERVICES)
each_of_ours = pytest.mark.parametrize("service", OURS.values(), ids=OURS)


def test_compose_file_is_valid() -> None:
    check = [spark_environment() / "bin" / "check-jsonschema", "--builtin-schema", "vendor.compose-spec"]
    done = subprocess.run([*check, HOME / "docker-compose.yml"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    compose = ["docker", "compose"]
    if shutil.which("docker") and subprocess.run([*compose, "version"], capture_output=True).returncode == 0:
        subprocess.run([*compose, "config", "--quiet"], cwd=HOME, env={**os.environ, **SECRETS}, check=True)


@each
def test_lasting_service_has_health_check_and_restarts(service: Service) -> None:
    if service.name in ONCE:
        assert service.declared["restart"] == "no" and not service.healthcheck
    else:
        assert service.healthcheck and service.declared["restart"] == "unless-stopped"


@each
def test_dependency_can_meet_its_condition_and_is_started(service: Service) -> None:
    for name, condition in service.waits_for.items():
        waited = SERVICES[name]
        assert condition == ("service_completed_successfully" if name in ONCE else "service_healthy")
        own, others = (set(s.declared.get("profiles", ())) for s in (service, waited))
        assert not others or (own and own <= others)


@each
def test_service_has_limits_for_memory_cpu_logs_and_privileges(service: Service) -> None:
    assert service.memory and float(service.declared["cpus"]) <= 2
    assert service.declared["logging"] == {"driver": "local"}
    assert service.declared["security_opt"] == ["no-new-privileges:true"]


def test_lasting_services_fit_8_gib() -> None:
    stays = {s.name: s.memory for s in SERVICES.values() if s.name not in ONCE}
    assert sum(stays.values()) <= LAPTOP, stays


def test_spark_memory_and_cores_fit_containers() -> None:
    settings = dict(p.split("=") for p in SERVICES["airflow-scheduler"].environment["HINDSIGHT_SPARK_CONF"].split(";"))
    worker = SERVICES["spark-worker"]
    memory, cores = (worker.command[worker.command.index(f"--{o}") + 1] for o in ("memory", "cores"))
    assert mib(settings["spark.executor.memory"]) <= mib(memory) < worker.memory
    assert int(settings["spark.cores.max"]) <= int(cores)
    scheduler = SERVICES["airflow-scheduler"]
    assert mib(scheduler.environment["HINDSIGHT_DRIVER_MEMORY"]) < scheduler.memory


def test_images_are_pinned() -> None:
    assert {s.declared["image"] for s in OURS.values()} == {f"kafka-hindsight:{__version__}"}
    foreign = [s.declared["image"] for s in SERVICES.values() if s.name not in OURS]
    foreign += re.findall(r"^ARG HINDSIGHT_PYTHON_IMAGE=(\S+)\nFROM \$\{HINDSIGHT_PYTHON_IMAGE\}$", DOCKERFILE, re.M)
    assert len(foreign) == 2
    assert all(re.fullmatch(r"[a-z]+:\d+\.\d+(\.\d+)?-[a-z-]+@sha256:[0-9a-f]{64}", image) for image in foreign), (
        foreign
    )


def test_published_ports_are_on_localhost_only() -> None:
    ports = [p for s in SERVICES.values() for p in s.declared.get("ports", ())]
    assert ports and all(p.startswith("127.0.0.1:") for p in ports)
    assert all("network_mode" not in s.declared and "privileged" not in s.declared for s in SERVICES.values())


@each_of_ours
def test_own_service_runs_without_root(service: Service) -> None:
    assert "user" not in service.declared and service.declared["cap_drop"] == ["ALL"]
    arguments = {"HINDSIGHT_UID": SECRETS["HINDSIGHT_UID"], "HINDSIGHT_PYTHON_IMAGE": None}
    assert service.declared["build"]["args"] == arguments, "without a value it is the shell's, else the Dockerfile's"
    assert re.search(
        r'^ARG HINDSIGHT_UID=[1-9]\d*\nRUN .*useradd --uid "\$HINDSIGHT_UID".*\nUSER hindsight:0$',
        DOCKERFILE,
        re.S | re.M,
    )


def test_compose_file_has_no_secret_and_each_needed_one_is_generated() -> None:
    text = (HOME / "docker-compose.yml").read_text(encoding="utf-8")
    for name, value in re.findall(r"^ *(\w*(?:PASSWORD|SECRET|KEY|SQL_ALCHEMY_CONN)): (.*)", text, flags=re.MULTILINE):
        assert re.search(r"\$\{\w+:\?", value), name
    needed = set(re.findall(r"\$\{(\w+):\?", text))
    assert needed and needed <= set(setup_stack.DEFAULTS)
    for name in needed:
        with pytest.raises(KeyError, match=f"{name}: run make up"):
            stack({k: v for k, v in SECRETS.items() if k != name})


def test_each_secret_reaches_only_services_that_need_it() -> None:
    def holders(name: str) -> set[str]:
        return {s.name for s in SERVICES.values() if SECRETS[name] in " ".join(s.strings)}

    assert holders("HINDSIGHT_ADMIN_PASSWORD") == {"airflow-init"}
    assert holders("HINDSIGHT_DATABASE_PASSWORD") == {"postgres", *AIRFLOW}
    assert holders("HINDSIGHT_JWT_SECRET") == holders("HINDSIGHT_FERNET_KEY") == set(AIRFLOW)
    assert holders("HINDSIGHT_SPARK_SECRET") == {"airflow-scheduler", "spark-master", "spark-worker"}
    assert holders("HINDSIGHT_KAFKA_PASSWORD") == {"airflow-init", "members", *BROKERS}


def test_every_broker_listener_uses_sasl() -> None:
    for service in BROKERS.values():
        settings = service.environment
        protocols = dict(pair.split(":") for pair in settings["KAFKA_LISTENER_SECURITY_PROTOCOL_MAP"].split(","))
        assert set(protocols.values()) == {"SASL_PLAINTEXT"}
        assert set(re.findall(r"(\w+)://", settings["KAFKA_LISTENERS"])) == set(protocols)
        for listener in protocols:
            login = settings[f"KAFKA_LISTENER_NAME_{listener.replace('_', '__')}_PLAIN_SASL_JAAS_CONFIG"]
            assert login.count(f'="{SECRETS["HINDSIGHT_KAFKA_PASSWORD"]}"') == 2 and login.endswith(";")


def test_every_service_drops_all_capabilities() -> None:
    assert all(s.declared["cap_drop"] == ["ALL"] for s in SERVICES.values())
    assert {s.declared["user"] for name, s in SERVICES.items() if name not in OURS} == {"postgres"}


def test_secrets_are_generated_once_and_private(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("# ours\nHINDSIGHT_UID=4711\nHINDSIGHT_INPUT=/mnt/logs")
    file.chmod(0o644)
    setup_stack.draw(file)
    first = setup_stack.values_of(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert set(first) == {*setup_stack.DEFAULTS, "HINDSIGHT_INPUT"} and first["HINDSIGHT_UID"] == "4711"
    assert file.read_text().startswith("# ours\n")
    setup_stack.draw(file)
    assert setup_stack.values_of(file) == first
    other = tmp_path / "other"
    setup_stack.draw(other)
    drawn = setup_stack.values_of(other)
    secrets = [name for name in drawn if name.endswith(("_PASSWORD", "_KEY", "_SECRET"))]
    assert len(secrets) == 6 and all(drawn[name] != first[name] and len(drawn[name]) >= 24 for name in secrets)


@pytest.mark.parametrize("has_docker", [False, True])
def test_make_up_without_compose_says_what_it_needs(has_docker: bool, tmp_path: Path) -> None:
    if has_docker:
        docker = tmp_path / "docker"
        docker.write_text("#!/bin/sh\necho 'docker: unknown command: docker compose' >&2\nexit 1\n")
        docker.chmod(0o755)
    command = [sys.executable, str(HOME / "setup" / "stack.py")]
    done = subprocess.run(command, env={"PATH": str(tmp_path)}, capture_output=True, text=True)
    assert done.returncode == 2 and "Needed: Docker with its compose plugin" in done.stderr


def test_every_address_belongs_to_service_that_listens_there() -> None:
    called = {
        (name if name != "localhost" else s.name, port)
        for s in SERVICES.values()
        for name, port in re.findall(r"(?:^|[/@,])([a-z][a-z0-9-]*):(\d+)\b", "\n".join(s.strings), flags=re.MULTILINE)
    }
    assert {name for name, _ in called} <= set(SERVICES) and len(called) >= 10
    for name, port in called:
        own = SERVICES[name]
        words = " ".join((*own.command, *own.environment.values()))
        assert re.search(rf"(?:--(?:webui-)?port |-p |{name}:|^){port}\b", words) or port in own.environment.values()


def test_brokers_differ_only_by_id_name_and_rack() -> None:
    own = ("KAFKA_NODE_ID", "KAFKA_BROKER_RACK")
    ids, racks = ({s.environment[name] for s in BROKERS.values()} for name in own)
    assert len(racks) == len(ids) == len(BROKERS) == 3
    voters = "KAFKA_CONTROLLER_QUORUM_VOTERS"
    expected = ",".join(f"{s.environment['KAFKA_NODE_ID']}@{name}:9093" for name, s in BROKERS.items())
    assert {s.environment[voters] for s in BROKERS.values()} == {expected}
    alike = []
    for name, service in BROKERS.items():
        of_all = {k: v for k, v in service.environment.items() if k not in (*own, voters)}
        alike.append(str({**service.declared, "environment": of_all}).replace(name, "broker-N"))
    assert len({*alike}) == 1


def test_broker_is_set_by_names_of_its_official_image() -> None:
    """What is none of Kafka's own: broker.sh reads it."""
    script = (HOME / "docker" / "broker.sh").read_text(encoding="utf-8")
    for service in BROKERS.values():
        ours = {name for name in service.environment if not name.startswith("KAFKA_")}
        assert ours == {"CLUSTER_ID", "LOG_DIR", "HINDSIGHT_KAFKA_PASSWORD"}
        assert all(name in script for name in ours | {"KAFKA_VERSION", "KAFKA_HEAP_OPTS", "KAFKA_LOG4J_OPTS"})
        assert service.environment["KAFKA_LOG_DIRS"] == "/var/lib/kafka/data", "as the image apache/kafka has it"


def test_log_cleaner_leaves_broker_most_of_its_heap() -> None:
    """The leader of the metadata log keeps batches of 8 MiB, and a broker without room for one ends."""
    for service in BROKERS.values():
        heap = mib(service.environment["KAFKA_HEAP_OPTS"].removeprefix("-Xmx"))
        assert int(service.environment["KAFKA_LOG_CLEANER_DEDUPE_BUFFER_SIZE"]) <= heap * 2**20 / 8


def test_brokers_run_kafka_version_of_image() -> None:
    assert {s.environment["KAFKA_VERSION"] for s in BROKERS.values()} == {NEWEST}
    assert "python -m lab.drill.jars" in DOCKERFILE
    assert f"kafka_2.13-{NEWEST}.jar" in (HOME / "locks" / f"kafka-{NEWEST}.sha256").read_text()


@each_of_ours
def test_every_started_program_and_class_exists(service: Service) -> None:
    for words in filter(None, (service.command, service.healthcheck[-1:] and service.healthcheck[-1].split())):
        program, *rest = words
        if "/" in program:
            assert (HOME / program).exists() and (HOME / program).stat().st_mode & stat.S_IXUSR, program
        for script in (w for w in words if w.startswith("docker/")):
            assert (HOME / script).exists(), script
        for name in (w for w in rest if w.startswith("org.apache.spark.")):
            core = next((spark_home() / "jars").glob("spark-core_*.jar"))
            assert f"{name.replace('.', '/')}.class" in zipfile.ZipFile(core).namelist()


def test_members_command_is_valid_and_has_playable_scenarios() -> None:
    command = SERVICES["members"].command
    assert command[1:3] == ("-m", "lab.drill.everyday")
    options = everyday._parser().parse_args(command[3:])
    inputs = json.loads(SERVICES["airflow-scheduler"].environment["AIRFLOW_CONN_HINDSIGHT_DEFAULT"])["extra"]
    assert (f"{options.folder}/logs", f"{options.folder}/clients") == (inputs["logs"], inputs["client_logs"])
    playable = {s.name for s in everyday.of_members([*SCENARIOS.values()])}
    assert {"crash", "crash_librdkafka", "leave", "slow", "static_too_late", "consumer_protocol"} <= playable
    strange = {"over_capacity", "pattern", "partitions", "all_removed_by_admin", "storage_error", "requests_limited"}
    assert not playable & strange


def options_of_airflow() -> Mapping[str, Mapping[str, object]]:
    place = next((HOME / ".venv-airflow").glob("lib/python3.*/site-packages/airflow/config_templates/config.yml"))
    declared: dict[str, dict[str, dict[str, object]]] = yaml.safe_load(place.read_text(encoding="utf-8"))
    return {section: entry["options"] for section, entry in declared.items()}


def test_airflow_has_both_postgresql_drivers() -> None:
    connection = SERVICES["airflow-apiserver"].environment["AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"]
    assert connection.startswith("postgresql+psycopg2://airflow:")
    lock = (HOME / "locks" / "airflow.txt").read_text(encoding="utf-8")
    assert all(re.search(rf"^{driver}==", lock, re.MULTILINE) for driver in ("psycopg2-binary", "asyncpg"))


def test_every_airflow_setting_exists() -> None:
    options = options_of_airflow()
    names = {n for s in AIRFLOW.values() for n in s.environment} | set(re.findall(r"AIRFLOW__\w+(?==)", DOCKERFILE))
    settings = {n for n in names if n.startswith("AIRFLOW__")}
    assert len(settings) > 10
    for name in settings:
        section, option = name.lower().removeprefix("airflow__").split("__")
        assert option in options[section], name


def test_every_hindsight_setting_is_read() -> None:
    sources = "".join(
        p.read_text()
        for folder in ("kafka_hindsight", "spark_jobs", "plugins", "dags", "docker")
        for p in (HOME / folder).rglob("*.*y")
    ) + "".join(p.read_text() for p in (HOME / "docker").glob("*.sh"))
    names = {DEFAULT.variable, *re.findall(r"\b((?:HINDSIGHT|KAFKA)_[A-Z_]+)\b", sources)}
    others = {name: s for name, s in SERVICES.items() if name not in BROKERS}
    passed = {k for s in others.values() for k in s.environment if k.startswith(("HINDSIGHT_", "KAFKA_"))}
    assert passed and passed <= names, passed - names


@each_of_ours
def test_every_path_is_in_prepared_volume_or_image(service: Service) -> None:
    made = set(re.search(r"mkdir -p ([^&\\]+)", DOCKERFILE)[1].split())  # type: ignore[index]
    mounted = set(service.mounts)
    assert all(any(f"{place}/".startswith(f"{target}/") for place in made) for target in mounted)
    for place in re.findall(r"(?<![\w.:/])/(?!/)[\w./-]+", "\n".join(service.strings)):
        below = [m for m in (*mounted, IMAGE_HOME, "/execution") if place == m or place.startswith(f"{m}/")]
        assert below, place
        if place.startswith(IMAGE_HOME):
            assert (HOME / place.removeprefix(f"{IMAGE_HOME}/")).exists()


def test_volumes_are_declared_and_used() -> None:
    declared = set(yaml.safe_load((HOME / "docker-compose.yml").read_text(encoding="utf-8"))["volumes"])
    assert {volume for s in SERVICES.values() for volume in s.mounts.values()} == declared


def test_audit_input_is_read_only_and_can_be_replaced() -> None:
    given = stack({**SECRETS, "HINDSIGHT_INPUT": "/mnt/logs", "HINDSIGHT_LAKE_VOLUME": "/srv/lake"})
    for name in ("airflow-scheduler", "airflow-apiserver", "spark-worker"):
        assert {"/mnt/logs:/input:ro", "/srv/lake:/lake"} <= set(given[name].declared["volumes"])
    assert given["broker-1"].mounts["/input"] == given["members"].mounts["/input"] == "input"


def test_driver_and_executors_share_lake_path_and_python() -> None:
    scheduler, worker = SERVICES["airflow-scheduler"], SERVICES["spark-worker"]
    shared = {k: v for k, v in scheduler.mounts.items() if k != "/opt/airflow"}
    assert shared.items() <= worker.mounts.items()
    assert scheduler.environment["SPARK_LOCAL_IP"] == scheduler.name
    master = json.loads(scheduler.environment["AIRFLOW_CONN_SPARK_DEFAULT"])["host"]
    assert master == worker.command[-1]
    inside = spark_home().relative_to(HOME) if spark_home().is_relative_to(HOME) else spark_home()
    assert worker.environment["SPARK_HOME"] == f"{IMAGE_HOME}/{inside}"


def test_dockerfile_copies_match_dockerignore() -> None:
    copied = [w for line in re.findall(r"^COPY (.+) \S+$", DOCKERFILE, flags=re.MULTILINE) for w in line.split()]
    reaches = set(re.findall(r"^!(\S+)$", (HOME / ".dockerignore").read_text(), flags=re.MULTILINE))
    assert copied and all((HOME / source).exists() for source in copied)
    assert {source.split("/")[0] for source in copied} == reaches


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the Dockerfile copies, and nothing else."""
    folder = tmp_path_factory.mktemp("image")
    for sources, target in re.findall(r"^COPY ((?:\S+ )+)(\S+)$", DOCKERFILE.replace("\\\n", " "), re.MULTILINE):
        for source in map(HOME.joinpath, sources.split()):
            place = folder / target
            if source.is_dir():
                shutil.copytree(source, place, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                place.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, place)
    return folder


ENTRIES = {
    "spark": [
        "kafka_hindsight.cli.main",
        "kafka_hindsight.cli.is_recorded",
        "spark_jobs.spark_run",
        "expectations.serving",
        *(f"kafka_hindsight.steps.{step}" for step in BY_NAME),
        *(s.command[s.command.index("-m") + 1] for s in OURS.values() if "-m" in s.command),
    ],
    "airflow": ["airflow.__main__", *sorted(path.stem for path in (HOME / "dags").glob("*.py"))],
}
"""What services start by their command lines, and what a task starts, by the environment that runs it."""

_IMPORT = """
import importlib, json, sys
from importlib.metadata import packages_distributions
for name in sys.argv[1:]:
    importlib.import_module(name)
files = {name: getattr(module, "__file__", None) or "" for name, module in list(sys.modules.items())}
owners = packages_distributions()
print(json.dumps({name: [file, owners.get(name.split(".")[0], [])] for name, file in files.items()}))
"""


@pytest.mark.parametrize("environment", ENTRIES)
def test_every_service_imports_what_image_holds(image: Path, environment: str, tmp_path: Path) -> None:
    """Out of the folders that the image copies, and the packages that it installs."""
    folders = [image, *((image / "dags", image / "plugins") if environment == "airflow" else ())]
    variables = {"PATH": os.environ["PATH"], "PYTHONPATH": ":".join(map(str, folders)), "AIRFLOW_HOME": str(tmp_path)}
    python = HOME / f".venv-{environment}" / "bin" / "python"
    done = subprocess.run(
        [python, "-c", _IMPORT, *ENTRIES[environment]], cwd=tmp_path, env=variables, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    lock = (HOME / "locks" / f"{environment}.txt").read_text(encoding="utf-8")
    locked = {name.replace("-", "_") for name in re.findall(r"^([a-z0-9._-]+)==", lock, re.MULTILINE)}
    loaded = json.loads(done.stdout.splitlines()[-1])
    ours = {file for file, _ in loaded.values() if file.startswith(str(HOME)) and "site-packages" not in file}
    assert not ours and f"{image}/kafka_hindsight/__init__.py" in {file for file, _ in loaded.values()}
    packages = {name: owners for name, (file, owners) in loaded.items() if "site-packages" in file and owners}

    def is_locked(owners: list[str]) -> bool:
        return any(owner.lower().replace("-", "_").replace(".", "_") in locked for owner in owners)

    assert {name: owners for name, owners in packages.items() if not is_locked(owners)} == {}


def files_imported_by(*paths: Path) -> set[Path]:
    """The files, and those of ours that they import when they are loaded."""
    files: set[Path] = set()
    coming = [*paths]
    while coming:
        path = coming.pop()
        files.add(path)
        lines = re.findall(
            r"^from ((?:lab|setup|kafka_hindsight|spark_jobs)[\w.]*) import (.+)$", path.read_text(), re.MULTILINE
        )
        names = [f"{module}.{name.strip()}" for module, names in lines for name in names.split(",")]
        modules = [HOME / f"{name.replace('.', '/')}.py" for each in names for name in (each, each.rpartition(".")[0])]
        coming += [module for module in modules if module.exists() and module not in files]
    return files


def test_first_image_layer_has_all_imported_files() -> None:
    heavy = DOCKERFILE[DOCKERFILE.index("COPY locks") : DOCKERFILE.index("COPY samples")]
    assert set(re.search(r"--only ([\w ]+)", heavy)[1].split()) < {p.name for p in build.PARTS}  # type: ignore[index]
    needed = files_imported_by(HOME / "setup" / "build.py", HOME / "lab" / "drill" / "jars.py")
    needed.add(HOME / "kafka_hindsight" / "start" / "launch.py")
    assert len(needed) > 5
    assert [path for path in needed if str(path.relative_to(HOME)) not in heavy] == []


@pytest.fixture
def page() -> Iterator[str]:
    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/well" else 503)
            self.end_headers()
            self.wfile.write(b'{"scheduler": {"status": "healthy"}, "triggerer": null}')

        def log_message(self, *_: object) -> None: ...

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize(
    ("path", "needed", "code"),
    [
        ("/well", "scheduler.status=healthy", 0),
        ("/well", "scheduler.status=unhealthy", 1),
        ("/well", "triggerer.status=healthy", 1),
        ("/ill", "scheduler.status=healthy", 1),
    ],
)
def test_health_check_needs_exact_value_and_status_200(page: str, path: str, needed: str, code: int) -> None:
    check = [sys.executable, str(HOME / "docker" / "healthy.py"), f"{page}{path}", needed]
    assert subprocess.run(check, capture_output=True).returncode == code
