/* SPDX-License-Identifier: MIT */
#include "ext/ext_probe.h"

#include <stddef.h>

SQLITE_EXTENSION_INIT3

bool ext_probe_is_interrupted(void *context)
{
    struct ext_probe *probe = context;
    int code = SQLITE_OK;

    if (probe->statement == NULL) {
        code = sqlite3_prepare_v2(probe->db, "SELECT 1", -1, &probe->statement, NULL);
    }
    code = code == SQLITE_OK ? sqlite3_step(probe->statement) : code;
    (void)sqlite3_reset(probe->statement);
    return code == SQLITE_INTERRUPT;
}

void ext_probe_release(struct ext_probe *probe)
{
    (void)sqlite3_finalize(probe->statement);
    probe->statement = NULL;
}
