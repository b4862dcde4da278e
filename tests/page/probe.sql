-- What the tables say now, as a line of JSON: tests/page.sh asks after each call of a script.
SELECT json_object(
    'seq', (SELECT max(seq) FROM hw_journal),
    'replicas', (SELECT json_group_array(json_array(topic, partition, broker, role, leader_epoch, log_start, leo, hw, in_isr)) FROM hw_replicas),
    'epochs', (SELECT json_group_array(json_array(topic, partition, broker, epoch, start_offset)) FROM hw_epochs),
    'partitions', (SELECT json_group_array(json_array(topic, partition, leader, leader_epoch, isr)) FROM hw_partitions),
    'pending', (SELECT json_group_array(json_array(topic, partition)) FROM hw_acks WHERE status = 'pending'));
