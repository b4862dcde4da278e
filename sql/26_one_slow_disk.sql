-- SPDX-License-Identifier: MIT
-- What does one slow disk in the ISR do to acks=all?
--
-- Followers are 1 ms away. A disk that takes 20 ms for an append makes its follower's cycle 2 + 20 ms, and a commit waits for the slowest of the ISR:
-- one to two of its cycles under a steady load. The other follower's disk, and how many more there are, do not count. acks=1 does not notice it.
-- Semantics: F2, W-S07
.load ./highwater
.mode list
.headers off

.print === the disk of broker 3 takes 0 ms
SELECT open_cluster(':memory:'), configure('replication', 'timed'), configure('controller.auto.elect', 'true');
SELECT create_topic('t', 1, 3) > '';
SELECT link(1, 2, '{"latency_ms":1}') > '', link(1, 3, '{"latency_ms":1}') > '';
SELECT disk(3, '{"append_ms":0}') > '';
SELECT load('t', '{"records_per_s":500,"size":100,"acks":"all","in_flight":1000,"start_ms":0.3,"until_ms":10000}'), load('t', '{"records_per_s":10,"acks":1,"until_ms":10000}'), tick(12000);
SELECT printf('acks=%s waits %.1f ms, at most %.1f; the formula says %.1f to %.1f', iif(acks < 0, 'all', acks), mean_latency_ms, max_latency_ms,
              iif(acks < 0, 2 + 0, 0), iif(acks < 0, 2 * (2 + 0), 0)) FROM hw_loads;

.print === the disk of broker 3 takes 20 ms
SELECT open_cluster(':memory:'), configure('replication', 'timed'), configure('controller.auto.elect', 'true');
SELECT create_topic('t', 1, 3) > '';
SELECT link(1, 2, '{"latency_ms":1}') > '', link(1, 3, '{"latency_ms":1}') > '';
SELECT disk(3, '{"append_ms":20}') > '';
SELECT load('t', '{"records_per_s":500,"size":100,"acks":"all","in_flight":1000,"start_ms":0.3,"until_ms":10000}'), load('t', '{"records_per_s":10,"acks":1,"until_ms":10000}'), tick(12000);
SELECT printf('acks=%s waits %.1f ms, at most %.1f; the formula says %.1f to %.1f', iif(acks < 0, 'all', acks), mean_latency_ms, max_latency_ms,
              iif(acks < 0, 2 + 20, 0), iif(acks < 0, 2 * (2 + 20), 0)) FROM hw_loads;
