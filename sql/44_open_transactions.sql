-- SPDX-License-Identifier: MIT
-- Which transactions of a log are open, which were aborted, and what holds read_committed consumers back?
--
-- A file with the batches of two transactional producers, as Kafka writes them, and no other file
-- beside it: no index, no snapshot, no broker. What they did follows from the batches alone.
.load ./highwater
.mode list
.headers off
CREATE TABLE batch(producer, what, bytes);
INSERT INTO batch VALUES
 (7, 'data', x'0000000000000000000000430000000002FD9428540010000000010000018BCFE568000000018BCFE56801000000000000000700000000000100000002100000000104763000100002020104763100'),
 (7, 'COMMIT', x'0000000000000000000000420000000002495E372C0030000000000000000000001388000000000000138800000000000000070000FFFFFFFF000000012000000008000000010C00000000000700'),
 (7, 'ABORT', x'0000000000000000000000420000000002BD60E1640030000000000000000000001388000000000000138800000000000000070000FFFFFFFF000000012000000008000000000C00000000000700'),
 (8, 'data', x'00000000000000000000004300000000029614ADB20010000000010000018BCFE568000000018BCFE56801000000000000000800000000000100000002100000000104763000100002020104763100'),
 (NULL, 'data', x'0000000000000000000000430000000002EAC61E2A0000000000010000018BCFE568000000018BCFE56801FFFFFFFFFFFFFFFFFFFFFFFFFFFF00000002100000000104763000100002020104763100');
CREATE TABLE written(base, producer, what);
INSERT INTO written VALUES (0, 7, 'data'), (2, 7, 'COMMIT'), (3, 7, 'data'), (5, 8, 'data'),
                           (7, 7, 'data'), (9, 7, 'ABORT'), (10, NULL, 'data');
SELECT writefile('data/t-0/00000000000000000000.log',
                 CAST(group_concat(x'00000000000000' || char(base) || substr(bytes, 9), '') AS BLOB)) || ' bytes'
  FROM (SELECT base, bytes FROM written JOIN batch USING (what) WHERE written.producer IS batch.producer ORDER BY base);

.print -- the log
SELECT "offset", producer_id, coalesce(control, value), visibility FROM kafka_log('data/t-0');

.print -- transactions: each begins with a producer's first batch behind its last marker
WITH step AS (SELECT base_offset, last_offset, producer_id, is_control,
                     count(*) FILTER (WHERE is_control) OVER (PARTITION BY producer_id ORDER BY base_offset
                                      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS number
                FROM kafka_batches('data/t-0') WHERE is_transactional),
     txn AS (SELECT producer_id, min(base_offset) AS first, max(base_offset) AS last
               FROM step GROUP BY producer_id, number),
     marker AS (SELECT "offset", control FROM kafka_log('data/t-0') WHERE control IS NOT NULL)
SELECT 'producer ' || producer_id || ' from ' || first || ': ' || coalesce(control || ' at ' || last, 'open')
  FROM txn LEFT JOIN marker ON "offset" = last ORDER BY first;

.print -- read_committed consumers wait at the first open one
SELECT 'last stable offset: ' || min("offset") FROM kafka_log('data/t-0') WHERE visibility = 'above_lso';
