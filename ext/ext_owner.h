/* SPDX-License-Identifier: MIT */
/*
 * What SQLite holds of a library while one of its functions, modules or tables is there: the session of
 * the connection, counted, and what was registered.
 */
#ifndef EXT_OWNER_H
#define EXT_OWNER_H

/* What a session begins with. Who makes it holds the first reference. */
struct ext_owner {
    int references;
    void (*destroy)(struct ext_owner *owner); /* When the last one is released. */
};

void ext_owner_retain(struct ext_owner *owner);
void ext_owner_release(struct ext_owner *owner);

/* What a function, or xConnect and xCreate of a module, are given. */
struct ext_client {
    struct ext_owner *owner;
    const void *definition; /* Static: which function or table it is. */
};

/* Holds a reference to the owner. NULL if there is no memory. SQLite calls the other one, also where
 * registering fails. */
struct ext_client *ext_client_create(struct ext_owner *owner, const void *definition);
void ext_client_destroy(void *client);

#endif /* EXT_OWNER_H */
