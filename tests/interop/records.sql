-- SPDX-License-Identifier: MIT
-- Every record of every partition as its leader has it, in the lines of Text.java; in front of each
-- its topic.
SELECT p.topic || '#' || l."partition", l."offset", l."timestamp", l.leader_epoch,
       quote(l.key), quote(l.value), quote(l.headers)
  FROM hw_partitions AS p, hw_log(p.topic, p."partition", p.leader) AS l
 WHERE l.control IS NULL AND l."offset" >= p.log_start
 ORDER BY p.topic, l."partition", l."offset";
