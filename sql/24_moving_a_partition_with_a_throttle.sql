-- SPDX-License-Identifier: MIT
-- How long does moving 10 GB take at a throttle of 10 MB/s, what do producers notice, and what if the lists are wrong?
--
-- To scale, one to a thousand: 10 MB at 10 kB/s, in answers of one batch of 1 kB. Producers do not notice a move: the newcomer is not waited
-- for, and who is in sync is never throttled.
--
-- The formula says size / rate, 1000 s, give or take an answer and a second; it was made for moves of 20 s. A longer one takes longer,
-- since who is over its quota looks again after a while only, and then finds in its window of 11 s the bytes of 11 s over the time
-- since the first of them began, which is 11 s less that while: the follower looks after replica.fetch.backoff.ms, 1 s, so it takes a tenth more;
-- a fetch that the leader holds back is looked at after replica.fetch.wait.max.ms, 0.5 s, so it takes a twentieth more, here less
-- some seconds, since the leader's window was open and empty when the move began.
-- The leader's list names the replicas as they were before the move, the follower's list the new ones. Where only the leader's list stands and
-- names the new replica nothing is throttled: the leader throttles pairs of a partition and itself.
--
-- Semantics: F16, W8.2, W8.3, W8.4, W8.5, W-C25, W-C26, W-C27
.load ./highwater
.mode list
.headers off
CREATE TEMP VIEW moved AS SELECT printf('%.0f s, size / rate is 1000', (time_ms - 61000) / 1000.0) AS "in sync after" FROM hw_journal
WHERE event = 'isr' AND detail LIKE '%3%' ORDER BY seq LIMIT 1;
CREATE TEMP VIEW waited AS SELECT printf('producers with acks=all wait %.1f ms, at most %.1f', mean_latency_ms, max_latency_ms) FROM hw_loads;

.print === both lists right
SELECT open_cluster(':memory:'), configure('replication', 'timed'), configure('controller.auto.elect', 'true');
SELECT configure('replica.fetch.max.bytes', 1000), create_topic('t', '[[1,2]]') > '';
SELECT link(1, 2, '{"latency_ms":1}') > '', link(1, 3, '{"latency_ms":1}') > '';
SELECT configure('leader.replication.throttled.rate', 10000), configure('follower.replication.throttled.rate', 10000);
SELECT configure('leader.replication.throttled.replicas', '0:1,0:2', 't');
SELECT configure('follower.replication.throttled.replicas', '0:3', 't');
SELECT tick(1000), count(produce('t', 0, NULL, zeroblob(928), 1)) FROM generate_series(1, 10000);
SELECT tick(60000), reassign('t', 0, '[1,2,3]'), load('t', '{"records_per_s":1,"size":1,"acks":"all","until_ms":1300000}');
SELECT tick(1240000);
SELECT * FROM moved;
SELECT * FROM waited;

.print === the leader's list alone
SELECT open_cluster(':memory:'), configure('replication', 'timed'), configure('controller.auto.elect', 'true');
SELECT configure('replica.fetch.max.bytes', 1000), create_topic('t', '[[1,2]]') > '';
SELECT link(1, 2, '{"latency_ms":1}') > '', link(1, 3, '{"latency_ms":1}') > '';
SELECT configure('leader.replication.throttled.rate', 10000), configure('follower.replication.throttled.rate', 10000);
SELECT configure('leader.replication.throttled.replicas', '0:1,0:2', 't');
SELECT tick(1000), count(produce('t', 0, NULL, zeroblob(928), 1)) FROM generate_series(1, 10000);
SELECT tick(60000), reassign('t', 0, '[1,2,3]'), load('t', '{"records_per_s":1,"size":1,"acks":"all","until_ms":1300000}');
SELECT tick(1240000);
SELECT * FROM moved;
SELECT * FROM waited;

.print === the follower's list alone
SELECT open_cluster(':memory:'), configure('replication', 'timed'), configure('controller.auto.elect', 'true');
SELECT configure('replica.fetch.max.bytes', 1000), create_topic('t', '[[1,2]]') > '';
SELECT link(1, 2, '{"latency_ms":1}') > '', link(1, 3, '{"latency_ms":1}') > '';
SELECT configure('leader.replication.throttled.rate', 10000), configure('follower.replication.throttled.rate', 10000);
SELECT configure('follower.replication.throttled.replicas', '0:3', 't');
SELECT tick(1000), count(produce('t', 0, NULL, zeroblob(928), 1)) FROM generate_series(1, 10000);
SELECT tick(60000), reassign('t', 0, '[1,2,3]'), load('t', '{"records_per_s":1,"size":1,"acks":"all","until_ms":1300000}');
SELECT tick(1240000);
SELECT * FROM moved;
SELECT * FROM waited;

.print === one list, of the new replica, on the leader side
SELECT open_cluster(':memory:'), configure('replication', 'timed'), configure('controller.auto.elect', 'true');
SELECT configure('replica.fetch.max.bytes', 1000), create_topic('t', '[[1,2]]') > '';
SELECT link(1, 2, '{"latency_ms":1}') > '', link(1, 3, '{"latency_ms":1}') > '';
SELECT configure('leader.replication.throttled.rate', 10000), configure('follower.replication.throttled.rate', 10000);
SELECT configure('leader.replication.throttled.replicas', '0:3', 't');
SELECT tick(1000), count(produce('t', 0, NULL, zeroblob(928), 1)) FROM generate_series(1, 10000);
SELECT tick(60000), reassign('t', 0, '[1,2,3]'), load('t', '{"records_per_s":1,"size":1,"acks":"all","until_ms":1300000}');
SELECT tick(1240000);
SELECT * FROM moved;
SELECT * FROM waited;

.print === rates, and no list
SELECT open_cluster(':memory:'), configure('replication', 'timed'), configure('controller.auto.elect', 'true');
SELECT configure('replica.fetch.max.bytes', 1000), create_topic('t', '[[1,2]]') > '';
SELECT link(1, 2, '{"latency_ms":1}') > '', link(1, 3, '{"latency_ms":1}') > '';
SELECT configure('leader.replication.throttled.rate', 10000), configure('follower.replication.throttled.rate', 10000);
SELECT tick(1000), count(produce('t', 0, NULL, zeroblob(928), 1)) FROM generate_series(1, 10000);
SELECT tick(60000), reassign('t', 0, '[1,2,3]'), load('t', '{"records_per_s":1,"size":1,"acks":"all","until_ms":1300000}');
SELECT tick(1240000);
SELECT * FROM moved;
SELECT * FROM waited;
