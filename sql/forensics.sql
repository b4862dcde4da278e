-- SPDX-License-Identifier: MIT
-- What does a broker's disk know? Questions as views, over one setting:
--
--     .param set :dir "'/data/kafka-logs'"       a log directory; or a list: '["/disk1/logs","/disk2/logs"]'
--     .read sql/forensics.sql
--     SELECT * FROM damage;
--
-- Nothing is written, and nothing needs to run. The views are temporary: they go with the connection,
-- and read the setting each time. `.tables %` lists them; 50_first_five_minutes.sql asks all of them.
.load ./highwater
.param init

CREATE TEMP VIEW setting AS SELECT value AS dir FROM temp.sqlite_parameters WHERE key = ':dir';

-- 1. What lies here, how much, and how did the broker stop?
CREATE TEMP VIEW disk AS
SELECT d.topic, d."partition", d.state, d.segments, d.size_bytes, d.log_start, d.hw, d.leo, d.leo - d.hw AS above_hw,
       d.node_id, d.clean_shutdown, d.error
  FROM setting, kafka_dirs(setting.dir) d ORDER BY d.size_bytes DESC;

-- 2. Is anything damaged, and where?
CREATE TEMP VIEW damage AS
SELECT s.topic, s."partition", s.base_offset, s.damaged, s.trailing_bytes, s.file, s.error
  FROM setting, kafka_segments(setting.dir) s WHERE s.damaged > 0 OR s.error IS NOT NULL;

-- 3. Which entries of indexes are wrong? Kafka looks where they point.
CREATE TEMP VIEW wrong_indexes AS
SELECT i.topic, i."partition", i.entry, i.file, i.error FROM setting, kafka_index(setting.dir) i WHERE NOT i.ok
 UNION ALL
SELECT i.topic, i."partition", i.entry, i.file, i.error FROM setting, kafka_timeindex(setting.dir) i WHERE NOT i.ok;

-- 4. Which partitions had no leader, too few in sync, or a leader that was elected uncleanly?
CREATE TEMP VIEW trouble AS
SELECT p.topic, p."partition", p.leader, p.replicas, p.isr, p.elr,
       CASE WHEN p.leader IS NULL THEN 'no leader' WHEN p.recovering THEN 'unclean leader' ELSE 'under-replicated' END AS what,
       datetime(p.changed_ms / 1000, 'unixepoch') AS since
  FROM setting, kafka_partitions_at(setting.dir) p
 WHERE p.leader IS NULL OR p.recovering OR json_array_length(p.isr) < json_array_length(p.replicas);

-- 5. Who led, and when did that change?
CREATE TEMP VIEW leaders AS
SELECT datetime(h.timestamp / 1000, 'unixepoch') AS at, h."offset", h.topic, h."partition", h.previous_leader, h.leader,
       h.leader_epoch, h.isr
  FROM setting, kafka_leader_history(setting.dir) h ORDER BY h."offset" DESC;

-- 6. When did brokers come, go and change?
CREATE TEMP VIEW brokers AS
SELECT datetime(m.timestamp / 1000, 'unixepoch') AS at, m."offset", m.type, coalesce(m.fields ->> '$.brokerId', m.fields ->> '$.id') AS broker,
       m.fields ->> '$.fenced' AS fenced, m.fields ->> '$.inControlledShutdown' AS shutting_down
  FROM setting, kafka_metadata(setting.dir) m
 WHERE m.type IN ('REGISTER_BROKER_RECORD', 'UNREGISTER_BROKER_RECORD', 'FENCE_BROKER_RECORD', 'UNFENCE_BROKER_RECORD',
                  'BROKER_REGISTRATION_CHANGE_RECORD');

-- 7. Which configs were set, when, from what to what? NULL: back to the default.
CREATE TEMP VIEW configs AS
SELECT datetime(timestamp / 1000, 'unixepoch') AS at, "offset", resource_type, resource, name,
       lag(value) OVER (PARTITION BY resource_type, resource, name ORDER BY "offset") AS previous, value
  FROM (SELECT m.timestamp, m."offset", m.fields ->> '$.resourceType' AS resource_type, m.fields ->> '$.resourceName' AS resource,
               m.fields ->> '$.name' AS name, m.fields ->> '$.value' AS value
          FROM setting, kafka_metadata(setting.dir) m WHERE m.type = 'CONFIG_RECORD');

-- 8. Which topics should be here and are not, or are here and should not?
CREATE TEMP VIEW strays AS
WITH here AS MATERIALIZED (SELECT d.dir, d.topic, d."partition", d.topic_id, d.node_id FROM setting, kafka_dirs(setting.dir) d),
     known AS MATERIALIZED (SELECT p.topic, p."partition", p.topic_id, p.replicas FROM setting, kafka_partitions_at(setting.dir) p
                             WHERE p.topic IS NOT NULL)
SELECT dir, topic, "partition", topic_id, 'the metadata does not know this topic id' AS what FROM here
 WHERE topic <> '__cluster_metadata' AND topic_id IS NOT NULL AND EXISTS (SELECT 1 FROM known)
   AND topic_id NOT IN (SELECT topic_id FROM known)
 UNION ALL
SELECT NULL, topic, "partition", topic_id, 'a replica of this broker has no directory' FROM known
 WHERE EXISTS (SELECT 1 FROM json_each(known.replicas) r WHERE r.value IN (SELECT node_id + 0 FROM here))
   AND (topic, "partition") NOT IN (SELECT topic, "partition" FROM here WHERE topic IS NOT NULL);

-- 9. How far are consumer groups, and how far behind?
CREATE TEMP VIEW lag AS
SELECT o."group", o.topic, o."partition", o."offset", o.log_end, o.lag, o.state,
       datetime(o.commit_timestamp / 1000, 'unixepoch') AS committed
  FROM setting, kafka_offsets(setting.dir) o ORDER BY o.lag DESC;

-- 10. Which offsets went back, or away? An expired, a deleted and a reset one look so.
CREATE TEMP VIEW offsets_lost AS
SELECT datetime(record_timestamp / 1000, 'unixepoch') AS at, "group", topic, "partition", previous, "offset" AS now, state
  FROM (SELECT o.*, lag(o."offset") OVER (PARTITION BY o."group", o.topic, o."partition" ORDER BY o.record_offset) AS previous
          FROM setting, kafka_offsets(setting.dir, 1) o WHERE o.state IN ('committed', 'deleted') AND o.error IS NULL)
 WHERE previous IS NOT NULL AND ("offset" IS NULL OR "offset" < previous);

-- 11. Which groups are there, and who is in them?
CREATE TEMP VIEW groups AS
SELECT g."group", g.type, g.state, g.epoch, g.members,
       (SELECT group_concat(coalesce(m.value ->> '$.clientId', m.value ->> '$.metadata.clientId'), ' ')
          FROM json_each(g.member_list) m) AS clients
  FROM setting, kafka_groups(setting.dir) g;

-- 12. Which transactions are open, by the logs? Nobody behind them is read by read_committed. One that no coordinator here
-- knows of hangs, or belongs to a coordinator on another broker.
CREATE TEMP VIEW open_transactions AS
SELECT o.topic, o."partition", o.producer_id, o.first_offset, o.records, t.transactional_id, t.state AS coordinator
  FROM (SELECT topic, "partition", producer_id, min(base_offset) AS first_offset, sum(records) AS records
          FROM (SELECT b.topic, b."partition", b.producer_id, b.base_offset, b.records, b.is_control,
                       max(iif(b.is_control, b.base_offset, -1)) OVER (PARTITION BY b.topic, b."partition", b.producer_id) AS ended
                  FROM setting, kafka_batches(setting.dir) b WHERE b.is_transactional)
         WHERE NOT is_control AND base_offset > ended GROUP BY topic, "partition", producer_id) o
       LEFT JOIN (SELECT t.* FROM setting, kafka_transactions(setting.dir) t) t
         ON t.producer_id = o.producer_id AND t.state NOT IN ('Empty', 'CompleteCommit', 'CompleteAbort');

-- 13. Which transactional ids were in the middle of something?
CREATE TEMP VIEW unfinished AS
SELECT t.transactional_id, t.producer_id, t.state, t.partitions, datetime(t.start_timestamp / 1000, 'unixepoch') AS since
  FROM setting, kafka_transactions(setting.dir) t WHERE t.state NOT IN ('Empty', 'CompleteCommit', 'CompleteAbort');

-- 14. What would a start of the broker cut, rebuild, delete or refuse? Ask before anybody starts it.
CREATE TEMP VIEW start AS
SELECT r.topic, r."partition", r.file, r.problem, r.action, r.bytes_cut, r.first_lost_offset, r.records_lost, r.leo, r.error
  FROM setting, kafka_recovery(setting.dir) r WHERE r.action <> 'nothing' ORDER BY r.records_lost DESC, r.bytes_cut DESC;

-- 15. Where does another copy differ, another broker's or one from before? `.param set :copy` says where it lies. And what would be
-- cut of either, if the other one led? (Kafka 0.11 to 1.1: '$.kip-101'.)
CREATE TEMP VIEW copies AS
SELECT d.topic, d."partition", d.verdict, d.ahead, d.first_offset, d.only_a_records AS only_here, d.only_b_records AS only_there,
       d.cut_a ->> '$.kafka' AS cut_here, d.cut_b ->> '$.kafka' AS cut_there, d.error
  FROM setting, temp.sqlite_parameters c, kafka_diff(setting.dir, c.value) d
 WHERE c.key = ':copy' AND (d.verdict IS NOT 'same' OR d.error IS NOT NULL);
