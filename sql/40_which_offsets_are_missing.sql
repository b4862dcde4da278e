-- SPDX-License-Identifier: MIT
-- Which offsets of a log are not records that a consumer gets, and why?
--
-- The partition is a file on disk, read without a broker. It has everything that makes offsets go:
-- a compacted batch, one that compaction emptied, a marker of a transaction, a hole of zeros where a
-- lost page was, a batch whose bytes have rotted, and a gap that a cleaned segment leaves.
--
-- The file is put together here from batches as Kafka writes them. Their checksum does not cover the
-- base offset, so a batch can be put anywhere: 7 zero bytes, and then the offset as a byte.
.load ./highwater
.mode list
.headers off
CREATE TABLE batch(name, bytes);
INSERT INTO batch VALUES
 ('two records', x'000000000000000000000043FFFFFFFF02EAC61E2A0000000000010000018BCFE568000000018BCFE56801FFFFFFFFFFFFFFFFFFFFFFFFFFFF00000002100000000104763000100002020104763100'),
 ('two of five', x'000000000000000000000043FFFFFFFF0209C8BBFB0000000000040000018BCFE568000000018BCFE56801FFFFFFFFFFFFFFFFFFFFFFFFFFFF00000002100000000104763000100002020104763100'),
 ('none of four', x'000000000000000000000031FFFFFFFF0240E4FC0A000000000003FFFFFFFFFFFFFFFF0000018BCFE56800FFFFFFFFFFFFFFFFFFFFFFFFFFFF00000000'),
 ('COMMIT', x'000000000000000000000042FFFFFFFF02495E372C0030000000000000000000001388000000000000138800000000000000070000FFFFFFFF000000012000000008000000010C00000000000700');
SELECT writefile('data/t-0/00000000000000000000.log', CAST(
   x'00000000000000' || char(0)  || (SELECT substr(bytes, 9) FROM batch WHERE name = 'two records') ||
   x'00000000000000' || char(2)  || (SELECT substr(bytes, 9) FROM batch WHERE name = 'two of five') ||
   x'00000000000000' || char(7)  || (SELECT substr(bytes, 9) FROM batch WHERE name = 'none of four') ||
   x'00000000000000' || char(11) || (SELECT substr(bytes, 9) FROM batch WHERE name = 'COMMIT') ||
   zeroblob(200) ||
   x'00000000000000' || char(20) || (SELECT substr(bytes, 9) FROM batch WHERE name = 'two records') ||
   x'00000000000000' || char(22) || (SELECT substr(bytes, 9, 59) || 'v9' || substr(bytes, 70)
                                       FROM batch WHERE name = 'two records') ||
   x'00000000000000' || char(24) || (SELECT substr(bytes, 9) FROM batch WHERE name = 'two records') ||
   x'00000000000000' || char(30) || (SELECT substr(bytes, 9) FROM batch WHERE name = 'two records')
   AS BLOB)) || ' bytes';

.print -- the batches, and what is between them
SELECT base_offset || '-' || coalesce(last_offset, '?'), records || ' records',
       CASE WHEN is_control THEN 'control' ELSE '' END, error
  FROM kafka_batches('data/t-0');

.print -- what a consumer gets
SELECT group_concat("offset", ' ') FROM kafka_log('data/t-0') WHERE error IS NULL AND control IS NULL;

.print -- what it does not get, and why
SELECT CASE WHEN first = last THEN first ELSE first || ' to ' || last END || ': ' || why
  FROM (SELECT base_offset AS first, last_offset AS last,
               CASE WHEN error IS NOT NULL THEN 'damaged: ' || error
                    WHEN is_control THEN 'a marker of a transaction'
                    WHEN records = 0 THEN 'all compacted away, but the batch is kept for its producer'
                    WHEN records < last_offset - base_offset + 1 THEN 'compacted: ' || records || ' of '
                         || (last_offset - base_offset + 1) || ' records are left'
               END AS why
          FROM kafka_batches('data/t-0')
         UNION ALL
        SELECT last_offset + 1, following - 1, 'there is no batch for them: compacted away, and the batch too'
          FROM (SELECT last_offset, lead(base_offset) OVER (ORDER BY position) AS following
                  FROM kafka_batches('data/t-0'))
         WHERE following > last_offset + 1)
 WHERE why IS NOT NULL
 ORDER BY first;
