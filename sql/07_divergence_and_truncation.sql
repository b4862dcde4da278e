-- SPDX-License-Identifier: MIT
-- How do replicas that hold different records become equal again?
--
-- Broker 1 leads epoch 1 and holds the offsets 1000 to 1010, broker 2 holds 1000 to 1008, broker 3
-- 1000 to 1009. Broker 1 dies and broker 2 leads epoch 2. Epoch 1 ends at 1009 on it, so broker 3,
-- and broker 1 when it comes back, cut their logs to 1009 and copy what follows.
.load ./highwater
.mode list
.headers off
CREATE VIRTUAL TABLE t USING highwater(replication.factor=3);

-- Epoch 0: offsets 0 to 999, on all. Then broker 1 is elected anew: epoch 1.
INSERT INTO t(value) SELECT 'old' || value FROM generate_series(0, 999);
SELECT replicate('t') > 0;
SELECT 'leader epoch ' || promote('t', 0, 1);
INSERT INTO t(value) SELECT 'v' || value FROM generate_series(1000, 1008);
SELECT fetch('t', 0, 2), fetch('t', 0, 3);
INSERT INTO t(value) VALUES ('v1009');
SELECT fetch('t', 0, 3);
INSERT INTO t(value) VALUES ('v1010');
SELECT 'broker ' || broker || ' ends at ' || leo FROM hw_replicas;

.print -- broker 1 dies, broker 2 leads epoch 2 and takes a record of its own
SELECT crash(1);
SELECT 'leader epoch ' || promote('t', 0, 2);
INSERT INTO t(value) VALUES ('w1009');

.print -- broker 3 asks at 1010 with epoch 1; epoch 1 ends at 1009: it cuts
SELECT fetch('t', 0, 3);
SELECT 'broker ' || broker || ' ends at ' || leo FROM hw_replicas WHERE broker = 3;

.print -- broker 1 comes back with 1011 and does the same
SELECT restart(1);
SELECT fetch('t', 0, 1);
SELECT 'broker ' || broker || ' ends at ' || leo FROM hw_replicas WHERE broker = 1;

.print -- after some rounds all three are the same
SELECT replicate('t') > 0;
SELECT broker, epoch, start_offset, end_offset FROM hw_epochs;
SELECT b.broker, count(*) || ' records, ' ||
       sum(a.value = c.value AND a.leader_epoch = c.leader_epoch) || ' equal to broker 2''s'
  FROM (SELECT 1 AS broker UNION ALL SELECT 3) AS b
  JOIN hw_log('t', 0, 2) AS a
  JOIN hw_log('t', 0, b.broker) AS c ON c."offset" = a."offset"
 GROUP BY b.broker;
SELECT "offset", value FROM t WHERE "offset" > 1007;
