"""A Java consumer's settings, subscription and close, as its own log tells them (Kafka 2.4-4.2)."""
# ruff: noqa: E501 - captured lines stay whole

from spark_jobs.knowledge.model import Pattern
from spark_jobs.knowledge.patterns.fragments import CONSUMER_HEAD, captured

_CONFIG_LOGGERS = (
    "org.apache.kafka.clients.consumer.ConsumerConfig",
    "org.apache.kafka.common.config.AbstractConfig",
)
_CONSUMER_LOGGERS = (
    "org.apache.kafka.clients.consumer.KafkaConsumer",
    "org.apache.kafka.clients.consumer.internals.LegacyKafkaConsumer",
    "org.apache.kafka.clients.consumer.internals.ClassicKafkaConsumer",
    "org.apache.kafka.clients.consumer.internals.AsyncKafkaConsumer",
)
_INFO_LOGGERS = ("org.apache.kafka.common.utils.AppInfoParser",)
_CLIENTS = "clients/src/main/java/org/apache/kafka/clients"

# Cut after its first settings.
_A_BROKER_CONFIG = "[2026-11-21 01:40:53,334] INFO KafkaConfig values: \n\tadd.partitions.to.txn.retry.backoff.max.ms = 100\n\tadd.partitions.to.txn.retry.backoff.ms = 20\n (org.apache.kafka.common.config.AbstractConfig)"
_A_VERSION = "[2026-11-21 01:40:54,144] INFO Kafka version: 4.1.2 (org.apache.kafka.common.utils.AppInfoParser)"

PATTERNS = (
    Pattern(
        pattern_id="client.configured",
        kind="client_configured",
        loggers=_CONFIG_LOGGERS,
        contains="ConsumerConfig values:",
        # One setting a line, in alphabetical order.
        regex=r"^ConsumerConfig values: ?\r?\n.*?\tclient\.id = (?P<client_id>[^\r\n]*)\r?\n.*?\tgroup\.id = (?:null|(?P<group_id>[^\r\n]*))\r?\n"
        r"(?:\tgroup\.instance\.id = (?:null|(?P<instance_id>[^\r\n]*))\r?\n)?(?:\tgroup\.protocol = (?P<protocol>\w+)\r?\n)?"
        r"(?:.*?\theartbeat\.interval\.ms = (?P<heartbeat_interval_ms>\d+)\r?\n)?"
        r".*?\tmax\.poll\.interval\.ms = (?P<rebalance_timeout_ms>\d+)\r?\n"
        r".*?\tpartition\.assignment\.strategy = \[?(?P<assignor>[^\r\n\]]*)\]?\r?\n"
        r".*?\tsession\.timeout\.ms = (?P<session_timeout_ms>\d+)\r?\n.*$",
        versions="2.4-4.2",
        source=f"{_CLIENTS}/consumer/ConsumerConfig.java; org.apache.kafka.common.config.AbstractConfig logAll",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:51:39,701] INFO ConsumerConfig values: \n\tallow.auto.create.topics = true\n\tauto.commit.interval.ms = 5000\n\tauto.offset.reset = earliest\n\tbootstrap.servers = [127.0.0.1:20401, 127.0.0.1:20402, 127.0.0.1:20403]\n\tcheck.crcs = true\n\tclient.dns.lookup = use_all_dns_ips\n\tclient.id = mobile-static-15-b\n\tclient.rack = \n\tconnections.max.idle.ms = 540000\n\tdefault.api.timeout.ms = 60000\n\tenable.auto.commit = true\n\texclude.internal.topics = true\n\tfetch.max.bytes = 52428800\n\tfetch.max.wait.ms = 500\n\tfetch.min.bytes = 1\n\tgroup.id = mobile-static-15\n\tgroup.instance.id = i2\n\theartbeat.interval.ms = 2000\n\tinterceptor.classes = []\n\tinternal.leave.group.on.close = true\n\tinternal.throw.on.fetch.stable.offset.unsupported = false\n\tisolation.level = read_uncommitted\n\tkey.deserializer = class org.apache.kafka.common.serialization.ByteArrayDeserializer\n\tmax.partition.fetch.bytes = 1048576\n\tmax.poll.interval.ms = 300000\n\tmax.poll.records = 500\n\tmetadata.max.age.ms = 300000\n\tmetric.reporters = []\n\tmetrics.num.samples = 2\n\tmetrics.recording.level = INFO\n\tmetrics.sample.window.ms = 30000\n\tpartition.assignment.strategy = [class org.apache.kafka.clients.consumer.RangeAssignor]\n\treceive.buffer.bytes = 65536\n\treconnect.backoff.max.ms = 1000\n\treconnect.backoff.ms = 50\n\trequest.timeout.ms = 30000\n\tretry.backoff.ms = 100\n\tsasl.client.callback.handler.class = null\n\tsasl.jaas.config = null\n\tsasl.kerberos.kinit.cmd = /usr/bin/kinit\n\tsasl.kerberos.min.time.before.relogin = 60000\n\tsasl.kerberos.service.name = null\n\tsasl.kerberos.ticket.renew.jitter = 0.05\n\tsasl.kerberos.ticket.renew.window.factor = 0.8\n\tsasl.login.callback.handler.class = null\n\tsasl.login.class = null\n\tsasl.login.refresh.buffer.seconds = 300\n\tsasl.login.refresh.min.period.seconds = 60\n\tsasl.login.refresh.window.factor = 0.8\n\tsasl.login.refresh.window.jitter = 0.05\n\tsasl.mechanism = GSSAPI\n\tsecurity.protocol = PLAINTEXT\n\tsecurity.providers = null\n\tsend.buffer.bytes = 131072\n\tsession.timeout.ms = 15000\n\tsocket.connection.setup.timeout.max.ms = 30000\n\tsocket.connection.setup.timeout.ms = 10000\n\tssl.cipher.suites = null\n\tssl.enabled.protocols = [TLSv1.2, TLSv1.3]\n\tssl.endpoint.identification.algorithm = https\n\tssl.engine.factory.class = null\n\tssl.key.password = null\n\tssl.keymanager.algorithm = SunX509\n\tssl.keystore.certificate.chain = null\n\tssl.keystore.key = null\n\tssl.keystore.location = null\n\tssl.keystore.password = null\n\tssl.keystore.type = JKS\n\tssl.protocol = TLSv1.3\n\tssl.provider = null\n\tssl.secure.random.implementation = null\n\tssl.trustmanager.algorithm = PKIX\n\tssl.truststore.certificates = null\n\tssl.truststore.location = null\n\tssl.truststore.password = null\n\tssl.truststore.type = JKS\n\tvalue.deserializer = class org.apache.kafka.common.serialization.ByteArrayDeserializer\n (org.apache.kafka.clients.consumer.ConsumerConfig)",
                client_id="mobile-static-15-b",
                group_id="mobile-static-15",
                instance_id="i2",
                heartbeat_interval_ms="2000",
                rebalance_timeout_ms="300000",
                assignor="class org.apache.kafka.clients.consumer.RangeAssignor",
                session_timeout_ms="15000",
            ),
            captured(
                "3.9",
                "[2026-11-21 01:59:37,272] INFO ConsumerConfig values: \n\tallow.auto.create.topics = true\n\tauto.commit.interval.ms = 5000\n\tauto.include.jmx.reporter = true\n\tauto.offset.reset = earliest\n\tbootstrap.servers = [127.0.0.1:24801, 127.0.0.1:24802, 127.0.0.1:24803]\n\tcheck.crcs = true\n\tclient.dns.lookup = use_all_dns_ips\n\tclient.id = ads-loader-13-a\n\tclient.rack = \n\tconnections.max.idle.ms = 540000\n\tdefault.api.timeout.ms = 60000\n\tenable.auto.commit = true\n\tenable.metrics.push = true\n\texclude.internal.topics = true\n\tfetch.max.bytes = 52428800\n\tfetch.max.wait.ms = 500\n\tfetch.min.bytes = 1\n\tgroup.id = ads-loader-13\n\tgroup.instance.id = null\n\tgroup.protocol = classic\n\tgroup.remote.assignor = null\n\theartbeat.interval.ms = 2000\n\tinterceptor.classes = []\n\tinternal.leave.group.on.close = true\n\tinternal.throw.on.fetch.stable.offset.unsupported = false\n\tisolation.level = read_uncommitted\n\tkey.deserializer = class org.apache.kafka.common.serialization.ByteArrayDeserializer\n\tmax.partition.fetch.bytes = 1048576\n\tmax.poll.interval.ms = 9000\n\tmax.poll.records = 500\n\tmetadata.max.age.ms = 300000\n\tmetadata.recovery.strategy = none\n\tmetric.reporters = []\n\tmetrics.num.samples = 2\n\tmetrics.recording.level = INFO\n\tmetrics.sample.window.ms = 30000\n\tpartition.assignment.strategy = [class org.apache.kafka.clients.consumer.RangeAssignor, class org.apache.kafka.clients.consumer.CooperativeStickyAssignor]\n\treceive.buffer.bytes = 65536\n\treconnect.backoff.max.ms = 1000\n\treconnect.backoff.ms = 50\n\trequest.timeout.ms = 30000\n\tretry.backoff.max.ms = 1000\n\tretry.backoff.ms = 100\n\tsasl.client.callback.handler.class = null\n\tsasl.jaas.config = null\n\tsasl.kerberos.kinit.cmd = /usr/bin/kinit\n\tsasl.kerberos.min.time.before.relogin = 60000\n\tsasl.kerberos.service.name = null\n\tsasl.kerberos.ticket.renew.jitter = 0.05\n\tsasl.kerberos.ticket.renew.window.factor = 0.8\n\tsasl.login.callback.handler.class = null\n\tsasl.login.class = null\n\tsasl.login.connect.timeout.ms = null\n\tsasl.login.read.timeout.ms = null\n\tsasl.login.refresh.buffer.seconds = 300\n\tsasl.login.refresh.min.period.seconds = 60\n\tsasl.login.refresh.window.factor = 0.8\n\tsasl.login.refresh.window.jitter = 0.05\n\tsasl.login.retry.backoff.max.ms = 10000\n\tsasl.login.retry.backoff.ms = 100\n\tsasl.mechanism = GSSAPI\n\tsasl.oauthbearer.clock.skew.seconds = 30\n\tsasl.oauthbearer.expected.audience = null\n\tsasl.oauthbearer.expected.issuer = null\n\tsasl.oauthbearer.header.urlencode = false\n\tsasl.oauthbearer.jwks.endpoint.refresh.ms = 3600000\n\tsasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms = 10000\n\tsasl.oauthbearer.jwks.endpoint.retry.backoff.ms = 100\n\tsasl.oauthbearer.jwks.endpoint.url = null\n\tsasl.oauthbearer.scope.claim.name = scope\n\tsasl.oauthbearer.sub.claim.name = sub\n\tsasl.oauthbearer.token.endpoint.url = null\n\tsecurity.protocol = PLAINTEXT\n\tsecurity.providers = null\n\tsend.buffer.bytes = 131072\n\tsession.timeout.ms = 6000\n\tsocket.connection.setup.timeout.max.ms = 30000\n\tsocket.connection.setup.timeout.ms = 10000\n\tssl.cipher.suites = null\n\tssl.enabled.protocols = [TLSv1.2, TLSv1.3]\n\tssl.endpoint.identification.algorithm = https\n\tssl.engine.factory.class = null\n\tssl.key.password = null\n\tssl.keymanager.algorithm = SunX509\n\tssl.keystore.certificate.chain = null\n\tssl.keystore.key = null\n\tssl.keystore.location = null\n\tssl.keystore.password = null\n\tssl.keystore.type = JKS\n\tssl.protocol = TLSv1.3\n\tssl.provider = null\n\tssl.secure.random.implementation = null\n\tssl.trustmanager.algorithm = PKIX\n\tssl.truststore.certificates = null\n\tssl.truststore.location = null\n\tssl.truststore.password = null\n\tssl.truststore.type = JKS\n\tvalue.deserializer = class org.apache.kafka.common.serialization.ByteArrayDeserializer\n (org.apache.kafka.clients.consumer.ConsumerConfig)",
                client_id="ads-loader-13-a",
                group_id="ads-loader-13",
                protocol="classic",
                heartbeat_interval_ms="2000",
                rebalance_timeout_ms="9000",
                assignor="class org.apache.kafka.clients.consumer.RangeAssignor, class org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
                session_timeout_ms="6000",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:46:04,717] INFO ConsumerConfig values: \n\tallow.auto.create.topics = true\n\tauto.commit.interval.ms = 5000\n\tauto.offset.reset = earliest\n\tbootstrap.servers = [127.0.0.1:23601, 127.0.0.1:23602, 127.0.0.1:23603]\n\tcheck.crcs = true\n\tclient.dns.lookup = use_all_dns_ips\n\tclient.id = email-next-11-a\n\tclient.rack = \n\tconnections.max.idle.ms = 540000\n\tdefault.api.timeout.ms = 60000\n\tenable.auto.commit = true\n\tenable.metrics.push = true\n\texclude.internal.topics = true\n\tfetch.max.bytes = 52428800\n\tfetch.max.wait.ms = 500\n\tfetch.min.bytes = 1\n\tgroup.id = email-next-11\n\tgroup.instance.id = null\n\tgroup.protocol = consumer\n\tgroup.remote.assignor = null\n\theartbeat.interval.ms = 3000\n\tinterceptor.classes = []\n\tinternal.leave.group.on.close = true\n\tinternal.throw.on.fetch.stable.offset.unsupported = false\n\tisolation.level = read_uncommitted\n\tkey.deserializer = class org.apache.kafka.common.serialization.ByteArrayDeserializer\n\tmax.partition.fetch.bytes = 1048576\n\tmax.poll.interval.ms = 300000\n\tmax.poll.records = 500\n\tmetadata.max.age.ms = 300000\n\tmetadata.recovery.rebootstrap.trigger.ms = 300000\n\tmetadata.recovery.strategy = rebootstrap\n\tmetric.reporters = [org.apache.kafka.common.metrics.JmxReporter]\n\tmetrics.num.samples = 2\n\tmetrics.recording.level = INFO\n\tmetrics.sample.window.ms = 30000\n\tpartition.assignment.strategy = [class org.apache.kafka.clients.consumer.RangeAssignor, class org.apache.kafka.clients.consumer.CooperativeStickyAssignor]\n\treceive.buffer.bytes = 65536\n\treconnect.backoff.max.ms = 1000\n\treconnect.backoff.ms = 50\n\trequest.timeout.ms = 30000\n\tretry.backoff.max.ms = 1000\n\tretry.backoff.ms = 100\n\tsasl.client.callback.handler.class = null\n\tsasl.jaas.config = null\n\tsasl.kerberos.kinit.cmd = /usr/bin/kinit\n\tsasl.kerberos.min.time.before.relogin = 60000\n\tsasl.kerberos.service.name = null\n\tsasl.kerberos.ticket.renew.jitter = 0.05\n\tsasl.kerberos.ticket.renew.window.factor = 0.8\n\tsasl.login.callback.handler.class = null\n\tsasl.login.class = null\n\tsasl.login.connect.timeout.ms = null\n\tsasl.login.read.timeout.ms = null\n\tsasl.login.refresh.buffer.seconds = 300\n\tsasl.login.refresh.min.period.seconds = 60\n\tsasl.login.refresh.window.factor = 0.8\n\tsasl.login.refresh.window.jitter = 0.05\n\tsasl.login.retry.backoff.max.ms = 10000\n\tsasl.login.retry.backoff.ms = 100\n\tsasl.mechanism = GSSAPI\n\tsasl.oauthbearer.assertion.algorithm = RS256\n\tsasl.oauthbearer.assertion.claim.aud = null\n\tsasl.oauthbearer.assertion.claim.exp.seconds = 300\n\tsasl.oauthbearer.assertion.claim.iss = null\n\tsasl.oauthbearer.assertion.claim.jti.include = false\n\tsasl.oauthbearer.assertion.claim.nbf.seconds = 60\n\tsasl.oauthbearer.assertion.claim.sub = null\n\tsasl.oauthbearer.assertion.file = null\n\tsasl.oauthbearer.assertion.private.key.file = null\n\tsasl.oauthbearer.assertion.private.key.passphrase = null\n\tsasl.oauthbearer.assertion.template.file = null\n\tsasl.oauthbearer.client.credentials.client.id = null\n\tsasl.oauthbearer.client.credentials.client.secret = null\n\tsasl.oauthbearer.clock.skew.seconds = 30\n\tsasl.oauthbearer.expected.audience = null\n\tsasl.oauthbearer.expected.issuer = null\n\tsasl.oauthbearer.header.urlencode = false\n\tsasl.oauthbearer.jwks.endpoint.refresh.ms = 3600000\n\tsasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms = 10000\n\tsasl.oauthbearer.jwks.endpoint.retry.backoff.ms = 100\n\tsasl.oauthbearer.jwks.endpoint.url = null\n\tsasl.oauthbearer.jwt.retriever.class = class org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever\n\tsasl.oauthbearer.jwt.validator.class = class org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator\n\tsasl.oauthbearer.scope = null\n\tsasl.oauthbearer.scope.claim.name = scope\n\tsasl.oauthbearer.sub.claim.name = sub\n\tsasl.oauthbearer.token.endpoint.url = null\n\tsecurity.protocol = PLAINTEXT\n\tsecurity.providers = null\n\tsend.buffer.bytes = 131072\n\tsession.timeout.ms = 45000\n\tshare.acknowledgement.mode = implicit\n\tsocket.connection.setup.timeout.max.ms = 30000\n\tsocket.connection.setup.timeout.ms = 10000\n\tssl.cipher.suites = null\n\tssl.enabled.protocols = [TLSv1.2, TLSv1.3]\n\tssl.endpoint.identification.algorithm = https\n\tssl.engine.factory.class = null\n\tssl.key.password = null\n\tssl.keymanager.algorithm = SunX509\n\tssl.keystore.certificate.chain = null\n\tssl.keystore.key = null\n\tssl.keystore.location = null\n\tssl.keystore.password = null\n\tssl.keystore.type = JKS\n\tssl.protocol = TLSv1.3\n\tssl.provider = null\n\tssl.secure.random.implementation = null\n\tssl.trustmanager.algorithm = PKIX\n\tssl.truststore.certificates = null\n\tssl.truststore.location = null\n\tssl.truststore.password = null\n\tssl.truststore.type = JKS\n\tvalue.deserializer = class org.apache.kafka.common.serialization.ByteArrayDeserializer\n (org.apache.kafka.common.config.AbstractConfig)",
                client_id="email-next-11-a",
                group_id="email-next-11",
                protocol="consumer",
                heartbeat_interval_ms="3000",
                rebalance_timeout_ms="300000",
                assignor="class org.apache.kafka.clients.consumer.RangeAssignor, class org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
                session_timeout_ms="45000",
            ),
        ),
        counter_samples=(_A_BROKER_CONFIG,),
    ),
    Pattern(
        pattern_id="client.subscribed",
        kind="client_subscribed",
        loggers=_CONSUMER_LOGGERS,
        contains="Subscribed to ",
        regex=CONSUMER_HEAD + r"Subscribed to (?:topic\(s\): |pattern: '|.*pattern[^']*')(?P<detail>.*?)'?$",
        versions="2.4-4.2",
        source=f"{_CLIENTS}/consumer/internals/ClassicKafkaConsumer.java subscribe",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:46:33,192] INFO [Consumer clientId=geo-sub-4-b, groupId=geo-sub-4] Subscribed to topic(s): shop-events, geo-sub-4-t (org.apache.kafka.clients.consumer.KafkaConsumer)",
                client_id="geo-sub-4-b",
                group_id="geo-sub-4",
                detail="shop-events, geo-sub-4-t",
            ),
            captured(
                "3.9",
                "[2026-11-21 01:55:34,647] INFO [Consumer clientId=audit-sub-5-b, groupId=audit-sub-5] Subscribed to topic(s): shop-events, audit-sub-5-t (org.apache.kafka.clients.consumer.internals.ClassicKafkaConsumer)",
                client_id="audit-sub-5-b",
                group_id="audit-sub-5",
                detail="shop-events, audit-sub-5-t",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:48:13,886] INFO [Consumer clientId=ads-rx-13-a, groupId=ads-rx-13] Subscribed to pattern: 'ads-rx-13-x.*' (org.apache.kafka.clients.consumer.internals.ClassicKafkaConsumer)",
                client_id="ads-rx-13-a",
                group_id="ads-rx-13",
                detail="ads-rx-13-x.*",
            ),
        ),
        counter_samples=(
            "[2026-11-21 01:47:46,040] INFO [Consumer clientId=email-next-11-a, groupId=email-next-11] Completed leaving the group (org.apache.kafka.clients.consumer.internals.AsyncKafkaConsumer)",
        ),
    ),
    Pattern(
        pattern_id="client.closed",
        kind="client_closed",
        loggers=_INFO_LOGGERS,
        contains="App info kafka.consumer for ",
        regex=r"^App info kafka\.consumer for (?P<client_id>.{1,255}) unregistered$",
        versions="2.5-4.2",
        source="clients/src/main/java/org/apache/kafka/common/utils/AppInfoParser.java unregisterAppInfo",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:50:10,965] INFO App info kafka.consumer for audit-loader-10-a unregistered (org.apache.kafka.common.utils.AppInfoParser)",
                client_id="audit-loader-10-a",
            ),
            captured(
                "3.9",
                "[2026-11-21 02:00:05,455] INFO App info kafka.consumer for ads-loader-13-a unregistered (org.apache.kafka.common.utils.AppInfoParser)",
                client_id="ads-loader-13-a",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:41:23,712] INFO App info kafka.consumer for ads-etl-1-a unregistered (org.apache.kafka.common.utils.AppInfoParser)",
                client_id="ads-etl-1-a",
            ),
        ),
        counter_samples=(
            _A_VERSION,
            "[2026-11-21 01:51:10,199] INFO App info kafka.server for 1 unregistered (org.apache.kafka.common.utils.AppInfoParser)",
        ),
    ),
    Pattern(
        pattern_id="client.left_and_closed",
        kind="client_closed",
        loggers=_CONSUMER_LOGGERS,
        contains="Completed leaving the group",
        regex=CONSUMER_HEAD + r"Completed leaving the group$",
        versions="4.0-4.2",
        source=f"{_CLIENTS}/consumer/internals/AsyncKafkaConsumer.java leaveGroupOnClose",
        samples=(
            captured(
                "4.1",
                "[2026-11-21 01:47:46,040] INFO [Consumer clientId=email-next-11-a, groupId=email-next-11] Completed leaving the group (org.apache.kafka.clients.consumer.internals.AsyncKafkaConsumer)",
                client_id="email-next-11-a",
                group_id="email-next-11",
            ),
        ),
        counter_samples=(
            "[2026-11-21 01:46:04,850] INFO [Consumer clientId=email-next-11-a, groupId=email-next-11] Subscribed to topic(s): shop-events (org.apache.kafka.clients.consumer.internals.AsyncKafkaConsumer)",
        ),
    ),
)
