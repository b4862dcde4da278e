-- SPDX-License-Identifier: MIT
-- Which records survive when the leader changes?
--
-- The first experiment of the MiniKafka teaching model: two brokers, min.insync.replicas 2. A record
-- that was acknowledged with acks=all is on both brokers and stays. One that was acknowledged with
-- acks=1 is only on the leader: it is above the high watermark, no SELECT shows it, and it is gone
-- when the other broker takes over.
.load ./highwater
.mode list
.headers off
SELECT configure('protocol', 'minikafka');
CREATE VIRTUAL TABLE t USING highwater(replication.factor=2, min.insync.replicas=2);

.print -- 'safe' with acks=all: appended at offset 0, but pending, since broker 2 has not copied it
SELECT produce('t', 0, NULL, 'safe', 'all');
SELECT 'high watermark ' || hw FROM hw_partitions;
SELECT status FROM hw_acks WHERE id = 1;

.print -- one round: both logs end at 1, the high watermark is 1, the caller is told
SELECT fetch_round('t');
SELECT 'broker ' || broker || ': log end ' || leo || ', high watermark ' || hw FROM hw_replicas;
SELECT status || ' at offset ' || base_offset FROM hw_acks WHERE id = 1;

.print -- 'at-risk' with acks=1: the caller is told at once, the visible end stays 1
SELECT produce('t', 0, NULL, 'at-risk', 1);
SELECT 'visible end ' || hw || ', log end ' || leo FROM hw_partitions;

.print -- broker 2 takes over: the topic holds only 'safe'
SELECT 'leader epoch ' || promote('t', 0, 2);
SELECT "offset", value FROM t;
SELECT rejoin('t', 0, 1);
SELECT 'broker ' || broker || ': log end ' || leo FROM hw_replicas;
