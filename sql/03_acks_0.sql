-- SPDX-License-Identifier: MIT
-- What does a producer know that asks for no answer?
--
-- acks=0 on a topic with one replica: the call returns NULL, for the producer is told nothing. The
-- record is in the log all the same, and since nobody else has to copy it, it is committed.
.load ./highwater
.mode list
.nullvalue NULL
CREATE VIRTUAL TABLE t USING highwater(replication.factor=1);

SELECT produce('t', 0, 'k', 'fire and forget', 0);
SELECT 'log end ' || leo FROM hw_partitions;
SELECT "offset", key, value FROM t;
SELECT acks, status, error FROM hw_acks;
