-- SPDX-License-Identifier: MIT
-- Does my configuration lose data?
--
-- One statement, 48 answers: for each combination of acks, min.insync.replicas, unclean elections and the ELR (KIP-966), and
-- for what may fail, every way in which two brokers can go on is tried, with one record and one election: `kept` means that
-- none of them loses what was acknowledged; a number is how many calls the shortest one that loses it takes. A broker that
-- is fenced lives, but the controller takes it for dead; who loses power loses what was not flushed, and comes back with less.
.load ./highwater
.mode list
.headers on

CREATE TEMP TABLE answer AS
SELECT a.value AS acks, m.value AS min_isr, u.value AS unclean, e.value AS elr, f.key AS what_fails,
       (SELECT CASE result WHEN 'exhausted' THEN 'kept' WHEN 'violated' THEN steps ELSE result END
        FROM (SELECT result, step, max(step) OVER () AS steps
              FROM hw_explore(json_object('new', 2, 'acks', a.value, 'records', 1, 'crashes', 0, 'checkpoints', 0,
                                          'fences', f.value ->> 0, 'lossy_crashes', f.value ->> 1,
                                          'promises', json_array('acknowledged_kept'),
                                          'configs', json_object('min.insync.replicas', m.value,
                                                                 'unclean.leader.election.enable', u.value,
                                                                 'eligible.leader.replicas.version', e.value))))
        WHERE step IS NULL) AS loses_in
FROM json_each('["1","all"]') a, json_each('[1,2]') m, json_each('["false","true"]') u, json_each('[0,1]') e,
     json_each('{"a broker is fenced":[1,0],"a power loss":[0,1],"two power losses":[0,2]}') f;

SELECT acks, min_isr, unclean, elr,
       max(loses_in) FILTER (WHERE what_fails = 'a broker is fenced') AS 'a broker is fenced',
       max(loses_in) FILTER (WHERE what_fails = 'a power loss') AS 'a power loss',
       max(loses_in) FILTER (WHERE what_fails = 'two power losses') AS 'two power losses'
FROM answer GROUP BY acks, min_isr, unclean, elr ORDER BY acks, min_isr, unclean, elr;

.headers off
.print === what never loses: all have acks=all; a power loss takes the second copy, and the ELR to remember who has it
SELECT what_fails, acks, min_isr, unclean, elr FROM answer WHERE loses_in = 'kept' ORDER BY what_fails, min_isr, unclean, elr;

.print === and how many of the 48
SELECT count(*), count(*) FILTER (WHERE loses_in = 'kept') FROM answer;
