/* SPDX-License-Identifier: MIT */
/*
 * A message as JSON, as Kafka's own converters print it: names and order of message_fields.txt,
 * uuids as base64url of 22 characters, bytes as base64, fields that the version lacks and tagged
 * ones with their default left out.
 */
#ifndef HW_DECODE_MESSAGE_JSON_H
#define HW_DECODE_MESSAGE_JSON_H

#include "core/base/buffer.h"
#include "core/decode/message.h"

/* What a secret is shown as. */
#define HW_MESSAGE_SECRET "***"

/*
 * Whether the value of a config of this name is one that nobody should see: those of Kafka's type
 * PASSWORD, with any listener's prefix, and what is named like one. Names of others than Kafka's are
 * unknown, so a word in it is enough. Source: BrokerSecurityConfigs, SslConfigs, SaslConfigs.
 */
bool hw_config_is_secret(const uint8_t *name, size_t size);

/* Append the object of a message that is good; secret fields as HW_MESSAGE_SECRET, unless they are
 * to be shown. Errors: HW_NO_MEMORY. */
enum hw_status hw_message_append_json(const struct hw_message *message, bool shows_secrets,
                                      struct hw_buffer *json, struct hw_error *error);

#endif /* HW_DECODE_MESSAGE_JSON_H */
