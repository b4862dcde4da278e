-- SPDX-License-Identifier: MIT
-- Where do two brokers' copies of one partition first differ: offset, epoch, byte?
--
-- Broker 1 leads epoch 0 and takes two records that nobody copies before it dies. Broker 2 is elected
-- and takes others at the same offsets. Their files are compared as they lie on disk, batch by batch;
-- the checksum covers the records, and the epoch stands beside it.
.load ./highwater
.open exp.db
.load ./highwater
.mode list
.headers off
CREATE VIRTUAL TABLE t USING highwater(replication.factor=2);
SELECT count(produce('t', 0, 'k', 'both have ' || value)) FROM generate_series(1, 4);
SELECT replicate('t') > 0;
SELECT produce('t', 0, 'k', 'only on 1'), produce('t', 0, 'k', 'that too');
SELECT crash(1), promote('t', 0, 2);
SELECT produce('t', 0, 'k', 'only on 2'), produce('t', 0, 'k', 'and this'), produce('t', 0, 'k', 'more');

.print -- the first difference
SELECT 'offset ' || coalesce(a.base_offset, b.base_offset) || ', byte ' || coalesce(a.position, b.position)
    || ': epoch ' || coalesce(a.leader_epoch, 'none') || ' on 1, ' || coalesce(b.leader_epoch, 'none') || ' on 2'
  FROM kafka_batches('exp.db-highwater/broker-1/t-0') AS a
  FULL JOIN kafka_batches('exp.db-highwater/broker-2/t-0') AS b USING (base_offset)
 WHERE a.crc IS NOT b.crc OR a.leader_epoch IS NOT b.leader_epoch
 ORDER BY coalesce(a.base_offset, b.base_offset) LIMIT 1;

.print -- record by record from there on
SELECT "offset", a.value, b.value
  FROM kafka_log('exp.db-highwater/broker-1/t-0') AS a
  FULL JOIN kafka_log('exp.db-highwater/broker-2/t-0') AS b USING ("offset")
 WHERE a.value IS NOT b.value
 ORDER BY "offset";

.print -- the epochs tell it without reading a record: epoch 0 ends at 4 on 2, at 6 on 1
SELECT 1 AS broker, epoch, start_offset, end_offset FROM kafka_epochs('exp.db-highwater/broker-1/t-0')
UNION ALL
SELECT 2, epoch, start_offset, end_offset FROM kafka_epochs('exp.db-highwater/broker-2/t-0');

.print -- kafka_diff() has all of it in one row, and where broker 1 would have to cut its log
SELECT verdict, first_offset, position_a, epoch_a, epoch_b, only_a, only_b, cut_a ->> '$.kafka'
  FROM kafka_diff('exp.db-highwater/broker-1', 'exp.db-highwater/broker-2');

.print -- when broker 1 is back it cuts its log there
SELECT restart(1), replicate('t') > 0;
SELECT count(*) || ' batches differ'
  FROM kafka_batches('exp.db-highwater/broker-1/t-0') AS a
  FULL JOIN kafka_batches('exp.db-highwater/broker-2/t-0') AS b USING (base_offset)
 WHERE a.crc IS NOT b.crc OR a.leader_epoch IS NOT b.leader_epoch;
