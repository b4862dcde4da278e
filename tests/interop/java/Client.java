/* SPDX-License-Identifier: MIT */

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Stream;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Kafka's clients, driven from the shell.
 *
 * <pre>
 * Client DIRECTORY create             create the topics
 * Client DIRECTORY first|second|last|pour  send what Workload says
 * Client DIRECTORY groups             what fills the broker's own topics: Groups
 * Client DIRECTORY cleaned            wait until the cleaner has nothing left to do
 * Client DIRECTORY print OUT [TOPIC]  write every record that a consumer gets: OUT/TOPIC.records,
 *                                     read_committed: OUT/TOPIC.committed; also OUT/offsets and
 *                                     OUT/times, what offsets it tells for times
 * </pre>
 *
 * DIRECTORY is the broker's.
 */
public final class Client {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final Path directory;
    private final String bootstrap;

    private Client(Path directory) throws IOException {
        this.directory = directory;
        this.bootstrap = Files.readString(directory.resolve("bootstrap"));
    }

    private static Stream<String> topicNames() {
        return Topics.all().stream().map(NewTopic::name)
            .filter(name -> !name.equals(Topics.GONE));
    }

    private Admin admin() {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", bootstrap);
        return Admin.create(properties);
    }

    private void create() throws Exception {
        try (Admin admin = admin()) {
            admin.createTopics(Topics.all()).all().get();
        }
    }

    private void delete() throws Exception {
        try (Admin admin = admin()) {
            admin.deleteTopics(List.of(Topics.GONE)).all().get();
        }
    }

    /** A log start in the middle of a batch. */
    private void trim() throws Exception {
        try (Admin admin = admin()) {
            admin.deleteRecords(Map.of(new TopicPartition(Topics.TRIMMED, 0),
                                       RecordsToDelete.beforeOffset(23))).all().get();
        }
    }

    /** The base offset of the segment that the broker appends to. */
    private long activeSegment(String partition) throws IOException {
        try (Stream<Path> files = Files.list(directory.resolve("logs").resolve(partition))) {
            return files.map(file -> file.getFileName().toString())
                .filter(name -> name.endsWith(".log"))
                .mapToLong(name -> Long.parseLong(name.substring(0, name.indexOf('.'))))
                .max().orElseThrow();
        }
    }

    private boolean isCleaned() throws IOException {
        Path checkpoint = directory.resolve("logs/cleaner-offset-checkpoint");
        String cleaned = Topics.COMPACTED + " 0 " + activeSegment(Topics.COMPACTED + "-0");
        return Files.exists(checkpoint) && Files.readAllLines(checkpoint).contains(cleaned);
    }

    private void waitForCleaner() throws IOException, InterruptedException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!isCleaned()) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException("the cleaner did not come to an end");
            }
            Thread.sleep(100);
        }
    }

    private KafkaConsumer<byte[], byte[]> consumer(String isolation) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", bootstrap);
        properties.put("isolation.level", isolation);
        properties.put("fetch.max.wait.ms", 20);
        return new KafkaConsumer<>(properties, new ByteArrayDeserializer(),
                                   new ByteArrayDeserializer());
    }

    private static List<TopicPartition> partitionsOf(KafkaConsumer<?, ?> consumer, String topic) {
        return consumer.partitionsFor(topic).stream()
            .map(info -> new TopicPartition(topic, info.partition()))
            .sorted(Comparator.comparingInt(TopicPartition::partition))
            .toList();
    }

    private static boolean hasEnded(KafkaConsumer<?, ?> consumer, Map<TopicPartition, Long> ends) {
        return ends.entrySet().stream().allMatch(
            end -> consumer.position(end.getKey()) >= end.getValue());
    }

    /** Every record from the start to the end as it is now, by partition and offset. */
    private static List<ConsumerRecord<byte[], byte[]>> readAll(
        KafkaConsumer<byte[], byte[]> consumer, List<TopicPartition> partitions,
        Map<TopicPartition, Long> ends) {
        List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        consumer.assign(partitions);
        consumer.seekToBeginning(partitions);
        while (!hasEnded(consumer, ends)) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("the consumer did not come to the end: " + ends);
            }
            consumer.poll(Duration.ofMillis(200)).forEach(records::add);
        }
        records.sort(Comparator.<ConsumerRecord<byte[], byte[]>>comparingInt(
            ConsumerRecord::partition).thenComparingLong(ConsumerRecord::offset));
        return records;
    }

    private static void printTopic(KafkaConsumer<byte[], byte[]> consumer, String topic, Path out,
                                   String name, PrintWriter offsets) throws IOException {
        List<TopicPartition> partitions = partitionsOf(consumer, topic);
        Map<TopicPartition, Long> starts = consumer.beginningOffsets(partitions);
        Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
        Files.write(out.resolve(topic + "." + name),
                    readAll(consumer, partitions, ends).stream().map(Text::line).toList());
        for (TopicPartition partition : partitions) {
            offsets.println(topic + "|" + partition.partition() + "|" + name + "|"
                            + starts.get(partition) + "|" + ends.get(partition));
        }
    }

    /** TOPIC|PARTITION|timestamp|offset of the first record that is not older, -1 for none. */
    private static void printTimes(KafkaConsumer<byte[], byte[]> consumer, List<String> topics,
                                   PrintWriter times) {
        for (String topic : topics) {
            for (TopicPartition partition : partitionsOf(consumer, topic)) {
                for (long time : Workload.INTERESTING_TIMES) {
                    OffsetAndTimestamp found =
                        consumer.offsetsForTimes(Map.of(partition, time)).get(partition);
                    times.println(topic + "|" + partition.partition() + "|" + time + "|"
                                  + (found == null ? -1 : found.offset()));
                }
            }
        }
    }

    private void print(Path out, List<String> topics) throws IOException {
        Files.createDirectories(out);
        try (KafkaConsumer<byte[], byte[]> all = consumer("read_uncommitted");
             KafkaConsumer<byte[], byte[]> committed = consumer("read_committed");
             PrintWriter offsets = new PrintWriter(out.resolve("offsets").toFile());
             PrintWriter times = new PrintWriter(out.resolve("times").toFile())) {
            for (String topic : topics) {
                printTopic(all, topic, out, "records", offsets);
                printTopic(committed, topic, out, "committed", offsets);
            }
            printTimes(all, topics, times);
        }
    }

    public static void main(String[] args) throws Exception {
        Client client = new Client(Path.of(args[0]));
        Workload workload = new Workload(client.bootstrap);
        switch (args[1]) {
            case "create" -> client.create();
            case "first" -> {
                workload.first();
                client.trim();
            }
            case "second" -> workload.second();
            case "groups" -> new Groups(client.bootstrap).run();
            case "pour" -> workload.pour();
            case "last" -> {
                workload.last();
                client.delete();
                // Closing the producer would end its transaction.
                Runtime.getRuntime().halt(0);
            }
            case "cleaned" -> client.waitForCleaner();
            case "print" -> client.print(
                Path.of(args[2]), args.length > 3 ? List.of(args[3]) : topicNames().toList());
            default -> throw new IllegalArgumentException(args[1]);
        }
    }
}
