-- SPDX-License-Identifier: MIT
-- How did one record get its timestamp?
--
-- CreateTime: the producer says it, and each record has its own. LogAppendTime: the leader's clock when
-- the batch was appended, in the header, for all records of the batch; what the producer said stays in
-- the records and means nothing. Formats of before 0.10 have none. The files tell which it was.
.load ./highwater
.open exp.db
.load ./highwater
.mode list
.headers off
CREATE VIRTUAL TABLE said USING highwater();
CREATE VIRTUAL TABLE stamped USING highwater(message.timestamp.type=LogAppendTime);
SELECT tick(7000);
INSERT INTO said("timestamp", value) VALUES (5000, 'late'), (5003, 'later'), (NULL, 'by the clock');
INSERT INTO stamped("timestamp", value) VALUES (5000, 'late'), (5003, 'later');
SELECT shutdown_broker(broker) FROM (SELECT broker FROM hw_brokers ORDER BY broker);

.print -- the records of both topics
SELECT topic, "offset", value, "timestamp", timestamp_type FROM kafka_log('exp.db-highwater/broker-1')
 ORDER BY topic, "partition", "offset";

.print -- and their batches: base_timestamp is what the first record's producer said
SELECT topic, base_offset, base_timestamp, max_timestamp, timestamp_type FROM kafka_batches('exp.db-highwater/broker-1');

.print -- an old message, of magic 0
SELECT writefile('data/old-0/00000000000000000000.log', x'00000000000000000000000FD20CBFF50000FFFFFFFF0000000176');
SELECT b.magic, l.value, l."timestamp", coalesce(l.timestamp_type, 'no timestamps in this format')
  FROM kafka_log('data/old-0') AS l JOIN kafka_batches('data/old-0') AS b ON b.position = l.position;
