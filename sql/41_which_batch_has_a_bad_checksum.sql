-- SPDX-License-Identifier: MIT
-- Which batch has a bad checksum, what was in it, and is there a good copy?
--
-- Three brokers hold a partition. After a clean stop one bit of broker 2's file turns. The tables
-- over files say where, reading goes on behind it, and broker 3's file still has the records.
.load ./highwater
.open exp.db
.load ./highwater
.mode list
.headers off
CREATE VIRTUAL TABLE t USING highwater(replication.factor=3);
SELECT count(produce('t', 0, 'k' || value, 'value number ' || value)) FROM generate_series(1, 6);
SELECT replicate('t') > 0;
SELECT shutdown_broker(2), shutdown_broker(3);
CREATE TABLE place(file, good);
INSERT INTO place SELECT 'exp.db-highwater/broker-' || value || '/t-0/00000000000000000000.log', value = 3
  FROM generate_series(2, 3);

.print -- a bit turns in the fourth batch of broker 2
SELECT writefile(file, CAST(substr(bytes, 1, at) || char(unicode(substr(bytes, at + 1, 1)) + 1) ||
                            substr(bytes, at + 2) AS BLOB)) > 0
  FROM (SELECT file, readfile(file) AS bytes,
               instr(readfile(file), x'6e756d6265722034') AS at FROM place WHERE NOT good);

.print -- where
SELECT base_offset, last_offset, records, crc_ok FROM kafka_batches('exp.db-highwater/broker-2');
SELECT error FROM kafka_batches('exp.db-highwater/broker-2') WHERE NOT crc_ok;

.print -- the records around it are there; an error row stands for the batch
SELECT "offset", coalesce(value, '- see error -') FROM kafka_log('exp.db-highwater/broker-2');

.print -- what it held, by the bytes of broker 3 at the same place
SELECT g."offset", g.key, g.value
  FROM kafka_batches('exp.db-highwater/broker-2') AS b
  JOIN kafka_log('exp.db-highwater/broker-3') AS g
    ON g."offset" BETWEEN b.base_offset AND b.last_offset
 WHERE NOT b.crc_ok;
