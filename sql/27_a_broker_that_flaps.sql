-- SPDX-License-Identifier: MIT
-- What does a broker cost that dies every 20 s and is started again 2 s later?
--
-- Its old session lasts for 9 s from its last heartbeat, and until then it cannot register: it asks each 2 s, and is refused. While it is away and in the
-- ISR every commit with acks=all waits: until it is registered anew, or until the check that ends its session. The cost is not the 2 s of the
-- restart but the session.
-- Semantics: W6.3, W6.5, F12, W-C39
.load ./highwater
.mode list
.headers off
SELECT open_cluster(':memory:'), configure('replication', 'timed'), configure('controller.auto.elect', 'true');
SELECT create_topic('t', 1, 3, '{"min.insync.replicas":2}') > '';
SELECT link(1, 2, '{"latency_ms":1}') > '', link(1, 3, '{"latency_ms":1}') > '';
SELECT link('controller', b.value, '{"latency_ms":1}') > '' FROM json_each('[1,2,3]') AS b;
SELECT load('t', '{"records_per_s":10,"acks":"all","in_flight":1000,"until_ms":80000}'), tick(20000);
SELECT printf('without: %.0f ms, at most %.0f', mean_latency_ms, max_latency_ms) FROM hw_loads;
SELECT crash(3), tick(2000), restart(3), tick(18000);
SELECT crash(3), tick(2000), restart(3), tick(18000);
SELECT crash(3), tick(2000), restart(3), tick(28000);
SELECT printf('with it: %.0f ms, at most %.0f; failed: %d', mean_latency_ms, max_latency_ms, failed) FROM hw_loads;
SELECT printf('%.1f s: %s %s', time_ms / 1000.0, event, detail) FROM hw_journal
 WHERE event IN ('broker', 'isr') AND time_ms BETWEEN 20000 AND 39999 ORDER BY seq;
