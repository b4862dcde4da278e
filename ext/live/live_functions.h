/* SPDX-License-Identifier: MIT */
/* The SQL functions: live_connect() and so on. All are for statements that a person writes alone. */
#ifndef LIVE_FUNCTIONS_H
#define LIVE_FUNCTIONS_H

#include "ext/live/live_session.h"

/* Returns a code of SQLite; after an error, some may be registered. */
int live_functions_register(struct live_session *session);
void live_functions_unregister(sqlite3 *db);

#endif /* LIVE_FUNCTIONS_H */
