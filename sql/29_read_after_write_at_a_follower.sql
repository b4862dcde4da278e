-- SPDX-License-Identifier: MIT
-- When does a consumer that reads from a follower get what was just written?
--
-- A follower learns of the leader's high watermark with the answer to a fetch, and nothing wakes its waiting fetch but records. So on a quiet topic it is the
-- longest wait late, replica.fetch.wait.max.ms; on a busy one the next record brings the news. A consumer's own fetch comes on top of it.
-- Semantics: F8, W4.2, W-S01, W-C14, W-C16
.load ./highwater
.mode list
.headers off

.print === replica.fetch.wait.max.ms 500
SELECT open_cluster(':memory:'), configure('replication', 'timed'), configure('controller.auto.elect', 'true');
SELECT configure('replica.fetch.wait.max.ms', 500), create_topic('t', 1, 3) > '';
SELECT link(1, 2, '{"latency_ms":10}') > '', link(1, 3, '{"latency_ms":10}') > '';
SELECT tick(2003), produce('t', 0, NULL, 'quiet', 'all'), tick(2000);
SELECT printf('quiet: readers of broker %d have it after %d ms', broker, min(time_ms) - 2003) FROM hw_journal WHERE event = 'high_watermark' AND hw = 1 GROUP BY broker;
SELECT 'formulas: 20 ms at the leader, 20 + 500 + 10 at a follower';
SELECT load('t', '{"records_per_s":20,"acks":"all","until_ms":8000}'), tick(5000);
SELECT printf('busy, 20 records a second: broker %d has the 50th after %d ms', h.broker, min(h.time_ms) - p.time_ms)
  FROM hw_journal h, hw_journal p WHERE h.event = 'high_watermark' AND h.hw > 50 AND p.event = 'produce' AND p."offset" = 50 GROUP BY h.broker;

.print === replica.fetch.wait.max.ms 100
SELECT open_cluster(':memory:'), configure('replication', 'timed'), configure('controller.auto.elect', 'true');
SELECT configure('replica.fetch.wait.max.ms', 100), create_topic('t', 1, 3) > '';
SELECT link(1, 2, '{"latency_ms":10}') > '', link(1, 3, '{"latency_ms":10}') > '';
SELECT tick(2003), produce('t', 0, NULL, 'quiet', 'all'), tick(2000);
SELECT printf('quiet: readers of broker %d have it after %d ms', broker, min(time_ms) - 2003) FROM hw_journal WHERE event = 'high_watermark' AND hw = 1 GROUP BY broker;
SELECT 'formulas: 20 ms at the leader, 20 + 100 + 10 at a follower';
SELECT load('t', '{"records_per_s":20,"acks":"all","until_ms":8000}'), tick(5000);
SELECT printf('busy, 20 records a second: broker %d has the 50th after %d ms', h.broker, min(h.time_ms) - p.time_ms)
  FROM hw_journal h, hw_journal p WHERE h.event = 'high_watermark' AND h.hw > 50 AND p.event = 'produce' AND p."offset" = 50 GROUP BY h.broker;
