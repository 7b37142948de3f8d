#!/bin/sh
# A broker that is a controller too: broker.sh DATA LOGS name=value ...
# What is given stands above broker.properties. Storage is formatted before the first start.
set -eu
data=$1 logs=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
config=$data/broker.properties
jars="$here/../.kafka/${KAFKA_VERSION:?}/*"

mkdir -p "$data" "$logs"
{ cat "$here/broker.properties"; printf '%s\n' "log.dirs=$data/log" "$@"; } > "$config"
java -Xmx128m -XX:+UseSerialGC -cp "$jars" kafka.tools.StorageTool format \
    --ignore-formatted --cluster-id "${KAFKA_CLUSTER_ID:?}" --config "$config"
exec java "-Xmx${KAFKA_HEAP:?}" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:+ExitOnOutOfMemoryError \
    "-Dkafka.logs.dir=$logs" "-Dlog4j2.configurationFile=$here/broker-log4j2.properties" \
    -cp "$jars" kafka.Kafka "$config"
