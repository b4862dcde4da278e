/* SPDX-License-Identifier: MIT */

import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;

import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;

/**
 * What producers send in the life of the broker: after its first start, after a clean restart, and
 * just before it is killed. The same records every time but for the broker's own clock.
 */
final class Workload {
    private static final long START = 1700000000000L;

    /** Around the timestamps that are sent, in order and out of order. */
    static final List<Long> INTERESTING_TIMES = List.of(
        0L, 1L, START - 2001, START - 2000, START - 1000, START - 1, START, START + 1, START + 2,
        START + 5, START + 9, START + 40, START + 41, START + 811, START + 3000, START + 3600000,
        START + 3600050, START + 7200000, START + 7200077, START + 7200078, 4000000000000L);

    private static final List<String> CODECS = List.of("none", "gzip", "snappy", "lz4", "zstd");

    private final String bootstrap;

    Workload(String bootstrap) {
        this.bootstrap = bootstrap;
    }

    private static Header header(String name, String value) {
        return new RecordHeader(name, Sender.bytes(value));
    }

    private Sender sender(int hour, String... settings) {
        return new Sender(bootstrap, START + hour * 3600000L, settings);
    }

    void first() throws ExecutionException, InterruptedException {
        everyKind();
        plain(0);
        codecs(0);
        recompressed();
        appendTime(0);
        transactions();
        compacted();
        trimmed();
        rolled();
        keyed();
        big();
    }

    void second() throws ExecutionException, InterruptedException {
        plain(1);
        codecs(1);
        appendTime(1);
        try (Sender a = Sender.transactional(bootstrap, START + 3600000, "a")) {
            transaction(a, 2, "second start", true);
            transaction(a, 1, "second start", false);
        }
        try (Sender plain = sender(1)) {
            filler(plain, 20);
        }
    }

    /** Leaves a transaction open: the caller must end without closing what this has opened. */
    void last() throws ExecutionException, InterruptedException {
        Sender open = Sender.transactional(bootstrap, START + 7200000, "open");

        plain(2);
        open.begin();
        open.batchOf(Topics.TRANSACTIONS, 0, 2, "never ended");
        try (Sender a = Sender.transactional(bootstrap, START + 7200000, "a");
             Sender plain = sender(2)) {
            transaction(a, 1, "behind an open one", true);
            transaction(a, 1, "behind an open one", false);
            plain.batchOf(Topics.TRANSACTIONS, 0, 1, "no transaction");
        }
    }

    /** What a key, a value, a header and a timestamp can be. */
    private void everyKind() throws ExecutionException, InterruptedException {
        byte[] binary = {0, (byte) 0xff, (byte) 0xfe, '|', 10};
        try (Sender sender = sender(0)) {
            sender.send(Topics.PLAIN, 0, null, null);
            sender.send(Topics.PLAIN, 0, "", "");
            sender.send(Topics.PLAIN, 0, null, "no key", header("", ""), header("", null));
            sender.send(Topics.PLAIN, 0, "no value", null, header("a", "1"));
            sender.send(Topics.PLAIN, 0, "h\u00f6he \u20ac \ud834\udd1e", "it's \"quoted\" \\",
                header("a", "1"), header("b", "\u20ac"), header("a", null), header("a", "1"),
                header("quote\"\\", "tab\there, line\nfeed, \u0001\u007f"));
            sender.send(Topics.PLAIN, 0, START - 1000, binary, binary,
                new RecordHeader("bin", binary), new RecordHeader("\ud834\udd1e", new byte[] {0}));
            sender.send(Topics.PLAIN, 0, START - 2000, Sender.bytes("older"), new byte[] {'v', 0});
            sender.batch();
            // Malformed UTF-8 of several kinds, and a text that is well-formed up to its edges.
            for (String hex : List.of("c080", "eda080", "f4908080", "e282", "f48fbfbf", "efbfbf")) {
                sender.send(Topics.PLAIN, 0, START, null,
                    java.util.HexFormat.of().parseHex(hex));
            }
            sender.batch();
            sender.send(Topics.PLAIN, 1, 0, null, Sender.bytes("at the epoch"));
            sender.batch();
            sender.send(Topics.PLAIN, 1, START + 1, null, Sender.bytes("x".repeat(300)));
            sender.send(Topics.PLAIN, 1, START - 1, null, Sender.bytes("older than the batch"));
            sender.batch();
        }
    }

    private void plain(int hour) throws ExecutionException, InterruptedException {
        try (Sender idempotent = sender(hour);
             Sender simple = sender(hour, "enable.idempotence", "false", "acks", "1")) {
            for (int i = 0; i < 12; i++) {
                idempotent.batchOf(Topics.PLAIN, 0, 1 + i, "value " + i + " of start " + hour);
                simple.batchOf(Topics.PLAIN, 1, 12 - i, "simple value");
            }
        }
    }

    private void codecs(int hour) throws ExecutionException, InterruptedException {
        Random random = new Random(hour);
        byte[] noise = new byte[300];
        for (String codec : CODECS) {
            try (Sender sender = sender(hour, "compression.type", codec)) {
                sender.batchOf(Topics.CODECS, 0, 12, "compressed with " + codec);
                random.nextBytes(noise);
                sender.send(Topics.CODECS, 0, START, Sender.bytes("noise"), noise.clone(),
                    header("codec", codec));
                sender.batch();
                sender.send(Topics.CODECS, 0, codec, "alone");
                sender.batch();
            }
        }
    }

    private void recompressed() throws ExecutionException, InterruptedException {
        for (String codec : CODECS) {
            try (Sender sender = sender(0, "compression.type", codec)) {
                sender.batchOf(Topics.RECOMPRESSED, 0, 8, "sent with " + codec);
            }
        }
    }

    private void appendTime(int hour) throws ExecutionException, InterruptedException {
        for (String codec : CODECS) {
            try (Sender sender = sender(hour, "compression.type", codec)) {
                sender.batchOf(Topics.APPEND_TIME, 0, 5, "sent with " + codec);
            }
        }
    }

    private static void transaction(Sender sender, int batches, String value, boolean isAborted)
        throws ExecutionException, InterruptedException {
        sender.begin();
        for (int i = 0; i < batches; i++) {
            sender.batchOf(Topics.TRANSACTIONS, 0, 3, value + (isAborted ? ", aborted" : ""));
        }
        if (isAborted) {
            sender.abort();
        } else {
            sender.commit();
        }
    }

    private void transactions() throws ExecutionException, InterruptedException {
        try (Sender a = Sender.transactional(bootstrap, START, "a");
             Sender b = Sender.transactional(bootstrap, START, "b");
             Sender plain = sender(0)) {
            transaction(a, 1, "first", false);
            transaction(b, 2, "second", true);
            plain.batchOf(Topics.TRANSACTIONS, 0, 2, "no transaction");

            // Two at a time, the one that began first ends last.
            a.begin();
            a.batchOf(Topics.TRANSACTIONS, 0, 2, "outer");
            transaction(b, 1, "inner", true);
            transaction(b, 1, "inner", false);
            a.batchOf(Topics.TRANSACTIONS, 0, 2, "outer");
            a.commit();

            // Longer than a segment, with others inside.
            a.begin();
            for (int i = 0; i < 12; i++) {
                a.batchOf(Topics.TRANSACTIONS, 0, 10, "long, aborted");
                transaction(b, 1, "short " + i, i % 3 == 0);
            }
            a.abort();
            plain.batchOf(Topics.TRANSACTIONS, 0, 2, "no transaction");
        }
    }

    /** Superseded values, tombstones and superseded transactions, then what rolls the segment. */
    private void compacted() throws ExecutionException, InterruptedException {
        try (Sender plain = sender(0);
             Sender gzip = sender(0, "compression.type", "gzip");
             Sender once = sender(0);
             Sender a = Sender.transactional(bootstrap, START, "compacted")) {
            plain.batchOf(Topics.COMPACTED, 0, 10, "superseded");
            gzip.batchOf(Topics.COMPACTED, 0, 7, "superseded, gzip");
            a.begin();
            a.batchOf(Topics.COMPACTED, 0, 5, "superseded, committed");
            a.commit();
            a.begin();
            a.batchOf(Topics.COMPACTED, 0, 10, "aborted");
            a.abort();
            // The only batch of its producer: it stays, empty. Not an old one, or the broker would
            // have forgotten the producer.
            once.send(Topics.COMPACTED, 0, System.currentTimeMillis(), Sender.bytes("k0"),
                      Sender.bytes("superseded, by itself"));
            once.batch();
            gzip.send(Topics.COMPACTED, 0, "gzip", "stays");
            gzip.send(Topics.COMPACTED, 0, "k2", null, header("why", "tombstone"));
            gzip.batch();
            plain.send(Topics.COMPACTED, 0, "only here", "stays");
            plain.send(Topics.COMPACTED, 0, "k3", null);
            plain.batch();
            filler(plain, 40);
        }
    }

    /** New versions of some keys, in enough bytes for the cleaner to have closed segments. */
    private static void filler(Sender sender, int batches)
        throws ExecutionException, InterruptedException {
        for (int i = 0; i < batches; i++) {
            sender.send(Topics.COMPACTED, 0, "k" + i % 2, "filler " + "-".repeat(100) + i);
            sender.send(Topics.COMPACTED, 0, "k4", "version " + i);
            sender.batch();
        }
    }

    private void trimmed() throws ExecutionException, InterruptedException {
        try (Sender sender = sender(0)) {
            for (int i = 0; i < 6; i++) {
                sender.batchOf(Topics.TRIMMED, 0, 10, "batch " + i);
            }
        }
    }

    private void rolled() throws ExecutionException, InterruptedException {
        try (Sender sender = sender(0)) {
            for (int i = 0; i < 10; i++) {
                sender.batchOf(Topics.GONE, 0, 2, "batch " + i);
                sender.batchOf(Topics.BY_TIME, 0, 2, "batch " + i);
                sender.batchOf(Topics.BY_INDEX, 0, 2, "batch " + i);
                sender.pass(400);
            }
        }
    }

    private void keyed() throws ExecutionException, InterruptedException {
        try (Sender sender = sender(0)) {
            for (int i = 0; i < 60; i++) {
                sender.send(Topics.KEYED, null, "key " + "\u20ac".repeat(i % 3) + i, "value");
            }
            sender.batch();
        }
    }

    /** For some seconds, so that somebody can look on. */
    void pour() throws ExecutionException, InterruptedException {
        Random random = new Random(2);
        try (Sender sender = sender(3)) {
            for (int i = 0; i < 400; i++) {
                byte[] noise = new byte[3000];
                random.nextBytes(noise);
                sender.send(Topics.BIG, 0, START + i, Sender.bytes("poured"), noise);
                sender.batch();
                Thread.sleep(5);
            }
        }
    }

    /** Some MiB, and batches that expand to more than a block of each codec. */
    private void big() throws ExecutionException, InterruptedException {
        Random random = new Random(1);
        for (String codec : CODECS) {
            try (Sender sender = sender(0, "compression.type", codec)) {
                for (int i = 0; i < 20; i++) {
                    byte[] noise = new byte[20000];
                    random.nextBytes(noise);
                    sender.send(Topics.BIG, 0, START + i, Sender.bytes("noise"), noise);
                    sender.send(Topics.BIG, 0, codec, "0123456789".repeat(10000));
                    sender.batch();
                }
            }
        }
    }

}
