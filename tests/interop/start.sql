-- What kafka_files() says of the log directory in `source`: files that a start leaves there, under the
-- names that they have then, and those that it takes away. The cleaner and retention are at work in two topics.
CREATE TEMP TABLE told AS
  SELECT substr(f.file, length(source.path) + 1) AS name, kind, at_start, topic, "partition"
    FROM source, kafka_files(rtrim(source.path, '/')) AS f
   WHERE coalesce(topic, '') NOT IN ('compacted', 'grouped') AND kind NOT IN ('lock', 'delete');
DELETE FROM told WHERE (topic, "partition") IN (SELECT topic, "partition" FROM told WHERE kind = 'partition' AND at_start = 'renamed');
SELECT 'there|' || name FROM told WHERE at_start IN ('loaded', 'recovered', 'rebuilt', 'kept', 'ignored')
UNION
SELECT 'there|' || substr(name, 1, length(name) - length('.swap')) FROM told WHERE kind = 'swap' AND at_start = 'renamed'
UNION
SELECT 'gone|' || name FROM told
 WHERE at_start IN ('deleted', 'renamed') AND kind NOT IN ('snapshot', 'index', 'timeindex', 'txnindex');
