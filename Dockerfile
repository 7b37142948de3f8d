# One image for everything of ours: both environments, Delta's and Kafka's jars, the project. `make up` builds it, and
# nothing is fetched when it starts.
FROM python:3.11.15-slim-bookworm@sha256:d29f48a31a8b408ed19272ca1e7b10ebae13b240a27e862d3d4217c528e2e0c3

RUN apt-get update \
    && apt-get install --yes --no-install-recommends openjdk-17-jre-headless procps \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /opt/hindsight

# What is large and changes with the locks alone.
COPY locks locks
COPY setup/build.py setup/needs.py setup/
COPY spark_jobs/__init__.py spark_jobs/
COPY spark_jobs/shared/__init__.py spark_jobs/shared/config.py spark_jobs/shared/exits.py spark_jobs/shared/java.py \
    spark_jobs/shared/launch.py spark_jobs/shared/maven.py spark_jobs/shared/
COPY drill/__init__.py drill/jars.py drill/
RUN UV_COMPILE_BYTECODE=1 python setup/build.py --only uv airflow spark jars \
    && .venv-spark/bin/python -m drill.jars \
    && rm -rf .kafka/cache .build/ivy /root/.cache

COPY samples samples
COPY setup setup
COPY spark_jobs spark_jobs
RUN python setup/build.py

COPY hindsight ./
COPY dags dags
COPY docker docker
COPY drill drill
COPY expectations expectations
COPY plugins plugins
COPY queries queries

ENV AIRFLOW_HOME=/var/airflow \
    AIRFLOW__CORE__DAGS_FOLDER=/opt/hindsight/dags \
    AIRFLOW__CORE__PLUGINS_FOLDER=/opt/hindsight/plugins \
    AIRFLOW__CORE__LOAD_EXAMPLES=False \
    PATH=/opt/hindsight/.venv-airflow/bin:/opt/hindsight:$PATH \
    PYTHONPATH=/opt/hindsight \
    PYTHONDONTWRITEBYTECODE=1 \
    TZ=UTC
ARG HINDSIGHT_UID=1000
RUN python -m compileall -q dags drill expectations plugins spark_jobs \
    && useradd --uid "$HINDSIGHT_UID" --gid 0 --home-dir /var/airflow hindsight \
    && mkdir -p /input/logs /input/clients /input/truth /lake /var/airflow /var/kafka /var/spark \
    && chown -R hindsight:0 /input /lake /var/airflow /var/kafka /var/spark
USER hindsight:0
