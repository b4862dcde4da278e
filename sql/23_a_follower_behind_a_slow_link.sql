-- SPDX-License-Identifier: MIT
-- Why does a follower behind a slow link leave the ISR, and when does it come back?
--
-- An answer carries at most replica.fetch.max.bytes of a partition, and the next request leaves when it has come: over a link of 50 ms each way
-- that is 9 records of 1072 bytes each 100 ms, 90 a second. The producer writes 120. So the follower is ever further behind, though the link
-- is nearly idle. It leaves at the first check, each 15 s, that finds it late for more than 30 s; when the producer stops it takes
-- 30 / 90 of the time that the producer ran until it is back.
--
-- Larger answers cure it, more fetchers do not. Semantics: F9, F10, W-S25, W-C07, W-C48
.load ./highwater
.mode list
.headers off
SELECT open_cluster(':memory:'), configure('replication', 'timed'), configure('controller.auto.elect', 'true');
SELECT configure('replica.fetch.max.bytes', 10000), create_topic('t', 1, 3) > '';
SELECT link(1, 2, '{"latency_ms":1}') > '', link(1, 3, '{"latency_ms":50}') > '';
SELECT load('t', '{"records_per_s":120,"size":1000,"acks":1,"start_ms":1000,"until_ms":61000}'), tick(100000);
SELECT printf('%.1f s: ISR %s', time_ms / 1000.0, detail) FROM hw_journal WHERE event = 'isr' ORDER BY seq;
SELECT name, value FROM (SELECT substr(name, instr(name, 'name=') + 5) AS name, value FROM hw_metrics WHERE scope = 'cluster')
 WHERE name IN ('IsrShrinksPerSec', 'IsrExpandsPerSec');
.print === the same with 100 kB an answer
SELECT open_cluster(':memory:'), configure('replication', 'timed'), configure('controller.auto.elect', 'true');
SELECT configure('replica.fetch.max.bytes', 100000), create_topic('t', 1, 3) > '';
SELECT link(1, 2, '{"latency_ms":1}') > '', link(1, 3, '{"latency_ms":50}') > '';
SELECT load('t', '{"records_per_s":120,"size":1000,"acks":1,"start_ms":1000,"until_ms":61000}'), tick(100000);
SELECT printf('%.1f s: ISR %s', time_ms / 1000.0, detail) FROM hw_journal WHERE event = 'isr' ORDER BY seq;
