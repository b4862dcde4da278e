-- SPDX-License-Identifier: MIT
-- How do the partitions of one fetch share its answer?
--
-- A follower asks its leader for all its partitions with one request, and the answer has one limit,
-- replica.fetch.response.max.bytes, beside the limit of each partition. Here four partitions have two
-- batches of about 600 bytes each, an answer may have 1500 bytes, and 700 of each partition: two
-- batches. The limit of 700 cuts where it falls, so a part of the second batch comes along, which the
-- follower throws away, but it counts: with 1000 instead of 700, the 500 that one partition leaves of
-- the answer would be too few for another. Only the first partition that has records may pass the
-- limits, so that a batch larger than all of them gets through. Who went empty is answered first the
-- next time.
.load ./highwater
.mode list
.headers off
SELECT open_cluster(':memory:', '{"brokers":2}');
SELECT configure('replica.fetch.response.max.bytes', 1500), configure('replica.fetch.max.bytes', 700);
CREATE VIRTUAL TABLE t USING highwater(partitions=4, replication.factor=2);
.print -- broker 1 leads all four
SELECT count(promote('t', value, 1)) FROM generate_series(0, 3);
SELECT count(produce('t', value % 4, NULL, zeroblob(530), 1)) FROM generate_series(0, 7);
CREATE TEMP VIEW ends AS
SELECT 'broker 2 ends at ' || group_concat(leo, ' ') FROM hw_replicas WHERE broker = 2;

SELECT fetch_round('t');
SELECT * FROM ends;
SELECT fetch_round('t');
SELECT * FROM ends;
SELECT fetch_round('t');
SELECT * FROM ends;
SELECT fetch_round('t');
SELECT * FROM ends;

.print -- a batch of 5000 bytes on partition 0: it is given, and nothing else in that answer
SELECT produce('t', 0, NULL, zeroblob(5000), 1), produce('t', 1, NULL, zeroblob(530), 1);
SELECT fetch_round('t');
SELECT * FROM ends;
SELECT fetch_round('t');
SELECT * FROM ends;

.print -- after a small batch of another partition it has to wait for its turn
SELECT produce('t', 1, NULL, zeroblob(5000), 1), produce('t', 0, NULL, zeroblob(530), 1);
SELECT fetch_round('t');
SELECT * FROM ends;
SELECT fetch_round('t');
SELECT * FROM ends;
