-- SPDX-License-Identifier: MIT
-- What exactly does one fetch do?
--
-- A follower whose log ends at 1000 fetches from a leader that ends at 1051, while the high watermark
-- is 950. The answer carries the records 1000 to 1050 and the high watermark from before the question
-- was understood: 950. Each further fetch moves both sides by one step.
.load ./highwater
.mode list
.headers off
CREATE VIRTUAL TABLE t USING highwater(replication.factor=2);

-- Set the scene: 950 records that the leader knows the follower to have, 50 that it does not know of,
-- 51 that are new.
INSERT INTO t(value) SELECT 'a' || value FROM generate_series(0, 949);
SELECT fetch('t', 0, 2);
INSERT INTO t(value) SELECT 'b' || value FROM generate_series(950, 999);
SELECT fetch('t', 0, 2);
INSERT INTO t(value) SELECT 'c' || value FROM generate_series(1000, 1050);

.headers on
.print -- before: the follower will ask for 1000
SELECT role, leo, hw, known_leo FROM hw_replicas;

.print -- the first fetch: 51 records, offsets 1000 to 1050, and the high watermark 950
SELECT fetch('t', 0, 2) AS records;
SELECT role, leo, hw, known_leo FROM hw_replicas;

.print -- the second: no records; it tells the leader 1051 and brings back 1000
SELECT fetch('t', 0, 2) AS records;
SELECT role, leo, hw, known_leo FROM hw_replicas;

.print -- the third: both know
SELECT fetch('t', 0, 2) AS records;
SELECT role, leo, hw, known_leo FROM hw_replicas;
