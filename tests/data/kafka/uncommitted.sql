-- SPDX-License-Identifier: MIT
-- The records that a consumer does not get with read_committed, from the log alone: a transaction ends
-- at its producer's next marker; if that is ABORT, or if there is none and it is open, its records are
-- left out, and all that stands behind the start of an open one. Lines as in records.sql.
WITH batch AS MATERIALIZED (
  SELECT b.topic, b."partition", b.base_offset, b.producer_id
    FROM source AS s, kafka_batches(s.path) AS b
   WHERE b.is_transactional AND NOT b.is_control),
marker AS MATERIALIZED (
  SELECT l.topic, l."partition", l."offset", l.producer_id, l.control
    FROM source AS s, kafka_log(s.path) AS l
   WHERE l.control IN ('COMMIT', 'ABORT')),
fate AS MATERIALIZED (
  SELECT b.*, (SELECT m.control FROM marker AS m
                WHERE m.topic = b.topic AND m."partition" = b."partition"
                  AND m.producer_id = b.producer_id AND m."offset" > b.base_offset
                ORDER BY m."offset" LIMIT 1) AS outcome
    FROM batch AS b),
unstable AS MATERIALIZED (
  SELECT topic, "partition", min(base_offset) AS first FROM fate WHERE outcome IS NULL GROUP BY 1, 2)
SELECT l.topic || '#' || l."partition" || '|' || l."offset" || '|' || l."timestamp" || '|' ||
       l.leader_epoch || '|' || quote(l.key) || '|' || quote(l.value) || '|' || quote(l.headers) AS line
  FROM source AS s, kafka_log(s.path) AS l
  LEFT JOIN unstable AS u ON u.topic = l.topic AND u."partition" = l."partition"
 WHERE l.control IS NULL
   AND (coalesce(l."offset" >= u.first, 0)
        OR EXISTS (SELECT 1 FROM fate AS f
                    WHERE f.topic = l.topic AND f."partition" = l."partition"
                      AND f.base_offset = l.batch_base_offset AND f.outcome = 'ABORT'))
