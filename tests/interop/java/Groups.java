/* SPDX-License-Identifier: MIT */

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** What fills the broker's own topics: groups of all protocols but streams, offsets, transactions, metadata. */
final class Groups {
    /** Not one of Topics: nobody else writes to it or reads it. */
    private static final String TOPIC = "grouped";
    private static final TopicPartition FIRST = new TopicPartition(TOPIC, 0);

    private final String bootstrap;

    Groups(String bootstrap) {
        this.bootstrap = bootstrap;
    }

    private Properties properties() {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", bootstrap);
        return properties;
    }

    /** Offsets by hand, one deleted again; a user; a config that is set and taken back. */
    private void administer() throws Exception {
        ConfigResource topic = new ConfigResource(ConfigResource.Type.TOPIC, TOPIC);
        ConfigEntry retention = new ConfigEntry("retention.bytes", "123456789");
        try (Admin admin = Admin.create(properties())) {
            admin.createTopics(List.of(new NewTopic(TOPIC, 2, (short) 1))).all().get();
            admin.alterConsumerGroupOffsets("simple", Map.of(
                FIRST, new OffsetAndMetadata(5, Optional.of(0), "by hand"),
                new TopicPartition(TOPIC, 1), new OffsetAndMetadata(1))).all().get();
            admin.deleteConsumerGroupOffsets(
                "simple", Set.of(new TopicPartition(TOPIC, 1))).all().get();
            admin.alterUserScramCredentials(List.of(new UserScramCredentialUpsertion(
                "alice", new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096), "secret")))
                .all().get();
            for (AlterConfigOp.OpType type :
                 List.of(AlterConfigOp.OpType.SET, AlterConfigOp.OpType.DELETE)) {
                admin.incrementalAlterConfigs(
                    Map.of(topic, List.of(new AlterConfigOp(retention, type)))).all().get();
            }
            admin.createPartitions(Map.of(TOPIC, NewPartitions.increaseTo(3))).all().get();
        }
    }

    /** A member joins, reads, commits, and leaves. */
    private void consume(String group, String protocol) {
        Properties properties = properties();
        properties.put("group.id", group);
        properties.put("group.protocol", protocol);
        properties.put("auto.offset.reset", "earliest");
        properties.put("enable.auto.commit", "false");
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                 properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
            consumer.subscribe(List.of(TOPIC));
            while (consumer.poll(Duration.ofMillis(200)).isEmpty()) {
                if (System.nanoTime() > deadline) {
                    throw new IllegalStateException(group + " got no record");
                }
            }
            consumer.commitSync();
        }
    }

    /** A member of a share group takes records and acknowledges them, as the next poll does. */
    private void share(String group) throws Exception {
        Properties properties = properties();
        ConfigResource resource = new ConfigResource(ConfigResource.Type.GROUP, group);
        long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        try (Admin admin = Admin.create(properties)) {
            admin.incrementalAlterConfigs(Map.of(resource, List.of(new AlterConfigOp(
                new ConfigEntry("share.auto.offset.reset", "earliest"), AlterConfigOp.OpType.SET))))
                .all().get();
        }
        properties.put("group.id", group);
        try (KafkaShareConsumer<byte[], byte[]> consumer = new KafkaShareConsumer<>(
                 properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(List.of(TOPIC));
            while (consumer.poll(Duration.ofMillis(200)).isEmpty()) {
                if (System.nanoTime() > deadline) {
                    throw new IllegalStateException(group + " got no record");
                }
            }
            consumer.commitSync();
        }
    }

    /** Offsets in a transaction: one commits, one aborts. */
    private void transactions() {
        Properties properties = properties();
        properties.put("transactional.id", "groups");
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                 properties, new ByteArraySerializer(), new ByteArraySerializer())) {
            producer.initTransactions();
            for (int i = 0; i < 2; i++) {
                producer.beginTransaction();
                producer.send(new ProducerRecord<>(TOPIC, 0, 1700000000000L, null,
                                                   Sender.bytes("with offsets")));
                producer.sendOffsetsToTransaction(Map.of(FIRST, new OffsetAndMetadata(10 + i)),
                                                  new ConsumerGroupMetadata("exactly-once"));
                if (i == 0) {
                    producer.commitTransaction();
                } else {
                    producer.abortTransaction();
                }
            }
        }
    }

    void run() throws Exception {
        administer();
        transactions();
        consume("classic", "classic");
        consume("modern", "consumer");
        share("shared");
    }
}
