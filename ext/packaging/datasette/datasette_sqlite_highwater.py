# SPDX-License-Identifier: MIT
"""
Gives every connection of Datasette what only looks: no function that has an effect, no cluster elsewhere, and
kafka_ tables only below the folder that the environment variable HIGHWATER_ROOT names.
"""

import sqlite_highwater
from datasette import hookimpl


@hookimpl
def prepare_connection(conn):
    sqlite_highwater.load(conn, restricted=True)
