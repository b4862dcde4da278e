-- SPDX-License-Identifier: MIT
-- Where each partition begins and ends for a consumer that was asked for it, in the lines of `offsets`.
SELECT d.topic || '|' || d."partition" || '|records|' || d.log_start || '|' || d.hw AS line
  FROM source AS s, kafka_dirs(s.path) AS d
  JOIN bounds AS b ON b.topic = d.topic AND b."partition" = d."partition" AND b.kind = 'records'
