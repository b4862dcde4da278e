-- SPDX-License-Identifier: MIT
-- What a reader of read_committed gets of topic tx, in the lines of records.sql.
CREATE VIRTUAL TABLE temp.committed USING highwater(topic=tx);
SELECT 'tx#' || "partition", "offset", "timestamp", leader_epoch, quote(key), quote(value), quote(headers)
  FROM committed WHERE isolation = 'read_committed';
