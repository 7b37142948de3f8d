#!/bin/sh
# A broker that is a controller too: broker.sh DATA LOGS name=value ...
# What is given stands above broker.properties. Storage is formatted before the first start.
# Clients and brokers log in with HINDSIGHT_KAFKA_PASSWORD. It lies in the configuration; Java does not inherit it.
set -eu
data=$1 logs=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
config=$data/broker.properties
jars="$here/../.kafka/${KAFKA_VERSION:?}/*"
login="org.apache.kafka.common.security.plain.PlainLoginModule required username=\"hindsight\" \
password=\"${HINDSIGHT_KAFKA_PASSWORD:?}\" user_hindsight=\"$HINDSIGHT_KAFKA_PASSWORD\";"
unset HINDSIGHT_KAFKA_PASSWORD

mkdir -p "$data" "$logs"
rm -f "$config"
(umask 077; cat "$here/broker.properties" > "$config")
printf '%s\n' "log.dirs=$data/log" "$@" \
    "listener.name.sasl_plaintext.plain.sasl.jaas.config=$login" \
    "listener.name.controller.plain.sasl.jaas.config=$login" >> "$config"
java -Xmx128m -XX:+UseSerialGC -cp "$jars" kafka.tools.StorageTool format \
    --ignore-formatted --cluster-id "${KAFKA_CLUSTER_ID:?}" --config "$config"
exec java "-Xmx${KAFKA_HEAP:?}" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:+ExitOnOutOfMemoryError \
    "-Dkafka.logs.dir=$logs" "-Dlog4j2.configurationFile=$here/broker-log4j2.properties" \
    -cp "$jars" kafka.Kafka "$config"
