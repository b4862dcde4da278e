/* SPDX-License-Identifier: MIT */
/*
 * What COMMIT does: sends the staged rows and waits until the cluster has acknowledged all of them.
 *
 *     without transactional.id   some rows may be in the log where COMMIT fails; the error counts
 *     with it                    all or none, for readers of committed records
 */
#ifndef LIVE_SEND_H
#define LIVE_SEND_H

#include "ext/live/live_session.h"

/*
 * Send the rows that were not sent yet. session->last and outcome then tell of them. Errors, after
 * which the connection's producer is a new one: HW_NO_MEMORY; HW_IO; HW_INTERRUPTED; HW_REFUSED with
 * Kafka's error of the first row that failed.
 */
enum hw_status live_send(struct live_session *session, struct hw_error *error);

#endif /* LIVE_SEND_H */
