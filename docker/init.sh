#!/bin/sh
# Before Airflow starts: who may log in, the password of the stack's brokers, Airflow's tables, and the pool in which
# Spark steps stand in line. A cluster elsewhere does not know that password.
set -eu
umask 077
mkdir -p "${AIRFLOW_HOME:?}/config"
python -c 'import json, os; print(json.dumps({"admin": os.environ["HINDSIGHT_ADMIN_PASSWORD"]}))' \
    > "${AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE:?}"
: > "${KAFKA_CONFIG:?}"
[ -n "$ELSEWHERE" ] || printf '%s\n' security.protocol=SASL_PLAINTEXT sasl.mechanism=PLAIN sasl.username=hindsight \
    "sasl.password=${HINDSIGHT_KAFKA_PASSWORD:?}" > "$KAFKA_CONFIG"
unset HINDSIGHT_ADMIN_PASSWORD HINDSIGHT_KAFKA_PASSWORD
airflow db migrate
airflow pools set "${HINDSIGHT_POOL:?}" 1 'one Spark step at a time'
