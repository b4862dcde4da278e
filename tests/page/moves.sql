-- Nine brokers, partitions that move between them, a move that is cancelled, refusals, settings of a topic, a log that is cut short.
SELECT add_broker(id.value) FROM generate_series(4, 9) AS id;
SELECT create_topic('t', '[[1,2,3]]');
SELECT produce('t', 0, 'k' || value, 'v', 1) FROM generate_series(1, 12);
SELECT replicate('t');
SELECT reassign('t', 0, '[4,5,6]'), fetch_round('t');
SELECT produce('t', 0, NULL, 'while it moves', 'all');
SELECT replicate('t');
SELECT reassign('t', 0, '[7,8,9]'), reassign('t', 0, NULL), replicate('t');
SELECT reassign('t', 0, '[6,4,9]'), replicate('t'), replicate('t');
SELECT roll('t'), delete_records('t', 0, 7), fetch_round('t'), fetch_round('t');
SELECT produce('t', 0, NULL, 'pending', 'all'), produce('t', 0, NULL, 'not', 1), produce('t', 0, NULL, 'asked', 0);
SELECT crash(4), crash(9), tick(20000), replicate('t');
SELECT restart(4), restart(9), replicate('t');
