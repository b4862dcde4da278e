-- SPDX-License-Identifier: MIT
-- The records of internal topics in the files of source(topic, path, name), in the lines that
-- decoded_printed.sql makes of what Kafka's tool prints: the state of a transaction by name, and of
-- the members of a classic group the ids only, since the tool reads on in what they brought along.
WITH record AS (
  SELECT s.topic, s.name AS file, l."offset", l.control_type, kafka_record(s.topic, l.key, l.value, 1) AS record
    FROM source s CROSS JOIN kafka_log(s.path) l),
said AS (
  SELECT file, "offset", record ->> '$.name' AS name, record ->> '$.type' AS type, record ->> '$.version' AS version,
         record -> '$.key' AS key, nullif(record -> '$.value', 'null') AS value, record ->> '$.error' AS error, topic,
         control_type IS NOT NULL AS is_control
    FROM record)
SELECT file || '|' || "offset" || '|' || coalesce(CASE
         WHEN is_control AND name IN ('ABORT', 'COMMIT') THEN 'control|' || name || '|' || (value ->> '$.coordinatorEpoch')
         WHEN is_control THEN 'control|' || value
         WHEN topic = '__cluster_metadata' THEN name || '|' || version || '|' || value
         ELSE type || '|' || key || '|' || coalesce(version, '') || '|' || coalesce(CASE
           WHEN name = 'TransactionLog' THEN json_set(value, '$.transactionStatus', CASE value ->> '$.transactionStatus'
             WHEN 0 THEN 'Empty' WHEN 1 THEN 'Ongoing' WHEN 2 THEN 'PrepareCommit' WHEN 3 THEN 'PrepareAbort'
             WHEN 4 THEN 'CompleteCommit' WHEN 5 THEN 'CompleteAbort' END)
           WHEN name = 'GroupMetadata' THEN json_remove(value, '$.members') ||
             (SELECT json_group_array(m.value ->> '$.memberId') FROM json_each(value, '$.members') m)
           ELSE value END, '') END, '?') || coalesce(' ' || error, '')
  FROM said;
