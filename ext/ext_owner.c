/* SPDX-License-Identifier: MIT */
#include "ext/ext_owner.h"

#include <sqlite3ext.h>
#include <stddef.h>

SQLITE_EXTENSION_INIT3

void ext_owner_retain(struct ext_owner *owner)
{
    owner->references++;
}

void ext_owner_release(struct ext_owner *owner)
{
    if (--owner->references == 0) {
        owner->destroy(owner);
    }
}

struct ext_client *ext_client_create(struct ext_owner *owner, const void *definition)
{
    struct ext_client *client = sqlite3_malloc64(sizeof *client);

    if (client != NULL) {
        *client = (struct ext_client){.owner = owner, .definition = definition};
        ext_owner_retain(owner);
    }
    return client;
}

void ext_client_destroy(void *argument)
{
    struct ext_client *client = argument;

    ext_owner_release(client->owner);
    sqlite3_free(client);
}
