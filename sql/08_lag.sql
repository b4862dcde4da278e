-- SPDX-License-Identifier: MIT
-- When does a follower leave the ISR, and when does it come back?
--
-- replica.lag.time.max.ms is 10 s. Broker 3 stops fetching while the leader gets data. Lag is the time
-- since it was last caught up, not the number of records. Once it is out, the high watermark does not
-- wait for it any more. It comes back with the fetch that reaches the leader's log end.
--
-- The leader looks every 5 s (half the limit), so a member leaves between 10 and 15 s after it was
-- last caught up; refresh_isr() is a look in between.
.load ./highwater
.mode list
.headers off
SELECT configure('replica.lag.time.max.ms', 10000);
CREATE VIRTUAL TABLE t USING highwater(replication.factor=3);
INSERT INTO t(value) VALUES ('a');
SELECT replicate('t') > 0;
SELECT isr, hw FROM hw_partitions;

.print -- the leader gets data, only broker 2 fetches
INSERT INTO t(value) VALUES ('b');
SELECT fetch('t', 0, 2), fetch('t', 0, 2);
SELECT isr, hw, leo FROM hw_partitions;

.print -- ten seconds: not late yet
SELECT tick(10000);
SELECT fetch('t', 0, 2);
SELECT refresh_isr('t');
SELECT isr, hw FROM hw_partitions;

.print -- twelve seconds: out, and the high watermark moves on
SELECT tick(2000);
SELECT refresh_isr('t');
SELECT isr, hw FROM hw_partitions;

.print -- it fetches, catches up and returns
SELECT fetch('t', 0, 3);
SELECT isr, hw FROM hw_partitions;
SELECT fetch('t', 0, 3);
SELECT isr, hw FROM hw_partitions;
