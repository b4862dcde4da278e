-- SPDX-License-Identifier: MIT
-- How much did each producer write in each minute?
--
-- Batches carry the id of their producer, their size and their largest timestamp, so no record has to
-- be decoded. A producer without idempotence has no id. Here two ids, as in a file from a broker.
.load ./highwater
.open exp.db
.load ./highwater
.mode list
.headers off
CREATE VIRTUAL TABLE t USING highwater();
SELECT count(produce('t', 0, 'k', 'v' || value, 1, json_object('timestamp', 1700000000000 + 20000 * value)))
  FROM generate_series(0, 9);
SELECT shutdown_broker(1);

.print -- batches and bytes a minute, of those without an id
SELECT strftime('%H:%M', max_timestamp / 1000, 'unixepoch') AS minute, coalesce(producer_id, 'no id') AS producer,
       count(*) || ' batches', sum(records) || ' records', sum(size_bytes) || ' bytes'
  FROM kafka_batches('exp.db-highwater/broker-1/t-0')
 WHERE crc_ok AND NOT is_control
 GROUP BY minute, producer ORDER BY minute, producer;

.print -- and of two transactional producers
CREATE TABLE batch(producer, bytes);
INSERT INTO batch VALUES
 (7, x'000000000000000000000043FFFFFFFF02FD9428540010000000010000018BCFE568000000018BCFE56801000000000000000700000000000100000002100000000104763000100002020104763100'),
 (8, x'000000000000000000000043FFFFFFFF029614ADB20010000000010000018BCFE568000000018BCFE56801000000000000000800000000000100000002100000000104763000100002020104763100');
SELECT writefile('data/u-0/00000000000000000000.log',
                 CAST(group_concat(x'00000000000000' || char(2 * value) || substr(bytes, 9), '') AS BLOB)) || ' bytes'
  FROM (SELECT value, bytes FROM generate_series(0, 4) JOIN batch ON producer = 7 + (value % 3 = 0) ORDER BY value);
SELECT strftime('%H:%M', max_timestamp / 1000, 'unixepoch') AS minute, producer_id,
       count(*) || ' batches', sum(records) || ' records', sum(size_bytes) || ' bytes'
  FROM kafka_batches('data/u-0')
 WHERE crc_ok AND NOT is_control
 GROUP BY minute, producer_id ORDER BY minute, producer_id;
