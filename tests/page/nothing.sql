-- Nothing has happened: a page without events.
SELECT open_cluster(':memory:');
