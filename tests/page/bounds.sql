-- The most replicas that a partition has, a topic that was deleted and made anew, and one that has a single record.
SELECT add_broker(id.value) FROM generate_series(4, 16) AS id;
SELECT create_topic('gone', 1, 3);
SELECT produce('gone', 0, 'k', 'v', 'all'), replicate('gone');
SELECT delete_topic('gone'), create_topic('gone', 1, 3);
SELECT create_topic('one', 1, 1);
SELECT produce('one', 0, 'k', 'v', 1);
SELECT create_topic('sixteen', 1, 16);
SELECT produce('sixteen', 0, 'k', 'v', 'all'), replicate('sixteen');
SELECT crash(1), tick(12000), promote('sixteen', 0, 9), replicate('sixteen'), restart(1), replicate('sixteen');
