-- SPDX-License-Identifier: MIT
-- Every batch, in the lines that tests/interop/dump.awk makes of what Kafka's DumpLogSegments prints.
SELECT 'batch|' || substr(b.file, length(s.path) + 2) || '|' || b.position || '|' || b.size_bytes ||
       '|' || b.base_offset || '|' || b.last_offset || '|' || b.records || '|' || b.leader_epoch ||
       '|' || b.timestamp_type || '|' || b.max_timestamp || '|' || b.codec || '|' || b.crc || '|' ||
       coalesce(b.producer_id, -1) || '|' || coalesce(b.producer_epoch, -1) || '|' ||
       coalesce(b.base_sequence, -1) || '|' || b.is_transactional || '|' || b.is_control AS line
  FROM source AS s, kafka_batches(s.path) AS b
 WHERE b.crc_ok AND b.error IS NULL
