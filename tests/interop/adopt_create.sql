-- SPDX-License-Identifier: MIT
-- Topics of ours by the names and with the settings of the broker's, one replica each, to lay its
-- directories into. The table `told` holds the leader epoch that they are to have next, above all
-- that is in the directories.
CREATE TEMP TABLE topic(name, partitions, configs);
INSERT INTO topic VALUES
  ('plain', 2, '{}'), ('codecs', 1, '{}'), ('trimmed', 1, '{}'), ('keyed', 4, '{}'),
  ('recompressed', 1, '{"compression.type":"gzip"}'),
  ('append-time', 1, '{"message.timestamp.type":"LogAppendTime"}'),
  ('tx', 1, '{"segment.bytes":3000}'),
  ('compacted', 1, '{"segment.bytes":3000}'),
  ('rolled.by-time', 1, '{"segment.ms":1000}'),
  ('rolled.by-index', 1, '{"segment.index.bytes":48,"index.interval.bytes":0}'),
  ('big', 1, '{"segment.bytes":1048576,"segment.index.bytes":10485760,"index.interval.bytes":4096}');
SELECT create_topic(name, partitions, 1,
                    json_patch('{"segment.bytes":8192,"segment.index.bytes":1200,
                                 "index.interval.bytes":300,"retention.ms":-1}', configs))
  FROM topic;
WITH RECURSIVE epoch(number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM epoch, told
                                  WHERE number < leader_epoch)
SELECT promote(topic, "partition", leader) FROM epoch, hw_partitions;
SELECT DISTINCT leader_epoch FROM hw_partitions;
