-- SPDX-License-Identifier: MIT
-- When does a new replica join, if it may take 10 MB/s and the producer writes 1, 10 or 20 MB/s?
--
-- A partition of 20 MB gets a second replica. The leader may give, and the new broker take, 10 MB/s
-- for it, as `kafka-reassign-partitions --throttle` sets it. Every 50 ms of virtual time is a round.
-- While the replica is out of the ISR, the leader leaves its answers empty when the rate, measured
-- over the last seconds, is above the limit.
--
--   1 MB/s   it gains 9 MB each second, and joins after little more than 2 s
--   10 MB/s  it never comes nearer: the limit has to be above what is written
--   20 MB/s  it falls behind ever more
--
-- It gains a little less than the limit: an answer ends where replica.fetch.max.bytes falls, and the
-- part of a batch at its end counts, though the follower throws it away.
--
-- In the ISR nobody is throttled: the limit slows moves down, never the replicas that count.
.load ./highwater
.mode list
.headers off

.print === the producer writes 1 MB/s
SELECT open_cluster(':memory:', '{"brokers":2}');
SELECT configure('leader.replication.throttled.rate', 10000000);
SELECT configure('follower.replication.throttled.rate', 10000000);
SELECT length(create_topic('t', 1, 1)) > 0;
SELECT configure('leader.replication.throttled.replicas', '0:1', 't');
SELECT configure('follower.replication.throttled.replicas', '0:2', 't');
SELECT count(produce('t', 0, NULL, zeroblob(99900), 1)) FROM generate_series(1, 200);
SELECT reassign('t', 0, '[1,2]');
CREATE TEMP TABLE run AS
SELECT step.value AS step,
       (SELECT count(produce('t', 0, NULL, zeroblob(99900), 1)) FROM generate_series(1, 1 + 0 * step.value)),
       tick(50), fetch_round(), tick(50), fetch_round(),
       (SELECT leo FROM hw_replicas WHERE broker = 2 AND step.value > 0) AS copied,
       (SELECT leo FROM hw_partitions WHERE step.value > 0) AS written,
       (SELECT isr FROM hw_partitions WHERE step.value > 0) AS isr
  FROM generate_series(1, 40) AS step;
SELECT printf('%.1f s: %5.1f of %5.1f MB, ISR %s', step / 10.0, copied / 10.0, written / 10.0, isr)
  FROM run WHERE step % 5 = 0;
SELECT CASE WHEN count(*) = 0 THEN 'it has not joined' ELSE printf('it is in sync after %.1f s', min(step) / 10.0) END
  FROM run WHERE isr = '[1,2]';
DROP TABLE run;

.print === the producer writes 10 MB/s
SELECT open_cluster(':memory:', '{"brokers":2}');
SELECT configure('leader.replication.throttled.rate', 10000000);
SELECT configure('follower.replication.throttled.rate', 10000000);
SELECT length(create_topic('t', 1, 1)) > 0;
SELECT configure('leader.replication.throttled.replicas', '0:1', 't');
SELECT configure('follower.replication.throttled.replicas', '0:2', 't');
SELECT count(produce('t', 0, NULL, zeroblob(99900), 1)) FROM generate_series(1, 200);
SELECT reassign('t', 0, '[1,2]');
CREATE TEMP TABLE run AS
SELECT step.value AS step,
       (SELECT count(produce('t', 0, NULL, zeroblob(99900), 1)) FROM generate_series(1, 10 + 0 * step.value)),
       tick(50), fetch_round(), tick(50), fetch_round(),
       (SELECT leo FROM hw_replicas WHERE broker = 2 AND step.value > 0) AS copied,
       (SELECT leo FROM hw_partitions WHERE step.value > 0) AS written,
       (SELECT isr FROM hw_partitions WHERE step.value > 0) AS isr
  FROM generate_series(1, 40) AS step;
SELECT printf('%.1f s: %5.1f of %5.1f MB, ISR %s', step / 10.0, copied / 10.0, written / 10.0, isr)
  FROM run WHERE step % 5 = 0;
SELECT CASE WHEN count(*) = 0 THEN 'it has not joined' ELSE printf('it is in sync after %.1f s', min(step) / 10.0) END
  FROM run WHERE isr = '[1,2]';
DROP TABLE run;
.print -- with a limit of 30 MB/s, set while it goes on, it gets there
SELECT configure('leader.replication.throttled.rate', 30000000);
SELECT configure('follower.replication.throttled.rate', 30000000);
CREATE TEMP TABLE run AS
SELECT step.value AS step,
       (SELECT count(produce('t', 0, NULL, zeroblob(99900), 1)) FROM generate_series(1, 10 + 0 * step.value)),
       tick(50), fetch_round(), tick(50), fetch_round(),
       (SELECT leo FROM hw_replicas WHERE broker = 2 AND step.value > 0) AS copied,
       (SELECT leo FROM hw_partitions WHERE step.value > 0) AS written,
       (SELECT isr FROM hw_partitions WHERE step.value > 0) AS isr
  FROM generate_series(41, 70) AS step;
SELECT printf('%.1f s: %5.1f of %5.1f MB, ISR %s', step / 10.0, copied / 10.0, written / 10.0, isr)
  FROM run WHERE step % 5 = 0;
SELECT CASE WHEN count(*) = 0 THEN 'it has not joined' ELSE printf('it is in sync after %.1f s', min(step) / 10.0) END
  FROM run WHERE isr = '[1,2]';
DROP TABLE run;

.print === the producer writes 20 MB/s
SELECT open_cluster(':memory:', '{"brokers":2}');
SELECT configure('leader.replication.throttled.rate', 10000000);
SELECT configure('follower.replication.throttled.rate', 10000000);
SELECT length(create_topic('t', 1, 1)) > 0;
SELECT configure('leader.replication.throttled.replicas', '0:1', 't');
SELECT configure('follower.replication.throttled.replicas', '0:2', 't');
SELECT count(produce('t', 0, NULL, zeroblob(99900), 1)) FROM generate_series(1, 200);
SELECT reassign('t', 0, '[1,2]');
CREATE TEMP TABLE run AS
SELECT step.value AS step,
       (SELECT count(produce('t', 0, NULL, zeroblob(99900), 1)) FROM generate_series(1, 20 + 0 * step.value)),
       tick(50), fetch_round(), tick(50), fetch_round(),
       (SELECT leo FROM hw_replicas WHERE broker = 2 AND step.value > 0) AS copied,
       (SELECT leo FROM hw_partitions WHERE step.value > 0) AS written,
       (SELECT isr FROM hw_partitions WHERE step.value > 0) AS isr
  FROM generate_series(1, 40) AS step;
SELECT printf('%.1f s: %5.1f of %5.1f MB, ISR %s', step / 10.0, copied / 10.0, written / 10.0, isr)
  FROM run WHERE step % 5 = 0;
SELECT CASE WHEN count(*) = 0 THEN 'it has not joined' ELSE printf('it is in sync after %.1f s', min(step) / 10.0) END
  FROM run WHERE isr = '[1,2]';
DROP TABLE run;
