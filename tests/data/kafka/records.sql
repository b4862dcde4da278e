-- SPDX-License-Identifier: MIT
-- Every record that a consumer gets, in the lines of tests/interop/java/Text.java with the topic in
-- front. source(path) is the log directory, bounds holds the lines of `offsets`.
SELECT l.topic || '#' || l."partition" || '|' || l."offset" || '|' || l."timestamp" || '|' ||
       l.leader_epoch || '|' || quote(l.key) || '|' || quote(l.value) || '|' || quote(l.headers) AS line
  FROM source AS s, kafka_log(s.path) AS l
  JOIN bounds AS b ON b.topic = l.topic AND b."partition" = l."partition" AND b.kind = 'records'
 WHERE l.control IS NULL AND l."offset" >= b.first
