/* SPDX-License-Identifier: MIT */

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

import kafka.tools.StorageTool;

/**
 * A real Kafka broker and controller in one process, on two free ports of the loopback interface.
 *
 * <p>Usage: Broker DIRECTORY SECONDS. The log directory is DIRECTORY/logs; it is formatted if it is
 * new. Clients find the broker through DIRECTORY/bootstrap. SIGTERM is a controlled shutdown. After
 * SECONDS, or when its parent has gone, the process halts whatever happens: no broker stays behind.
 */
public final class Broker {
    private static final String CLUSTER_ID = "aGlnaHdhdGVyLWludGVyb3A";

    private Broker() {}

    /** Ports that nobody listens on. All are held until the last is known, so that they differ. */
    private static int[] freePorts(int count) throws IOException {
        List<ServerSocket> sockets = new ArrayList<>();
        int[] ports = new int[count];
        for (int i = 0; i < count; i++) {
            sockets.add(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
            ports[i] = sockets.get(i).getLocalPort();
        }
        for (ServerSocket socket : sockets) {
            socket.close();
        }
        return ports;
    }

    /** One broker, topics of one replica, a cleaner that does not wait, and little memory. */
    private static String properties(Path logs, int port, int controllerPort) {
        return String.join("\n",
            "process.roles=broker,controller",
            "node.id=1",
            "controller.quorum.voters=1@127.0.0.1:" + controllerPort,
            "listeners=PLAINTEXT://127.0.0.1:" + port + ",CONTROLLER://127.0.0.1:" + controllerPort,
            "controller.listener.names=CONTROLLER",
            "log.dirs=" + logs,
            "auto.create.topics.enable=false",
            "default.replication.factor=1",
            "offsets.topic.replication.factor=1",
            "offsets.topic.num.partitions=1",
            "transaction.state.log.replication.factor=1",
            "transaction.state.log.min.isr=1",
            "transaction.state.log.num.partitions=1",
            "share.coordinator.state.topic.replication.factor=1",
            "share.coordinator.state.topic.min.isr=1",
            "share.coordinator.state.topic.num.partitions=1",
            "log.initial.task.delay.ms=500",
            "log.cleaner.backoff.ms=100",
            "log.cleaner.dedupe.buffer.size=4194304",
            "log.flush.offset.checkpoint.interval.ms=1000",
            "replica.high.watermark.checkpoint.interval.ms=500",
            "num.network.threads=1",
            "num.io.threads=2",
            "background.threads=2",
            "");
    }

    /** Ends the process after some time, or when the one that started it has gone. */
    private static void haltAfter(long seconds) {
        ProcessHandle parent = ProcessHandle.current().parent().orElseThrow();
        Thread watchdog = new Thread(() -> {
            long end = System.nanoTime() + seconds * 1000000000L;
            while (parent.isAlive() && System.nanoTime() < end) {
                LockSupport.parkNanos(500000000L);
            }
            System.err.println("Broker: halted by itself");
            Runtime.getRuntime().halt(3);
        });
        watchdog.setDaemon(true);
        watchdog.start();
    }

    public static void main(String[] args) throws IOException {
        Path directory = Path.of(args[0]).toAbsolutePath();
        Path logs = directory.resolve("logs");
        Path properties = directory.resolve("server.properties");
        int[] ports = freePorts(2);

        haltAfter(Long.parseLong(args[1]));
        Files.createDirectories(directory);
        Files.writeString(properties, properties(logs, ports[0], ports[1]));
        if (!Files.exists(logs.resolve("meta.properties"))) {
            String[] format = {"format", "-t", CLUSTER_ID, "-c", properties.toString()};
            if (StorageTool.execute(format, System.out) != 0) {
                System.exit(1);
            }
        }
        Files.writeString(directory.resolve("bootstrap"), "127.0.0.1:" + ports[0]);
        kafka.Kafka.main(new String[] {properties.toString()});
    }
}
