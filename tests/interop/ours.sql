-- SPDX-License-Identifier: MIT
-- Directories for Kafka's tool to look at: three brokers, several segments, leader epochs, a log
-- that was cut, a follower that was away, a log start, and a topic for every codec.
SELECT configure('batch.size', 1500), configure('replica.fetch.max.bytes', 4000);
CREATE VIRTUAL TABLE plain USING highwater(partitions=2, replication.factor=3, segment.bytes=20000,
                                           index.interval.bytes=1000);
CREATE VIRTUAL TABLE "append.time" USING highwater(message.timestamp.type=LogAppendTime,
                                                   replication.factor=3);
CREATE VIRTUAL TABLE gzip USING highwater(compression.type=gzip, replication.factor=3, segment.bytes=9000);
CREATE VIRTUAL TABLE snappy USING highwater(compression.type=snappy, replication.factor=3, segment.bytes=9000);
CREATE VIRTUAL TABLE lz4 USING highwater(compression.type=lz4, replication.factor=3, segment.bytes=9000);
CREATE VIRTUAL TABLE zstd USING highwater(compression.type=zstd, replication.factor=3, segment.bytes=9000);
CREATE TEMP TABLE numbers AS
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500) SELECT i FROM n;

INSERT INTO plain(partition, key, value, headers, timestamp)
SELECT i % 2, CASE WHEN i % 7 THEN 'key ' || i END, CASE WHEN i % 5 THEN 'value ' || i * i END,
       CASE WHEN i % 3 THEN '{"a":"1","a":null,"":{"hex":"FF00"}}' END,
       CASE WHEN i % 11 THEN 1700000000000 + i ELSE 1700000000000 - i END
  FROM numbers;
INSERT INTO "append.time"(key, value) SELECT i, 'value ' || i FROM numbers;
INSERT INTO gzip(key, value) SELECT i, 'value ' || i FROM numbers;
INSERT INTO snappy(key, value) SELECT i, 'value ' || i FROM numbers;
INSERT INTO lz4(key, value) SELECT i, 'value ' || i FROM numbers;
INSERT INTO zstd(key, value) SELECT i, 'value ' || i FROM numbers;
SELECT replicate();

-- Leaders lose what nobody copied, others follow: epochs, and logs that are cut.
SELECT produce('plain', partition, 'lost', printf('%.1000c', 'x'), 1) FROM hw_partitions
 WHERE topic = 'plain';
SELECT crash(1);
SELECT elect();
INSERT INTO plain(partition, key, value, timestamp)
SELECT i % 2, 'epoch', 'value ' || i, 1700000001000 + i FROM numbers WHERE i < 400;
SELECT replicate();
SELECT restart(1), replicate();
SELECT crash(2);
SELECT elect();
INSERT INTO plain(partition, key, value) SELECT i % 2, zeroblob(3), zeroblob(i) FROM numbers WHERE i < 100;
SELECT restart(2), replicate();
SELECT elect(NULL, NULL, 'preferred');
INSERT INTO plain(key, value) SELECT NULL, '' FROM numbers WHERE i < 10;
SELECT delete_records('plain', 1, 601);
SELECT roll('plain', 0);
SELECT replicate();

-- For transactions.sql, which comes behind.
CREATE VIRTUAL TABLE tx USING highwater(replication.factor=3, segment.bytes=3000, index.interval.bytes=300);
