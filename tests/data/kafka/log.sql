-- SPDX-License-Identifier: MIT
-- Every record in the files, control records too, in the lines that tests/interop/dump.awk makes.
SELECT 'record|' || l.topic || '-' || l."partition" || '|' || l."offset" || '|' || l.leader_epoch ||
       '|' || l."timestamp" || '|' || coalesce(length(CAST(l.key AS BLOB)), -1) || '|' ||
       coalesce(length(CAST(l.value AS BLOB)), -1) || '|' || coalesce(l.producer_id, -1) || '|' ||
       coalesce(l.producer_epoch, -1) || '|' || coalesce(l.sequence, -1) || '|' ||
       coalesce(l.control, '') AS line
  FROM source AS s, kafka_log(s.path) AS l
 WHERE l.crc_ok AND l.error IS NULL
