-- SPDX-License-Identifier: MIT
-- Index entries, aborted transactions and producers in snapshots, in the lines that
-- tests/interop/dump.awk makes of what Kafka's DumpLogSegments prints.
SELECT 'index|' || substr(i.file, length(s.path) + 2) || '|' || i."offset" || '|' || i.position AS line
  FROM source AS s, kafka_index(s.path) AS i
 WHERE i.ok AND i.error IS NULL
UNION ALL
SELECT 'timeindex|' || substr(t.file, length(s.path) + 2) || '|' || t."timestamp" || '|' || t."offset"
  FROM source AS s, kafka_timeindex(s.path) AS t
 WHERE t.ok AND t.error IS NULL
UNION ALL
SELECT 'aborted|' || substr(a.file, length(s.path) + 2) || '|' || a.producer_id || '|' ||
       a.first_offset || '|' || a.last_offset || '|' || a.last_stable_offset
  FROM source AS s, kafka_aborted(s.path) AS a
 WHERE a.error IS NULL
UNION ALL
SELECT 'producer|' || substr(p.file, length(s.path) + 2) || '|' || p.producer_id || '|' ||
       p.producer_epoch || '|' || coalesce(p.coordinator_epoch, -1) || '|' ||
       coalesce(p.txn_first_offset, -1) || '|' || p."timestamp" || '|' ||
       coalesce(p.last_sequence, -1) || '|' || coalesce(p.last_offset, -1) || '|' ||
       coalesce(p.offset_delta, 0)
  FROM source AS s, kafka_producers(s.path) AS p
 WHERE p.crc_ok AND p.error IS NULL
