#!/bin/bash
# Stands in for the entry point of the official image: makes user and database on the first start.
set -e
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  initdb --username="$POSTGRES_USER" --pwfile=<(echo "$POSTGRES_PASSWORD") --auth-host=scram-sha-256 --auth-local=trust
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  pg_ctl -o "-c listen_addresses='' -k /tmp" --wait start
  createdb --host /tmp --username "$POSTGRES_USER" "$POSTGRES_DB"
  pg_ctl --mode fast --wait stop
fi
exec "$@" -c listen_addresses='*' -k /tmp
