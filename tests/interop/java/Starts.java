/* SPDX-License-Identifier: MIT */

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;

/**
 * Topics of one partition and several segments that are alike, for damaging each in another way.
 *
 * <p>Usage: Starts DIRECTORY create|fill|ends NAME... where DIRECTORY is the broker's.
 */
public final class Starts {
    /** The markers have the broker's time; a segment is rolled where times lie far apart. */
    private static final long START = System.currentTimeMillis();

    private Starts() {}

    private static Admin admin(String bootstrap) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", bootstrap);
        properties.put("default.api.timeout.ms", 60000);
        properties.put("request.timeout.ms", 20000);
        return Admin.create(properties);
    }

    private static void create(String bootstrap, List<String> names) throws Exception {
        try (Admin admin = admin(bootstrap)) {
            admin.createTopics(names.stream()
                .map(name -> Topics.small(name, 1, "file.delete.delay.ms", "600000"))
                .toList()).all().get();
        }
    }

    /** Some segments, of which the second and the last have an aborted transaction. */
    private static void fill(String bootstrap, List<String> names) throws Exception {
        try (Sender plain = new Sender(bootstrap, START);
             Sender transactional = Sender.transactional(bootstrap, START, "starts")) {
            for (String name : names) {
                for (int i = 0; i < 26; i++) {
                    plain.batchOf(name, 0, 3, "-".repeat(200) + i);
                    if (i == 10 || i == 24) {
                        transactional.begin();
                        transactional.batchOf(name, 0, 2, "aborted");
                        transactional.abort();
                    }
                }
            }
        }
    }

    /** NAME|end offset, once the broker is up; or NAME| where the partition is offline. */
    private static void ends(String bootstrap, List<String> names) throws Exception {
        try (Admin admin = admin(bootstrap)) {
            for (String name : names) {
                TopicPartition partition = new TopicPartition(name, 0);
                String end = "";
                try {
                    end += admin.listOffsets(Map.of(partition, OffsetSpec.latest()))
                        .partitionResult(partition).get().offset();
                } catch (ExecutionException e) {
                    System.err.println(name + ": " + e.getCause());
                }
                System.out.println(name + "|" + end);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        String bootstrap = Files.readString(Path.of(args[0]).resolve("bootstrap"));
        List<String> names = Arrays.asList(args).subList(2, args.length);
        if (args[1].equals("create")) {
            create(bootstrap, names);
        } else if (args[1].equals("fill")) {
            fill(bootstrap, names);
        } else {
            ends(bootstrap, names);
        }
    }
}
