-- SPDX-License-Identifier: MIT
-- Can two replicas end at the same offset and hold different records for ever?
--
-- Scenario 2 of KIP-101. Broker 1 leads; m2 is on both brokers, but broker 2 has not flushed it when
-- both lose power. Broker 2 is back first, leads, and takes m3 where m2 was. Broker 1 comes back
-- with as many records.
--
--   hw-truncation  (until 0.10) broker 1 cuts to its high watermark, 2, which cuts nothing, and goes on
--                  fetching at 2. Nobody ever notices.
--   kip-101        (from 0.11) broker 1 asks where epoch 0 ends. At 1, says broker 2: it cuts there.
--   kafka          (today) the leader finds out in the fetch itself, by the epoch of the last record.
--
-- m2 is gone with every rule: it was never durable on broker 2. What epochs buy is equal logs.
.load ./highwater
.mode list
.headers off
CREATE TEMP VIEW logs AS
SELECT 'broker 1: ' || group_concat(value || ' (epoch ' || leader_epoch || ')', ', ') FROM hw_log('t', 0, 1)
UNION ALL
SELECT 'broker 2: ' || group_concat(value || ' (epoch ' || leader_epoch || ')', ', ') FROM hw_log('t', 0, 2);

.print === hw-truncation
SELECT open_cluster(':memory:', '{"protocol":"hw-truncation","brokers":2}');
SELECT length(create_topic('t', 1, 2)) > 0;
SELECT produce('t', 0, NULL, 'm1', 'all'), replicate();
SELECT produce('t', 0, NULL, 'm2', 'all'), flush();
SELECT replicate(), tick(5000);
.print -- m2 is acknowledged, and flushed on broker 1 only
SELECT base_offset, status FROM hw_acks;
SELECT crash(1, 'power'), crash(2, 'power'), restart(2), promote('t', 0, 2);
SELECT produce('t', 0, NULL, 'm3', 1), restart(1), replicate() > 0;
SELECT * FROM logs;

.print === kip-101
SELECT open_cluster(':memory:', '{"protocol":"kip-101","brokers":2}');
SELECT length(create_topic('t', 1, 2)) > 0;
SELECT produce('t', 0, NULL, 'm1', 'all'), replicate();
SELECT produce('t', 0, NULL, 'm2', 'all'), flush();
SELECT replicate(), tick(5000);
SELECT crash(1, 'power'), crash(2, 'power'), restart(2), promote('t', 0, 2);
SELECT produce('t', 0, NULL, 'm3', 1), restart(1), replicate() > 0;
SELECT * FROM logs;

.print === kafka
SELECT open_cluster(':memory:', '{"protocol":"kafka","brokers":2}');
SELECT length(create_topic('t', 1, 2)) > 0;
SELECT produce('t', 0, NULL, 'm1', 'all'), replicate();
SELECT produce('t', 0, NULL, 'm2', 'all'), flush();
SELECT replicate(), tick(5000);
SELECT crash(1, 'power'), crash(2, 'power'), restart(2), promote('t', 0, 2);
SELECT produce('t', 0, NULL, 'm3', 1), restart(1), replicate() > 0;
SELECT * FROM logs;
