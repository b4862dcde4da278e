/* SPDX-License-Identifier: MIT */

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.apache.kafka.clients.admin.NewTopic;

/** The topics of the story: each is there for one part of the format. */
final class Topics {
    /** Keys, values and headers of every kind; segments that are full. */
    static final String PLAIN = "plain";
    /** Batches of every codec side by side, as their producers sent them. */
    static final String CODECS = "codecs";
    /** Batches that the broker compresses anew. */
    static final String RECOMPRESSED = "recompressed";
    /** Timestamps from the broker. */
    static final String APPEND_TIME = "append-time";
    /** Transactions: committed, aborted, of several producers at a time. */
    static final String TRANSACTIONS = "tx";
    /** Compacted by the log cleaner, transactions in it. */
    static final String COMPACTED = "compacted";
    /** A log that starts in the middle of a batch. */
    static final String TRIMMED = "trimmed";
    /** Segments that are rolled by message time; a name with a dot and a dash. */
    static final String BY_TIME = "rolled.by-time";
    /** Segments that are rolled because the index is full. */
    static final String BY_INDEX = "rolled.by-index";
    /** Keys spread by the default partitioner. */
    static final String KEYED = "keyed";
    /** The settings that a topic has in life: a segment of 1 MiB, an index file of 10 MiB. */
    static final String BIG = "big";
    /** Deleted just before the broker is killed. */
    static final String GONE = "gone.to-delete";

    private Topics() {}

    /**
     * Settings in pairs, on top of what makes a topic small: segments and index files of some KiB,
     * and index entries that are close together. Records are old, so nothing may be deleted by age.
     */
    static NewTopic small(String name, int partitions, String... settings) {
        Map<String, String> configs = new HashMap<>();
        configs.put("internal.segment.bytes", "8192");
        configs.put("segment.index.bytes", "1200");
        configs.put("index.interval.bytes", "300");
        configs.put("retention.ms", "-1");
        for (int i = 0; i < settings.length; i += 2) {
            configs.put(settings[i], settings[i + 1]);
        }
        return new NewTopic(name, partitions, (short) 1).configs(configs);
    }

    static List<NewTopic> all() {
        return List.of(
            small(PLAIN, 2),
            small(CODECS, 1),
            small(RECOMPRESSED, 1, "compression.type", "gzip"),
            small(APPEND_TIME, 1, "message.timestamp.type", "LogAppendTime"),
            small(TRANSACTIONS, 1, "internal.segment.bytes", "3000"),
            small(COMPACTED, 1, "internal.segment.bytes", "3000", "cleanup.policy", "compact",
                "min.cleanable.dirty.ratio", "0.01"),
            small(TRIMMED, 1),
            small(BY_TIME, 1, "segment.ms", "1000"),
            small(BY_INDEX, 1, "segment.index.bytes", "48", "index.interval.bytes", "0"),
            small(KEYED, 4),
            small(GONE, 1),
            new NewTopic(BIG, 1, (short) 1)
                .configs(Map.of("segment.bytes", "1048576", "retention.ms", "-1")));
    }
}
