-- SPDX-License-Identifier: MIT
-- acks=0, 1 and all: what does each caller know, and what does it have when the leader dies?
--
-- Three replicas. Before the first round nobody but the leader has a record; after it everybody does,
-- and the leader knows. Then three more records follow, and the leader dies before anybody fetched
-- them: what acks=1 had been told is lost, what acks=all waits for was never promised.
.load ./highwater
.mode list
.nullvalue NULL
.headers off
CREATE VIRTUAL TABLE t USING highwater(replication.factor=3, min.insync.replicas=2);

SELECT produce('t', 0, NULL, 'none-1', 0);
SELECT produce('t', 0, NULL, 'one-1', 1);
SELECT produce('t', 0, NULL, 'all-1', 'all');

.print -- before the first round
SELECT base_offset, acks, status FROM hw_acks;
SELECT 'visible: ' || count(*) FROM t;

.print -- after it
SELECT fetch_round('t');
SELECT base_offset, acks, status FROM hw_acks;
SELECT 'visible: ' || count(*) FROM t;

.print -- three more, and the leader dies right after
SELECT produce('t', 0, NULL, 'none-2', 0);
SELECT produce('t', 0, NULL, 'one-2', 1);
SELECT produce('t', 0, NULL, 'all-2', 'all');
SELECT crash(1);
SELECT count(*) FROM t;
SELECT 'leader epoch ' || promote('t', 0, 2);
SELECT base_offset, acks, status, error FROM hw_acks;

.print -- what the new leader has, once its follower has confirmed it
SELECT replicate('t') > 0;
SELECT "offset", value FROM t;
