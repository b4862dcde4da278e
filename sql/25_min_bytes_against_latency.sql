-- SPDX-License-Identifier: MIT
-- What do replica.fetch.min.bytes and replica.fetch.wait.max.ms do to latency, and to the rate of requests?
--
-- A fetch waits at the leader for so many bytes, or so long. With 1 byte, the default, the longest wait has no part in the latency of a commit:
-- each append is an answer. With more than there ever is, a commit waits for the rest of the wait too: c + (W + c) / 2 with a cycle c of 10 ms.
-- The rate of requests falls to 1 / (W + c), which is little won where appends are rare. Semantics: F5, F6, F7, W-C22
.load ./highwater
.mode list
.headers off

.print === replica.fetch.min.bytes 1, replica.fetch.wait.max.ms 500
SELECT open_cluster(':memory:'), configure('replication', 'timed'), configure('controller.auto.elect', 'true');
SELECT configure('replica.fetch.min.bytes', 1), configure('replica.fetch.wait.max.ms', 500), create_topic('t', 1, 2) > '';
SELECT link(1, 2, '{"latency_ms":5}') > '';
SELECT load('t', '{"records_per_s":7.3,"size":1000,"acks":"all","until_ms":60000,"in_flight":100}'), tick(61000);
SELECT printf('a commit takes %.0f ms, at most %.0f; the formula says %.0f', mean_latency_ms, max_latency_ms, 10) FROM hw_loads;
SELECT printf('%.1f requests a second', value / 61.0) FROM hw_metrics WHERE scope = 'cluster' AND name LIKE '%TotalFetchRequestsPerSec';

.print === replica.fetch.min.bytes 100000, replica.fetch.wait.max.ms 500
SELECT open_cluster(':memory:'), configure('replication', 'timed'), configure('controller.auto.elect', 'true');
SELECT configure('replica.fetch.min.bytes', 100000), configure('replica.fetch.wait.max.ms', 500), create_topic('t', 1, 2) > '';
SELECT link(1, 2, '{"latency_ms":5}') > '';
SELECT load('t', '{"records_per_s":7.3,"size":1000,"acks":"all","until_ms":60000,"in_flight":100}'), tick(61000);
SELECT printf('a commit takes %.0f ms, at most %.0f; the formula says %.0f', mean_latency_ms, max_latency_ms, 10 + (500 + 10) / 2) FROM hw_loads;
SELECT printf('%.1f requests a second', value / 61.0) FROM hw_metrics WHERE scope = 'cluster' AND name LIKE '%TotalFetchRequestsPerSec';

.print === replica.fetch.min.bytes 100000, replica.fetch.wait.max.ms 100
SELECT open_cluster(':memory:'), configure('replication', 'timed'), configure('controller.auto.elect', 'true');
SELECT configure('replica.fetch.min.bytes', 100000), configure('replica.fetch.wait.max.ms', 100), create_topic('t', 1, 2) > '';
SELECT link(1, 2, '{"latency_ms":5}') > '';
SELECT load('t', '{"records_per_s":7.3,"size":1000,"acks":"all","until_ms":60000,"in_flight":100}'), tick(61000);
SELECT printf('a commit takes %.0f ms, at most %.0f; the formula says %.0f', mean_latency_ms, max_latency_ms, 10 + (100 + 10) / 2) FROM hw_loads;
SELECT printf('%.1f requests a second', value / 61.0) FROM hw_metrics WHERE scope = 'cluster' AND name LIKE '%TotalFetchRequestsPerSec';
