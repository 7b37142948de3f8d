# One image for everything of ours: both environments, Kafka's jars, the project. `make up` builds it, and
# nothing is fetched when it starts.
ARG HINDSIGHT_PYTHON_IMAGE=python:3.11.15-slim-bookworm@sha256:d29f48a31a8b408ed19272ca1e7b10ebae13b240a27e862d3d4217c528e2e0c3
FROM ${HINDSIGHT_PYTHON_IMAGE}

RUN apt-get update \
    && apt-get install --yes --no-install-recommends openjdk-17-jre-headless procps \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /opt/hindsight

# What is large and changes with the locks alone. Packages that both environments have are hard links of one cache, so both
# are filled in one layer. Tests of packages and the installer stay away.
COPY locks locks
COPY setup/build.py setup/maven.py setup/needs.py setup/
COPY kafka_hindsight/__init__.py kafka_hindsight/
COPY kafka_hindsight/shared/__init__.py kafka_hindsight/shared/exits.py kafka_hindsight/shared/parent.py \
    kafka_hindsight/shared/
COPY kafka_hindsight/settings/__init__.py kafka_hindsight/settings/config.py kafka_hindsight/settings/home.py \
    kafka_hindsight/settings/maintenance.py kafka_hindsight/settings/
COPY kafka_hindsight/start/__init__.py kafka_hindsight/start/java.py kafka_hindsight/start/launch.py \
    kafka_hindsight/start/python_child.py kafka_hindsight/start/temporary_folders.py kafka_hindsight/start/
COPY lab/__init__.py lab/
COPY lab/drill/__init__.py lab/drill/jars.py lab/drill/
RUN python setup/build.py --only uv spark jars \
    && { .venv-spark/bin/python -m lab.drill.jars & jars=$!; python setup/build.py --only airflow && wait $jars; } \
    && find .venv-airflow .venv-spark -type d -name tests -prune -exec rm -r {} + \
    && rm -rf .build/uv .build/ivy .kafka/cache /root/.cache

COPY samples samples
COPY setup setup
COPY kafka_hindsight kafka_hindsight
RUN python setup/build.py --only samples

COPY hindsight ./
COPY dags dags
COPY docker docker
COPY lab lab
COPY expectations expectations
COPY plugins plugins
COPY queries queries
COPY spark_jobs spark_jobs
COPY tools tools

ENV AIRFLOW_HOME=/opt/airflow \
    AIRFLOW__CORE__DAGS_FOLDER=/opt/hindsight/dags \
    AIRFLOW__CORE__PLUGINS_FOLDER=/opt/hindsight/plugins \
    AIRFLOW__CORE__LOAD_EXAMPLES=False \
    PATH=/opt/hindsight/.venv-airflow/bin:/opt/hindsight:$PATH \
    PYTHONPATH=/opt/hindsight \
    PYTHONDONTWRITEBYTECODE=1 \
    TZ=UTC
ARG HINDSIGHT_UID=1000
RUN python -m compileall -q dags expectations kafka_hindsight lab plugins spark_jobs tools \
    && useradd --uid "$HINDSIGHT_UID" --gid 0 --home-dir /opt/airflow hindsight \
    && mkdir -p /input/logs /input/clients /input/truth /lake /opt/airflow /var/lib/kafka /var/spark \
    && chown -R hindsight:0 /input /lake /opt/airflow /var/lib/kafka /var/spark
USER hindsight:0
