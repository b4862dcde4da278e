-- SPDX-License-Identifier: MIT
-- What our tables say of one broker's logs, in the lines that dump.awk and summary.awk make of the
-- directories. The table `broker` holds its id.
SELECT 'start|' || topic || '-' || "partition", log_start
  FROM hw_replicas WHERE broker = (SELECT id FROM broker);

SELECT 'record|' || r.topic || '-' || r."partition", l."offset", l.leader_epoch, l."timestamp",
       coalesce(length(CAST(l.key AS BLOB)), -1), coalesce(length(CAST(l.value AS BLOB)), -1),
       coalesce(l.producer_id, -1), coalesce(l.producer_epoch, -1), coalesce(l.sequence, -1),
       coalesce(l.control, '')
  FROM hw_replicas AS r, hw_log(r.topic, r."partition", r.broker) AS l
 WHERE r.broker = (SELECT id FROM broker) AND l."offset" >= r.log_start;

SELECT 'segment|' || topic || '-' || "partition", base_offset, next_offset, size_bytes,
       index_entries, max_timestamp
  FROM hw_segments WHERE broker = (SELECT id FROM broker) AND size_bytes > 0;

-- A leader enters its epoch before it appends anything; the log knows only those with records.
SELECT 'epoch|' || topic || '-' || "partition", epoch, start_offset, end_offset
  FROM hw_epochs WHERE broker = (SELECT id FROM broker) AND end_offset > start_offset;
