-- SPDX-License-Identifier: MIT
-- What does a consumer see that reads from a follower?
--
-- Less: a follower shows records below its own high watermark (KIP-392), and that is one fetch behind
-- the leader's. Here the leader's is 1010 and the follower's 1008; the same SELECT on both.
.load ./highwater
.mode list
CREATE VIRTUAL TABLE t USING highwater(replication.factor=2);
INSERT INTO t(value) SELECT 'v' || value FROM generate_series(0, 1007);
SELECT replicate('t') > 0;
INSERT INTO t(value) VALUES ('v1008'), ('v1009');
.print -- one fetch takes the records, the next one tells the leader
SELECT fetch('t', 0, 2), fetch('t', 0, 2);

.headers on
SELECT broker, role, leo, hw FROM hw_replicas;
.headers off

.print -- the leader, and the follower
SELECT count(*), max("offset") FROM t;
SELECT count(*), max("offset") FROM t WHERE replica = 2;

.print -- with one more fetch the follower knows, too
SELECT fetch('t', 0, 2);
SELECT count(*), max("offset") FROM t WHERE replica = 2;
