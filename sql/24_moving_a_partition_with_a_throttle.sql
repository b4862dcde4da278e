-- SPDX-License-Identifier: MIT
-- How long does moving 1 GB take at a throttle of 10 MB/s, and what if the lists are wrong?
--
-- To scale, one to a hundred: 10 MB at 100 kB/s, in answers of 10 kB. The formula says size / rate, give or take an answer and a second, if the
-- rate is above what an answer takes in 11 s. It takes a tenth longer: a follower whose quota is used up looks again
-- after replica.fetch.backoff.ms, a second. The leader's list names the replicas as they were before the move, the follower's list the new ones.
-- Where only the leader's list stands and names the new replica nothing is throttled: the leader throttles pairs of a partition and itself.
-- Producers do not notice a move: the newcomer is not waited for, and who is in sync is never throttled.
--
-- Semantics: F16, W8.4, W8.5, W-C25, W-C26, W-C27
.load ./highwater
.mode list
.headers off

.print === both lists right
SELECT open_cluster(':memory:'), configure('replication', 'timed'), configure('controller.auto.elect', 'true');
SELECT configure('replica.fetch.max.bytes', 10000), create_topic('t', '[[1,2]]') > '';
SELECT link(1, 2, '{"latency_ms":1}') > '', link(1, 3, '{"latency_ms":1}') > '';
SELECT configure('leader.replication.throttled.rate', 100000), configure('follower.replication.throttled.rate', 100000);
SELECT configure('leader.replication.throttled.replicas', '0:1,0:2', 't'), configure('follower.replication.throttled.replicas', '0:3', 't');
SELECT tick(1000), count(produce('t', 0, NULL, zeroblob(928), 1)) FROM generate_series(1, 10000);
SELECT tick(60000), reassign('t', 0, '[1,2,3]'), load('t', '{"records_per_s":5,"acks":"all","until_ms":261000}');
SELECT tick(200000);
SELECT printf('it is in sync after %.1f s', (time_ms - 61000) / 1000.0) FROM hw_journal WHERE event = 'isr' AND detail LIKE '%3%' ORDER BY seq LIMIT 1;
SELECT printf('producers with acks=all wait %.1f ms, at most %.1f', mean_latency_ms, max_latency_ms) FROM hw_loads;

.print === one list, of the new replica, on the leader side
SELECT open_cluster(':memory:'), configure('replication', 'timed'), configure('controller.auto.elect', 'true');
SELECT configure('replica.fetch.max.bytes', 10000), create_topic('t', '[[1,2]]') > '';
SELECT link(1, 2, '{"latency_ms":1}') > '', link(1, 3, '{"latency_ms":1}') > '';
SELECT configure('leader.replication.throttled.rate', 100000), configure('follower.replication.throttled.rate', 100000);
SELECT configure('leader.replication.throttled.replicas', '0:3', 't');
SELECT tick(1000), count(produce('t', 0, NULL, zeroblob(928), 1)) FROM generate_series(1, 10000);
SELECT tick(60000), reassign('t', 0, '[1,2,3]'), load('t', '{"records_per_s":5,"acks":"all","until_ms":261000}');
SELECT tick(200000);
SELECT printf('it is in sync after %.1f s', (time_ms - 61000) / 1000.0) FROM hw_journal WHERE event = 'isr' AND detail LIKE '%3%' ORDER BY seq LIMIT 1;
SELECT printf('producers with acks=all wait %.1f ms, at most %.1f', mean_latency_ms, max_latency_ms) FROM hw_loads;

.print === rates, and no list
SELECT open_cluster(':memory:'), configure('replication', 'timed'), configure('controller.auto.elect', 'true');
SELECT configure('replica.fetch.max.bytes', 10000), create_topic('t', '[[1,2]]') > '';
SELECT link(1, 2, '{"latency_ms":1}') > '', link(1, 3, '{"latency_ms":1}') > '';
SELECT configure('leader.replication.throttled.rate', 100000), configure('follower.replication.throttled.rate', 100000);
SELECT tick(1000), count(produce('t', 0, NULL, zeroblob(928), 1)) FROM generate_series(1, 10000);
SELECT tick(60000), reassign('t', 0, '[1,2,3]'), load('t', '{"records_per_s":5,"acks":"all","until_ms":261000}');
SELECT tick(200000);
SELECT printf('it is in sync after %.1f s', (time_ms - 61000) / 1000.0) FROM hw_journal WHERE event = 'isr' AND detail LIKE '%3%' ORDER BY seq LIMIT 1;
SELECT printf('producers with acks=all wait %.1f ms, at most %.1f', mean_latency_ms, max_latency_ms) FROM hw_loads;
