#!/bin/sh
# Starts a broker as the image apache/kafka does: Kafka's own KafkaDockerWrapper writes server.properties from KAFKA_*,
# and formats the storage of CLUSTER_ID before the first start. The jars are those of KAFKA_VERSION; logs go to LOG_DIR.
# Passwords lie in server.properties, which is private. The broker's environment has none.
set -eu
jars="$(cd "$(dirname "$0")" && pwd)/../.kafka/${KAFKA_VERSION:?}/*"
config=${KAFKA_LOG_DIRS:?}/../config

mkdir -p "$KAFKA_LOG_DIRS" "$config" "${LOG_DIR:?}"
rm -f "$config"/*
setup=$(umask 077 && java -Xmx128m -XX:+UseSerialGC -cp "$jars" kafka.docker.KafkaDockerWrapper setup \
    --default-configs-dir "$config" --mounted-configs-dir "$config" --final-configs-dir "$config" 2>&1) ||
    case $setup in *'already formatted'*) ;; *) printf '%s\n' "$setup" >&2 && exit 1 ;; esac
for secret in HINDSIGHT_KAFKA_PASSWORD $(env | sed -n 's/^\(KAFKA_[A-Z_]*_JAAS_CONFIG\)=.*/\1/p'); do
    unset "$secret"
done
# Options are words: they are split.
# shellcheck disable=SC2086
exec java ${KAFKA_HEAP_OPTS:?} ${KAFKA_JVM_PERFORMANCE_OPTS:-} ${KAFKA_OPTS:-} \
    "-Dkafka.logs.dir=$LOG_DIR" ${KAFKA_LOG4J_OPTS:?} -cp "$jars" kafka.Kafka "$config/server.properties"
