-- A partition moves to a new broker with a quota on both sides, which holds its fetches back.
SELECT configure('replication', 'timed'), create_topic('t', 1, 3);
SELECT add_broker(4);
SELECT configure('leader.replication.throttled.rate', 20000), configure('follower.replication.throttled.rate', 20000);
SELECT configure('leader.replication.throttled.replicas', '*', 't'), configure('follower.replication.throttled.replicas', '*', 't');
SELECT count(produce('t', 0, 'k', printf('%.*c', 3000, 'x'), 1)) FROM generate_series(1, 20);
SELECT tick(3000);
SELECT reassign('t', 0, '[4,2,3]'), tick(20000);
