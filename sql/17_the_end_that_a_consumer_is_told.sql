-- SPDX-License-Identifier: MIT
-- Can the end of a partition, as consumers are told it, go back?
--
-- KIP-207. A new leader has all that was committed, but of the high watermark it knows only what it
-- last heard. Asked for the latest offset it would have to name one that is smaller than what the
-- old leader named before: a consumer that then resets its position reads records twice. Until 2.1
-- it did: it answered its high watermark, hw in hw_partitions. Today it answers OFFSET_NOT_AVAILABLE
-- until that has reached its log end at the election. A SELECT, like a fetch, is not refused: it ends
-- at the high watermark.
.load ./highwater
.mode list
.headers off
CREATE VIRTUAL TABLE t USING highwater(replication.factor=3);

INSERT INTO t(value) VALUES ('a'), ('b');
SELECT replicate() > 0;
INSERT INTO t(value) VALUES ('c'), ('d'), ('e');
.print -- the followers copy the rest; the leader hears of it, and has not told them yet
SELECT fetch_round('t');
SELECT 'broker ' || broker || ': log end ' || leo || ', high watermark ' || hw FROM hw_replicas;
SELECT list_offsets('t', 0, 'latest');
SELECT count(*) FROM t;

.print -- broker 1 dies, broker 2 leads: it has all five, and knows that two are committed
SELECT crash(1), promote('t', 0, 2);
SELECT list_offsets('t', 0, 'latest');
SELECT leo, hw FROM hw_partitions;
SELECT count(*) FROM t;
.print -- where the partition begins is no secret
SELECT list_offsets('t', 0, 'earliest');

.print -- one fetch of broker 3 at 5 tells the new leader that it has them too
SELECT fetch('t', 0, 3);
SELECT list_offsets('t', 0, 'latest');
SELECT count(*) FROM t;
