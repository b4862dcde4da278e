-- SPDX-License-Identifier: MIT
-- What may become visible while fewer replicas than min.insync.replicas are left?
--
-- KIP-966. Three replicas, min.insync.replicas 2. Broker 3 leaves the ISR, then broker 2. The leader
-- still takes records with acks=1, and then it loses power.
--
--   kip-279  (and all of Kafka until 3.6) the high watermark goes by the ISR, however small: 12 and 13
--            are read by consumers, though only the leader has them. Then they are gone.
--   kafka    below min.insync.replicas the high watermark stands still. Nobody has seen 12 and 13.
--
-- With both rules the last member of the ISR is the only one that may lead, and 10 and 11 go with it,
-- which were acknowledged with acks=all and are on broker 2. That is what the other half of KIP-966,
-- the list of eligible leader replicas, is for: with eligible.leader.replicas.version=1 broker 2 may
-- lead, and the one that came back with less may not.
.load ./highwater
.mode list
.headers off

.print === kip-279
SELECT open_cluster(':memory:', '{"protocol":"kip-279","brokers":3}');
SELECT length(create_topic('t', 1, 3, '{"min.insync.replicas":2}')) > 0;
SELECT configure('request.timeout.ms', 100000);
SELECT count(produce('t', 0, NULL, 'r' || value, 'all')) FROM generate_series(0, 9);
SELECT replicate() > 0, flush();

.print -- broker 3 is cut off and leaves the ISR; 10 and 11 are acknowledged: 1 and 2 have them
SELECT cut(1, 3), produce('t', 0, NULL, 'r10', 'all'), produce('t', 0, NULL, 'r11', 'all');
SELECT replicate() > 0, tick(50000);
SELECT 'ISR ' || isr || ', log end ' || leo || ', high watermark ' || hw FROM hw_partitions;
SELECT count(*) || ' acknowledged with acks=all' FROM hw_acks WHERE status = 'acknowledged';
SELECT replicate() > 0;

.print -- so does broker 2; 12 and 13, with acks=1, are on the leader only
SELECT cut(1, 2), produce('t', 0, NULL, 'r12', 1), produce('t', 0, NULL, 'r13', 1);
SELECT tick(50000);
SELECT 'ISR ' || isr || ', log end ' || leo || ', high watermark ' || hw FROM hw_partitions;
SELECT 'a consumer may read below ' || list_offsets('t', 0, 'latest');

.print -- the last one in the ISR loses power, and what it had not flushed; the others may not lead
SELECT crash(1, 'power'), tick(10125);
SELECT promote('t', 0, 2);
SELECT heal(), restart(1), elect();
SELECT 'leader ' || leader || ', ISR ' || isr || ', log end ' || leo FROM hw_partitions;
SELECT replicate() > 0;
SELECT 'a consumer may read below ' || list_offsets('t', 0, 'latest');
SELECT count(*) || ' records acknowledged with acks=all are gone' FROM hw_acks
 WHERE acks = -1 AND status = 'acknowledged' AND base_offset >= (SELECT leo FROM hw_partitions);

.print === kafka
SELECT open_cluster(':memory:', '{"protocol":"kafka","brokers":3}');
SELECT length(create_topic('t', 1, 3, '{"min.insync.replicas":2}')) > 0;
SELECT configure('request.timeout.ms', 100000);
SELECT count(produce('t', 0, NULL, 'r' || value, 'all')) FROM generate_series(0, 9);
SELECT replicate() > 0, flush();

.print -- broker 3 is cut off and leaves the ISR; 10 and 11 are acknowledged: 1 and 2 have them
SELECT cut(1, 3), produce('t', 0, NULL, 'r10', 'all'), produce('t', 0, NULL, 'r11', 'all');
SELECT replicate() > 0, tick(50000);
SELECT 'ISR ' || isr || ', log end ' || leo || ', high watermark ' || hw FROM hw_partitions;
SELECT count(*) || ' acknowledged with acks=all' FROM hw_acks WHERE status = 'acknowledged';
SELECT replicate() > 0;

.print -- so does broker 2; 12 and 13, with acks=1, are on the leader only
SELECT cut(1, 2), produce('t', 0, NULL, 'r12', 1), produce('t', 0, NULL, 'r13', 1);
SELECT tick(50000);
SELECT 'ISR ' || isr || ', log end ' || leo || ', high watermark ' || hw FROM hw_partitions;
SELECT 'a consumer may read below ' || list_offsets('t', 0, 'latest');

.print -- the last one in the ISR loses power, and what it had not flushed; the others may not lead
SELECT crash(1, 'power'), tick(10125);
SELECT promote('t', 0, 2);
SELECT heal(), restart(1), elect();
SELECT 'leader ' || leader || ', ISR ' || isr || ', log end ' || leo FROM hw_partitions;
SELECT replicate() > 0;
SELECT 'a consumer may read below ' || list_offsets('t', 0, 'latest');
SELECT count(*) || ' records acknowledged with acks=all are gone' FROM hw_acks
 WHERE acks = -1 AND status = 'acknowledged' AND base_offset >= (SELECT leo FROM hw_partitions);

.print === kafka, eligible.leader.replicas.version=1
SELECT open_cluster(':memory:', '{"protocol":"kafka","brokers":3}');
SELECT configure('eligible.leader.replicas.version', 1);
SELECT length(create_topic('t', 1, 3, '{"min.insync.replicas":2}')) > 0;
SELECT configure('request.timeout.ms', 100000);
SELECT count(produce('t', 0, NULL, 'r' || value, 'all')) FROM generate_series(0, 9);
SELECT replicate() > 0, flush();

.print -- broker 3 is cut off and leaves the ISR; 10 and 11 are acknowledged: 1 and 2 have them
SELECT cut(1, 3), produce('t', 0, NULL, 'r10', 'all'), produce('t', 0, NULL, 'r11', 'all');
SELECT replicate() > 0, tick(50000);
SELECT 'ISR ' || isr || ', log end ' || leo || ', high watermark ' || hw FROM hw_partitions;
SELECT count(*) || ' acknowledged with acks=all' FROM hw_acks WHERE status = 'acknowledged';
SELECT replicate() > 0;

.print -- so does broker 2; 12 and 13, with acks=1, are on the leader only
SELECT cut(1, 2), produce('t', 0, NULL, 'r12', 1), produce('t', 0, NULL, 'r13', 1);
SELECT tick(50000);
SELECT 'ISR ' || isr || ', log end ' || leo || ', high watermark ' || hw FROM hw_partitions;
SELECT 'a consumer may read below ' || list_offsets('t', 0, 'latest');

.print -- the last one in the ISR loses power, and what it had not flushed; broker 2 has all that counts
SELECT crash(1, 'power'), tick(10125);
SELECT isr, elr FROM hw_partitions;
SELECT heal(), elect('t', 0);
SELECT restart(1);
SELECT 'leader ' || leader || ', ISR ' || isr || ', log end ' || leo FROM hw_partitions;
SELECT replicate() > 0;
SELECT 'a consumer may read below ' || list_offsets('t', 0, 'latest');
SELECT count(*) || ' records acknowledged with acks=all are gone' FROM hw_acks
 WHERE acks = -1 AND status = 'acknowledged' AND base_offset >= (SELECT leo FROM hw_partitions);
