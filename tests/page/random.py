#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Writes a script of random calls for a cluster of three to five brokers, the same for a seed: tests/page.sh compares its page with the
tables after each of them. Calls that are refused are part of it.

usage: random.py SEED
"""

import random
import sys

chance = random.Random(int(sys.argv[1]))
brokers = chance.choice([3, 3, 4, 5])
some = lambda: chance.randint(1, brokers)
CALLS = [
    (8, lambda: f"produce('t', 0, 'k', 'v{chance.random()}', {chance.choice([chr(39) + 'all' + chr(39), 1, 0])})"),
    (6, lambda: "fetch_round('t')"),
    (5, lambda: f"fetch('t', 0, {some()})"),
    (3, lambda: f"tick({chance.choice([10, 400, 12000, 31000])})"),
    (2, lambda: f"crash({some()})"),
    (2, lambda: f"crash({some()}, 'power')"),
    (4, lambda: f"restart({some()})"),
    (2, lambda: f"shutdown_broker({some()})"),
    (2, lambda: f"promote('t', 0, {some()})"),
    (1, lambda: f"promote('t', 0, {some()}, 'unclean')"),
    (1, lambda: f"cut({some()}, {chance.choice([chr(39) + 'controller' + chr(39), some()])})"),
    (2, lambda: "heal()"),
    (1, lambda: f"delete_records('t', 0, {chance.choice([-1, 1, 3, 6])})"),
    (1, lambda: "roll('t')"),
    (1, lambda: f"reassign('t', 0, '{sorted(chance.sample(range(1, brokers + 1), 3))}')"),
    (2, lambda: "replicate('t')"),
]
for broker in range(4, brokers + 1):
    print(f"SELECT add_broker({broker});")
print("SELECT create_topic('t', 1, 3);")
for _ in range(120):
    print(f"SELECT {chance.choices([call for _, call in CALLS], [weight for weight, _ in CALLS])[0]()};")
