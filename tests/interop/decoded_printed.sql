-- SPDX-License-Identifier: MIT
-- What Kafka's tool prints of internal topics, in the table printed(name, offset, key, value) as
-- decoded.awk makes it, in the lines that decoded.sql makes out of the files.
SELECT name || '|' || "offset" || '|' || CASE
         WHEN key = '' AND value GLOB 'endTxnMarker: *' THEN
           'control|' || replace(substr(value, 15), ' coordinatorEpoch: ', '|')
         WHEN key = '' AND instr(value, '{') > 1 THEN 'control|' || substr(value, instr(value, '{'))
         WHEN key = '' THEN (value ->> '$.type') || '|' || (value ->> '$.version') || '|' || (value -> '$.data')
         ELSE (key ->> '$.type') || '|' || (key -> '$.data') || '|' || coalesce(nullif(value, '<DELETE>') ->> '$.version', '') ||
           '|' || coalesce(CASE WHEN key ->> '$.type' = '2' THEN json_remove(value -> '$.data', '$.members') ||
             (SELECT json_group_array(m.value ->> '$.memberId') FROM json_each(value, '$.data.members') m)
             ELSE nullif(value, '<DELETE>') -> '$.data' END, '') END
  FROM printed;
