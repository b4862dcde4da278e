-- One event, and none of a partition.
SELECT add_broker(4);
