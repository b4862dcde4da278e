-- SPDX-License-Identifier: MIT
-- How does a leader know how far its followers are?
--
-- Only by their fetches: a follower that asks for offset n has everything below n. So what the leader
-- knows of a log end (known_leo) runs one fetch behind the log end itself (leo).
.load ./highwater
.mode list
.nullvalue NULL
CREATE VIRTUAL TABLE t USING highwater(replication.factor=3);

-- 1008 records that all have, one that broker 2 has too, one that only the leader has.
INSERT INTO t(value) SELECT 'v' || value FROM generate_series(1, 1008);
SELECT fetch('t', 0, 2), fetch('t', 0, 3);
INSERT INTO t(value) VALUES ('v1009');
SELECT fetch('t', 0, 2);
INSERT INTO t(value) VALUES ('v1010');

.print -- log ends 1010, 1009, 1008: lag 0, 1, 2; known is what each said last
.headers on
SELECT broker, role, leo, lag, known_leo FROM hw_replicas;
.headers off

.print -- broker 3 asks once more: it asks at 1008, and has 1010 afterwards
SELECT fetch('t', 0, 3);
SELECT broker, leo, lag, known_leo FROM hw_replicas WHERE broker = 3;

.print -- with its next question the leader knows
SELECT fetch('t', 0, 3);
SELECT broker, leo, lag, known_leo FROM hw_replicas WHERE broker = 3;
