#!/bin/sh
# Before Airflow starts: its tables, the pool in which Spark steps stand in line, and who may log in.
set -eu
airflow db migrate
airflow pools set "${HINDSIGHT_POOL:?}" 1 'one Spark step at a time'
umask 077
python -c 'import json, os; print(json.dumps({"admin": os.environ["HINDSIGHT_ADMIN_PASSWORD"]}))' \
    > "${AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE:?}"
