-- SPDX-License-Identifier: MIT
-- What does each fix of Kafka's protocol prevent?
--
-- The shortest run that breaks a promise under each earlier protocol, as the calls that do it: first followers cut their
-- logs to the high watermark (hw-truncation), then to where a leader epoch ends, asked once (kip-101), then asked until the
-- epochs meet (kip-279), and today fetches carry the epoch, and a leader that is none any more refuses them.
.load ./highwater
.mode list

.print === hw-truncation: told of a new leader, a follower cuts a record that was acknowledged, and is elected
SELECT configure('protocol', 'hw-truncation');
SELECT step, call, result, broken FROM hw_explore('{"new":3,"records":1,"crashes":0,"fences":0,"shrinks":0,"elections":2,"checkpoints":0,"promises":["acknowledged_kept"]}')
WHERE step IS NULL OR step > 0;

.print === kip-101: two logs have different records at an offset below both high watermarks
SELECT configure('protocol', 'kip-101');
SELECT step, call, result, broken FROM hw_explore('{"new":2,"crashes":0,"elections":2,"checkpoints":0,"promises":["acknowledged_kept","logs_agree_below_hw"]}')
WHERE step IS NULL OR step > 0;

.print === kip-279: a follower that does not say in which epoch it asks is answered by a leader of another one
SELECT configure('protocol', 'kip-279');
SELECT step, call, result, broken FROM hw_explore('{"new":3,"crashes":0,"fences":0,"shrinks":0,"elections":2,"checkpoints":0,"promises":["logs_agree_below_hw"]}')
WHERE step IS NULL OR step > 0;

.print === kafka: with the same bounds, neither
SELECT configure('protocol', 'kafka');
SELECT result, broken FROM hw_explore('{"new":2,"records":1,"crashes":0,"elections":2,"checkpoints":0,"promises":["acknowledged_kept","logs_agree_below_hw"]}')
WHERE step IS NULL;
SELECT result, broken FROM hw_explore('{"new":3,"crashes":0,"fences":0,"shrinks":0,"elections":2,"checkpoints":0,"promises":["logs_agree_below_hw"]}')
WHERE step IS NULL;

.print === without the ELR (KIP-966) the last replica standing loses power, and with it what two have had
SELECT step, call, result, broken FROM hw_explore('{"new":2,"records":1,"crashes":1,"lossy_crashes":1,"fences":0,"shrinks":0,"checkpoints":0,"promises":["acknowledged_kept"],"configs":{"min.insync.replicas":2}}')
WHERE step IS NULL OR step > 0;

.print === with it, not
SELECT result, broken FROM hw_explore('{"new":2,"records":1,"crashes":1,"lossy_crashes":1,"fences":0,"shrinks":0,"checkpoints":0,"promises":["acknowledged_kept"],"configs":{"min.insync.replicas":2,"eligible.leader.replicas.version":1}}')
WHERE step IS NULL;

.print === and in today's protocol: a leader that missed an epoch believes what it knew before it (core/explore/README.md)
SELECT step, call, result, broken FROM hw_explore('{"new":3,"records":1,"epochs":4,"crashes":0,"fences":0,"shrinks":0,"elections":3,"checkpoints":0,"promises":["acknowledged_kept"]}')
WHERE step IS NULL OR step > 0;
