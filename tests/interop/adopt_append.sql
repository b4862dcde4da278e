-- SPDX-License-Identifier: MIT
-- Go on in the broker's directories: two more copies of each, then records of ours, several segments.
SELECT reassign(topic, "partition", '[1,2,3]') FROM hw_partitions;
SELECT replicate();
CREATE TEMP TABLE number AS
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40) SELECT i FROM n;
SELECT count(produce(topic, "partition", 'highwater ' || i, printf('%.*c', i * 5, 'x'), 1,
                     json_object('headers', json_object('i', i), 'timestamp', 1800000000000 + i)))
  FROM hw_partitions, number;
SELECT replicate();
-- What the broker's producer has left open would hide all that comes.
SELECT abort_hanging(topic, "partition", txn_start_offset)
  FROM hw_producers JOIN hw_partitions USING (topic, "partition") WHERE broker = leader AND txn_start_offset IS NOT NULL;
SELECT replicate();
