-- SPDX-License-Identifier: MIT
-- Does my configuration lose data?
--
-- For each combination of acks, min.insync.replicas, unclean elections, the ELR and what may fail, every way in which two
-- brokers can go on is tried, with one record, one fence of a broker that lives and one election: `exhausted` means that
-- none of them loses what was acknowledged, `acknowledged_kept` that the shortest one that does was found. A power loss
-- takes what was not flushed; with it and the ELR there are too many ways for a test.
.load ./highwater
.mode list
.headers on

CREATE TEMP TABLE combination AS
SELECT a.value AS acks, m.value AS min_isr, u.value AS unclean, e.value AS elr, p.value AS power_losses
FROM json_each('["1","all"]') a, json_each('[1,2]') m, json_each('["false","true"]') u, json_each('[0,1]') e,
     json_each('[0,1]') p
WHERE elr + power_losses < 2;

CREATE TEMP TABLE outcome AS
SELECT *, configure('min.insync.replicas', min_isr) || configure('unclean.leader.election.enable', unclean) ||
          configure('eligible.leader.replicas.version', elr) AS set_up,
       (SELECT coalesce(broken, result)
        FROM hw_explore(json_object('new', 2, 'acks', acks, 'records', 1, 'crashes', 0,
                                    'lossy_crashes', power_losses, 'checkpoints', 0,
                                    'promises', json_array('acknowledged_kept')))
        WHERE step IS NULL) AS outcome
FROM combination;

SELECT acks, min_isr, unclean, elr, power_losses, outcome FROM outcome;

.headers off
.print === with acks=all, an election that may be unclean loses only where one member is enough to acknowledge
SELECT outcome, group_concat(min_isr || ' ' || unclean, ', ') FROM outcome
WHERE acks = 'all' AND power_losses = 0 AND elr = 0 GROUP BY outcome;
