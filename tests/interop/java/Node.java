/* SPDX-License-Identifier: MIT */

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import java.util.concurrent.locks.LockSupport;

import kafka.tools.StorageTool;

/**
 * One node of a real Kafka cluster, broker and controller in one process, on the loopback interface.
 *
 * <p>Usage: Node plan DIRECTORY COUNT    writes DIRECTORY/ports: of each node three free ports
 * <p>       Node run DIRECTORY ID SECONDS
 *
 * <p>The first port is for clients, the second takes a password (user "reader", "right-password"), the
 * third is the controller's. A node that is started again has its log directory and its ports from
 * before. After SECONDS, or when its parent has gone, it halts whatever happens.
 */
public final class Node {
    private static final String CLUSTER_ID = "aGlnaHdhdGVyLWxpdmUtYQ";
    private static final int PORTS = 3;

    private Node() {}

    private static void plan(Path directory, int count) throws IOException {
        List<ServerSocket> sockets = new ArrayList<>();
        StringJoiner text = new StringJoiner("\n", "", "\n");
        for (int i = 0; i < count; i++) {
            StringJoiner line = new StringJoiner(" ");
            for (int j = 0; j < PORTS; j++) {
                ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                sockets.add(socket);
                line.add(Integer.toString(socket.getLocalPort()));
            }
            text.add(line.toString());
        }
        for (ServerSocket socket : sockets) {
            socket.close();
        }
        Files.createDirectories(directory);
        Files.writeString(directory.resolve("ports"), text.toString());
    }

    private static String properties(Path logs, int id, List<String> nodes) {
        String[] own = nodes.get(id - 1).split(" ");
        StringJoiner voters = new StringJoiner(",");
        int replicas = Math.min(3, nodes.size());
        for (int i = 0; i < nodes.size(); i++) {
            voters.add((i + 1) + "@127.0.0.1:" + nodes.get(i).split(" ")[2]);
        }
        return String.join("\n",
            "process.roles=broker,controller",
            "node.id=" + id,
            "controller.quorum.voters=" + voters,
            "listeners=PLAINTEXT://127.0.0.1:" + own[0] + ",GUARDED://127.0.0.1:" + own[1]
                + ",CONTROLLER://127.0.0.1:" + own[2],
            "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,GUARDED:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
            "listener.name.guarded.sasl.enabled.mechanisms=PLAIN",
            "listener.name.guarded.plain.sasl.jaas.config="
                + "org.apache.kafka.common.security.plain.PlainLoginModule required"
                + " user_reader=\"right-password\";",
            "controller.listener.names=CONTROLLER",
            "inter.broker.listener.name=PLAINTEXT",
            "log.dirs=" + logs,
            "auto.create.topics.enable=true",
            "default.replication.factor=" + replicas,
            "offsets.topic.replication.factor=" + replicas,
            "offsets.topic.num.partitions=1",
            "transaction.state.log.replication.factor=" + replicas,
            "transaction.state.log.min.isr=" + Math.min(2, replicas),
            "transaction.state.log.num.partitions=1",
            "transaction.abort.timed.out.transaction.cleanup.interval.ms=1000",
            "group.initial.rebalance.delay.ms=0",
            "broker.session.timeout.ms=3000",
            "broker.heartbeat.interval.ms=500",
            "replica.lag.time.max.ms=3000",
            "log.initial.task.delay.ms=500",
            "log.cleaner.backoff.ms=100",
            "log.cleaner.dedupe.buffer.size=4194304",
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
            System.err.println("Node: halted by itself");
            Runtime.getRuntime().halt(3);
        });
        watchdog.setDaemon(true);
        watchdog.start();
    }

    private static void run(Path directory, int id, long seconds) throws IOException {
        Path logs = directory.resolve("logs-" + id);
        Path properties = directory.resolve("node-" + id + ".properties");

        haltAfter(seconds);
        Files.writeString(properties, properties(logs, id, Files.readAllLines(directory.resolve("ports"))));
        if (!Files.exists(logs.resolve("meta.properties"))) {
            String[] format = {"format", "-t", CLUSTER_ID, "-c", properties.toString()};
            if (StorageTool.execute(format, System.out) != 0) {
                System.exit(1);
            }
        }
        kafka.Kafka.main(new String[] {properties.toString()});
    }

    public static void main(String[] args) throws IOException {
        Path directory = Path.of(args[1]).toAbsolutePath();
        if (args[0].equals("plan")) {
            plan(directory, Integer.parseInt(args[2]));
        } else {
            run(directory, Integer.parseInt(args[2]), Long.parseLong(args[3]));
        }
    }
}
