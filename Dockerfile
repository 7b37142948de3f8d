# Both environments, Delta's jars and the project in one image; `make up` builds it.
FROM python:3.11-slim-bookworm

RUN apt-get update \
    && apt-get install --yes --no-install-recommends openjdk-17-jre-headless procps \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /opt/hindsight
COPY locks locks
COPY setup setup
COPY samples samples
COPY spark_jobs spark_jobs
RUN python setup/build.py && rm -rf .airflow

COPY dags dags
COPY plugins plugins
COPY expectations expectations
COPY queries queries

ENV AIRFLOW_HOME=/var/airflow \
    AIRFLOW__CORE__DAGS_FOLDER=/opt/hindsight/dags \
    AIRFLOW__CORE__PLUGINS_FOLDER=/opt/hindsight/plugins \
    AIRFLOW__CORE__LOAD_EXAMPLES=False \
    PATH=/opt/hindsight/.venv-airflow/bin:$PATH \
    PYTHONPATH=/opt/hindsight \
    PYTHONDONTWRITEBYTECODE=1 \
    TZ=UTC
RUN useradd --uid 1000 --gid 0 --home-dir /var/airflow hindsight \
    && mkdir -p /var/airflow /lake && chmod -R g+rwX,o+rwX /var/airflow /lake && chown -R 1000:0 /var/airflow /lake
USER 1000:0
ENTRYPOINT ["airflow"]
