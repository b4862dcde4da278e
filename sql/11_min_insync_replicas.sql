-- SPDX-License-Identifier: MIT
-- What does min.insync.replicas=2 refuse, and what does it hold back?
--
-- With three, two and one replica in sync. acks=all is refused below two, with nothing written; acks=1
-- is never refused. But below two nothing becomes visible either (KIP-966): otherwise the last replica
-- could show records that nobody else has, and a consumer would see them vanish.
.load ./highwater
.mode list
.headers off
CREATE VIRTUAL TABLE t USING highwater(replication.factor=3, min.insync.replicas=2);

.print === three in sync
SELECT produce('t', 0, NULL, 'a-1', 1);
SELECT produce('t', 0, NULL, 'a-all', 'all');
SELECT fetch_round('t');
SELECT isr, leo, hw, under_min_isr FROM hw_partitions;

.print === two: broker 3 is dead, and its session has ended
SELECT crash(3);
SELECT tick(10125);
SELECT produce('t', 0, NULL, 'b-1', 1);
SELECT produce('t', 0, NULL, 'b-all', 'all');
SELECT fetch_round('t');
SELECT isr, leo, hw, under_min_isr FROM hw_partitions;

.print === one: broker 2, too
SELECT crash(2);
SELECT tick(10125);
SELECT produce('t', 0, NULL, 'c-1', 1);
SELECT produce('t', 0, NULL, 'c-all', 'all');
SELECT fetch_round('t');
SELECT isr, leo, hw, under_min_isr FROM hw_partitions;
.print -- c-1 is in the log, and was acknowledged, but nobody sees it
SELECT "offset", value FROM t;

.print === broker 2 comes back
SELECT restart(2);
SELECT replicate('t') > 0;
SELECT isr, leo, hw, under_min_isr FROM hw_partitions;
SELECT "offset", value FROM t;
SELECT acks, status, count(*) FROM hw_acks GROUP BY 1, 2;
