/* SPDX-License-Identifier: MIT */
#include "ext/live/live_admin.h"

#include "ext/live/live_error.h"

void live_admin_begin(struct live_admin *admin, struct live_handle *handle, struct live_wait *wait)
{
    char text[LIVE_REASON_SIZE];

    *admin = (struct live_admin){.handle = handle,
                                 .wait = wait,
                                 .queue = rd_kafka_queue_new(handle->rk),
                                 .options =
                                     rd_kafka_AdminOptions_new(handle->rk, RD_KAFKA_ADMIN_OP_ANY)};
    (void)rd_kafka_AdminOptions_set_request_timeout(admin->options, wait->timeout_ms, text,
                                                    sizeof text);
}

enum hw_status live_admin_wait(struct live_admin *admin, const char *what, struct hw_error *error)
{
    enum hw_status status = HW_OK;
    rd_kafka_resp_err_t code;

    for (;;) {
        admin->event = rd_kafka_queue_poll(admin->queue, live_wait_slice_ms(admin->wait));
        if (admin->event != NULL) {
            break;
        }
        status = live_handle_retry(admin->handle, admin->wait, RD_KAFKA_RESP_ERR__TIMED_OUT, what,
                                   error);
        if (status != HW_OK) {
            return status;
        }
    }
    live_handle_poll(admin->handle, 0);
    code = rd_kafka_event_error(admin->event);
    if (code == RD_KAFKA_RESP_ERR__TIMED_OUT &&
        admin->handle->reason_code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return live_error_refuse(error, admin->handle->reason_code,
                                 "%s: no answer within %d ms: %s", what, admin->wait->timeout_ms,
                                 admin->handle->reason);
    }
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return live_error_refuse(error, code, "%s: %s", what,
                                 rd_kafka_event_error_string(admin->event));
    }
    live_handle_heard(admin->handle, admin->wait);
    return HW_OK;
}

void live_admin_end(struct live_admin *admin)
{
    if (admin->event != NULL) {
        rd_kafka_event_destroy(admin->event);
    }
    rd_kafka_AdminOptions_destroy(admin->options);
    rd_kafka_queue_destroy(admin->queue);
}
