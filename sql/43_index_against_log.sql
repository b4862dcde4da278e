-- SPDX-License-Identifier: MIT
-- What do the indexes of a log say against what the log says, and what if they lie?
--
-- An offset index has an entry every few KiB: the last offset of a batch, and where it begins. An
-- entry is damaged here. The tables say which; a look-up by offset finds its record all the same,
-- because what an index says is believed only if the log bears it out.
.load ./highwater
.open exp.db
.load ./highwater
.mode list
.headers off
CREATE VIRTUAL TABLE t USING highwater(index.interval.bytes=400);
SELECT count(produce('t', 0, 'k', printf('%0100d', value), 1, json_object('timestamp', 1000 * value)))
  FROM generate_series(1, 20);
SELECT shutdown_broker(1);
CREATE TABLE log AS SELECT 'exp.db-highwater/broker-1/t-0' AS dir,
                           'exp.db-highwater/broker-1/t-0/00000000000000000000.index' AS file;

.print -- entries and the batches that they point at
SELECT entry, i."offset", i.position, batch_last_offset, ok FROM log, kafka_index(dir) AS i;
.print -- the time index: the largest timestamp so far, and the batch that has it
SELECT entry, i."timestamp", i."offset", batch_max_timestamp, ok FROM log, kafka_timeindex(dir) AS i;

.print -- the second entry now says another offset, the third points into a batch
SELECT writefile(file, CAST(substr(bytes, 1, 8) || x'00000005' || substr(bytes, 13, 11) || x'55' ||
                            substr(bytes, 25) AS BLOB)) > 0
  FROM (SELECT file, readfile(file) AS bytes FROM log);
SELECT entry, i."offset", i.position, i.batch_last_offset, error FROM log, kafka_index(dir) AS i WHERE NOT ok;

.print -- and a look-up still finds what it looks for
SELECT count(*) || ' of 20' FROM generate_series(0, 19) AS s, log, kafka_log(dir) AS l WHERE l."offset" = s.value;
