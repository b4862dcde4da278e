# SPDX-License-Identifier: MIT
"""
Replicated, Kafka-format topics as SQLite tables.

    import sqlite3, sqlite_highwater

    db = sqlite3.connect("exp.db")
    sqlite_highwater.load(db)
    db.execute("CREATE VIRTUAL TABLE orders USING highwater(replication.factor=3)")
"""

import os
from typing import Any

__version__ = "@VERSION@"
__all__ = ["load", "loadable_path"]

_RESTRICTED = "sqlite3_highwater_readonly_init"


def loadable_path() -> str:
    """The library, as load_extension() wants it: without its suffix, which SQLite adds."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "highwater")


def load(connection: Any, *, restricted: bool = False) -> None:
    """
    Load highwater into a connection of sqlite3, pysqlite3, apsw or sqlean; twice does no harm.

    restricted: only what looks. For hosts that run other people's SQL: see SECURITY.md.

    Loading of extensions is off afterwards.
    """
    enable = getattr(connection, "enable_load_extension", None) or getattr(connection, "enableloadextension", None)
    if enable is None:
        raise RuntimeError(
            "this Python's sqlite3 was built without loading of extensions: "
            "use the system's Python, or pip install apsw"
        )
    enable(True)
    try:
        if not restricted:
            connection.load_extension(loadable_path())
        elif hasattr(connection, "loadextension") or not hasattr(connection, "iterdump"):
            connection.load_extension(loadable_path(), _RESTRICTED)
        else:
            # The entry point is an argument of load_extension() only since Python 3.12.
            connection.execute("SELECT load_extension(?, ?)", (loadable_path(), _RESTRICTED)).fetchall()
    finally:
        enable(False)
