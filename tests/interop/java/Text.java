/* SPDX-License-Identifier: MIT */

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;

/** Records as the lines that SQL prints for them. */
final class Text {
    private static final HexFormat HEX = HexFormat.of().withUpperCase();

    private Text() {}

    /** The bytes as a string where they are UTF-8 without NUL, else null. */
    private static String decode(byte[] bytes) {
        try {
            String text =
                StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
            return text.indexOf('\0') < 0 ? text : null;
        } catch (CharacterCodingException e) {
            return null;
        }
    }

    private static String quote(String text) {
        return "'" + text.replace("'", "''") + "'";
    }

    /** What SQL's quote() makes of a key or a value. */
    static String quote(byte[] bytes) {
        if (bytes == null) {
            return "NULL";
        }
        String text = decode(bytes);
        return text == null ? "X'" + HEX.formatHex(bytes) + "'" : quote(text);
    }

    private static String jsonString(String text) {
        StringBuilder json = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (c < ' ') {
                json.append(String.format("\\u%04x", (int) c));
            } else {
                json.append(c);
            }
        }
        return json.append('"').toString();
    }

    private static String jsonValue(byte[] bytes) {
        if (bytes == null) {
            return "null";
        }
        String text = decode(bytes);
        return text == null ? "{\"hex\":\"" + HEX.formatHex(bytes) + "\"}" : jsonString(text);
    }

    /** What quote() makes of the headers column. */
    private static String quote(Headers headers) {
        StringBuilder json = new StringBuilder();
        for (Header header : headers) {
            json.append(json.length() == 0 ? '{' : ',')
                .append(jsonString(header.key()))
                .append(':')
                .append(jsonValue(header.value()));
        }
        return json.length() == 0 ? "'{}'" : quote(json.append('}').toString());
    }

    /** partition|offset|timestamp|leader epoch|key|value|headers. */
    static String line(ConsumerRecord<byte[], byte[]> record) {
        return record.partition() + "|" + record.offset() + "|" + record.timestamp() + "|"
            + record.leaderEpoch().map(String::valueOf).orElse("-1") + "|" + quote(record.key())
            + "|" + quote(record.value()) + "|" + quote(record.headers());
    }
}
