-- SPDX-License-Identifier: MIT
-- What does acks=all cost over acks=1, with followers 1, 5 and 50 ms away?
--
-- A record is committed when every follower in the ISR has asked for the one behind it: that takes one cycle, to the follower and back, where
-- its request waits at the leader, and one to two cycles where there is always something to fetch. With acks=1 the producer waits for its own
-- link only. How many followers there are does not matter, only the slowest.
--
-- Formulas: idle 2 Lp + 2 L, under a steady load 2 Lp + 1.5 cycles of 2 L, with Lp the way to the leader. Semantics: F1, F2, W9.5
.load ./highwater
.mode list
.headers off

.print === followers are 1 ms away, their leader's client 1 ms
SELECT open_cluster(':memory:'), configure('replication', 'timed'), configure('controller.auto.elect', 'true');
SELECT create_topic('t', 1, 3, '{"min.insync.replicas":2}') > '', link('client', 1, '{"latency_ms":1}') > '';
SELECT link(1, 2, '{"latency_ms":1}') > '', link(1, 3, '{"latency_ms":1}') > '';
SELECT load('t', '{"records_per_s":2,"acks":1,"until_ms":60000}'), tick(61000);
SELECT load('t', '{"records_per_s":2,"acks":"all","start_ms":500,"until_ms":121000}'), tick(61000);
SELECT load('t', '{"records_per_s":1000,"acks":"all","in_flight":1000,"start_ms":0.3,"until_ms":125000}'), tick(5000);
SELECT printf('acks=%-3s %4d records/s: waits %6.1f ms, the formula says %5.1f', iif(acks < 0, 'all', acks), records_per_s, mean_latency_ms,
              CASE WHEN acks = 1 THEN 2 WHEN records_per_s < 10 THEN 2 + 2 * 1 ELSE 2 + 1.5 * 2 * 1 END) FROM hw_loads;

.print === followers are 5 ms away, their leader's client 1 ms
SELECT open_cluster(':memory:'), configure('replication', 'timed'), configure('controller.auto.elect', 'true');
SELECT create_topic('t', 1, 3, '{"min.insync.replicas":2}') > '', link('client', 1, '{"latency_ms":1}') > '';
SELECT link(1, 2, '{"latency_ms":5}') > '', link(1, 3, '{"latency_ms":5}') > '';
SELECT load('t', '{"records_per_s":2,"acks":1,"until_ms":60000}'), tick(61000);
SELECT load('t', '{"records_per_s":2,"acks":"all","start_ms":500,"until_ms":121000}'), tick(61000);
SELECT load('t', '{"records_per_s":1000,"acks":"all","in_flight":1000,"start_ms":0.3,"until_ms":125000}'), tick(5000);
SELECT printf('acks=%-3s %4d records/s: waits %6.1f ms, the formula says %5.1f', iif(acks < 0, 'all', acks), records_per_s, mean_latency_ms,
              CASE WHEN acks = 1 THEN 2 WHEN records_per_s < 10 THEN 2 + 2 * 5 ELSE 2 + 1.5 * 2 * 5 END) FROM hw_loads;

.print === followers are 50 ms away, their leader's client 1 ms
SELECT open_cluster(':memory:'), configure('replication', 'timed'), configure('controller.auto.elect', 'true');
SELECT create_topic('t', 1, 3, '{"min.insync.replicas":2}') > '', link('client', 1, '{"latency_ms":1}') > '';
SELECT link(1, 2, '{"latency_ms":50}') > '', link(1, 3, '{"latency_ms":50}') > '';
SELECT load('t', '{"records_per_s":2,"acks":1,"until_ms":60000}'), tick(61000);
SELECT load('t', '{"records_per_s":2,"acks":"all","start_ms":500,"until_ms":121000}'), tick(61000);
SELECT load('t', '{"records_per_s":1000,"acks":"all","in_flight":1000,"start_ms":0.3,"until_ms":125000}'), tick(5000);
SELECT printf('acks=%-3s %4d records/s: waits %6.1f ms, the formula says %5.1f', iif(acks < 0, 'all', acks), records_per_s, mean_latency_ms,
              CASE WHEN acks = 1 THEN 2 WHEN records_per_s < 10 THEN 2 + 2 * 50 ELSE 2 + 1.5 * 2 * 50 END) FROM hw_loads;
