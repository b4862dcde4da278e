/* SPDX-License-Identifier: MIT */

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** A producer that makes one batch a partition of what is sent between two calls of batch(). */
final class Sender implements AutoCloseable {
    private static final int LARGEST_BATCH = 1 << 20;

    private final KafkaProducer<byte[], byte[]> producer;
    private final List<Future<RecordMetadata>> sent = new ArrayList<>();
    /** What the next record without a timestamp of its own gets; goes up by one a record. */
    private long clock;

    /** Settings in pairs. */
    Sender(String bootstrap, long clock, String... settings) {
        Map<String, Object> configs = new HashMap<>();
        configs.put("bootstrap.servers", bootstrap);
        configs.put("linger.ms", 60000);
        configs.put("batch.size", LARGEST_BATCH);
        configs.put("key.serializer", ByteArraySerializer.class.getName());
        configs.put("value.serializer", ByteArraySerializer.class.getName());
        for (int i = 0; i < settings.length; i += 2) {
            configs.put(settings[i], settings[i + 1]);
        }
        this.producer = new KafkaProducer<>(configs);
        this.clock = clock;
    }

    static Sender transactional(String bootstrap, long clock, String id) {
        // What is left open stays open, however slow the machine is.
        Sender sender = new Sender(bootstrap, clock, "transactional.id", id,
                                   "transaction.timeout.ms", "600000");
        sender.producer.initTransactions();
        return sender;
    }

    static byte[] bytes(String text) {
        return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
    }

    /** A null partition leaves the choice to the producer. */
    void send(String topic, Integer partition, long timestamp, byte[] key, byte[] value,
              Header... headers) {
        sent.add(producer.send(
            new ProducerRecord<>(topic, partition, timestamp, key, value, List.of(headers))));
    }

    void send(String topic, Integer partition, String key, String value, Header... headers) {
        send(topic, partition, clock++, bytes(key), bytes(value), headers);
    }

    /** Send what has been collected, and wait until the broker has it. */
    void batch() throws ExecutionException, InterruptedException {
        producer.flush();
        for (Future<RecordMetadata> future : sent) {
            future.get();
        }
        sent.clear();
    }

    /** `count` records of one batch, keys and values numbered. */
    void batchOf(String topic, int partition, int count, String value)
        throws ExecutionException, InterruptedException {
        for (int i = 0; i < count; i++) {
            send(topic, partition, "k" + i, value + " " + i);
        }
        batch();
    }

    void pass(long milliseconds) {
        clock += milliseconds;
    }

    void begin() {
        producer.beginTransaction();
    }

    void commit() throws ExecutionException, InterruptedException {
        batch();
        producer.commitTransaction();
    }

    void abort() throws ExecutionException, InterruptedException {
        batch();
        producer.abortTransaction();
    }

    @Override
    public void close() {
        producer.close();
    }
}
