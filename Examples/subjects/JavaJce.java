// The subject protocol over the Java Cryptography Extension: CBC and CTR, served.
//
//     chunkwise verify --subject 'java Examples/subjects/JavaJce.java'
import java.io.*;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.*;
import javax.crypto.Cipher;
import javax.crypto.spec.*;

public class JavaJce {
    static final InputStream in = new BufferedInputStream(System.in, 1 << 16);
    static final OutputStream out = new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 16);
    static final List<String> STRATEGIES = List.of("cbc-continuous", "cbc-chunked", "ctr");
    static final Map<Long, EncryptedObject> objects = new HashMap<>();

    static class Failure extends RuntimeException {
        Failure(String name) { super(name); }
    }

    static void check(boolean isGood, String name) {
        if (!isGood) throw new Failure(name);
    }

    static void check(boolean isGood) { check(isGood, "invalidRequest"); }

    /** JSON, as much of it as messages have: integers are Long, other numbers Double. */
    static class Json {
        final String text;
        int at = 0;

        Json(String text) { this.text = text; }

        static Map<?, ?> object(String text) {
            Json json = new Json(text);
            Object value = json.value();
            json.space();
            check(json.at == text.length() && value instanceof Map);
            return (Map<?, ?>) value;
        }

        void space() { while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) at++; }

        boolean take(String token) {
            space();
            if (!text.startsWith(token, at)) return false;
            at += token.length();
            return true;
        }

        Object value() {
            if (take("null")) return null;
            if (take("true")) return true;
            if (take("false")) return false;
            if (take("\"")) return string();
            if (take("[")) {
                List<Object> list = new ArrayList<>();
                if (take("]")) return list;
                do list.add(value()); while (take(","));
                check(take("]"));
                return list;
            }
            if (take("{")) {
                Map<String, Object> map = new HashMap<>();
                if (take("}")) return map;
                do {
                    check(take("\""));
                    String name = string();
                    check(take(":"));
                    map.put(name, value());
                } while (take(","));
                check(take("}"));
                return map;
            }
            int start = at;
            while (at < text.length() && "+-.0123456789eE".indexOf(text.charAt(at)) >= 0) at++;
            try {
                String number = text.substring(start, at);
                if (number.matches("-?\\d{1,18}")) return Long.valueOf(number);
                return Double.valueOf(number);
            } catch (NumberFormatException error) {
                throw new Failure("invalidRequest");
            }
        }

        String string() {
            StringBuilder result = new StringBuilder();
            while (at < text.length()) {
                char c = text.charAt(at++);
                if (c == '"') return result.toString();
                if (c != '\\') {
                    result.append(c);
                } else if (text.startsWith("u", at)) {
                    result.append((char) Integer.parseInt(text.substring(at + 1, at + 5), 16));
                    at += 5;
                } else {
                    int place = "bfnrt\"\\/".indexOf(text.charAt(at++));
                    check(place >= 0);
                    result.append("\b\f\n\r\t\"\\/".charAt(place));
                }
            }
            throw new Failure("invalidRequest");
        }
    }

    static String readLine() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int c; (c = in.read()) != '\n'; line.write(c)) if (c < 0) return null;
        return line.toString(StandardCharsets.UTF_8);
    }

    static void send(String message, byte[] payload) throws IOException {
        out.write((message + "\n").getBytes(StandardCharsets.UTF_8));
        out.write(payload);
        out.flush();
    }

    static byte[] readBytes(long count) throws IOException {
        byte[] bytes = in.readNBytes((int) count);
        if (bytes.length < count) System.exit(1);
        return bytes;
    }

    static long integer(Object value) {
        check(value instanceof Long && (Long) value >= 0);
        return (Long) value;
    }

    static byte[] bytes(Object value) {
        check(value instanceof String && ((String) value).matches("([0-9a-f]{2})*"));
        return HexFormat.of().parseHex((String) value);
    }

    static String choice(Object value, String... values) {
        check(value instanceof String && List.of(values).contains(value));
        return (String) value;
    }

    static class EncryptedObject {
        final boolean isCTR, isPadded, isSequence;
        final byte[] key;
        final BigInteger iv;
        final long chunk, stored, byteCount;
        final Cipher cipher;
        long length;

        EncryptedObject(Map<?, ?> request) throws Exception {
            check(request.get("source") instanceof Map && request.get("strategy") instanceof String);
            Map<?, ?> source = (Map<?, ?>) request.get("source");
            boolean isServed = source.containsKey("byteCount");
            check(isServed || source.get("path") instanceof String);
            byteCount = isServed ? integer(source.get("byteCount")) : 0;
            check(STRATEGIES.contains(request.get("strategy")), "unsupported");
            isCTR = request.get("strategy").equals("ctr");
            key = bytes(request.get("key"));
            byte[] start = bytes(request.get("iv"));
            isPadded = !isCTR && choice(request.get("padding"), "pkcs7", "none").equals("pkcs7");
            boolean isChunked = request.get("strategy").equals("cbc-chunked");
            chunk = isChunked ? integer(request.get("chunkByteCount")) : 1L << 62;
            check(chunk > 0 && chunk % 16 == 0);
            isSequence = isChunked && choice(request.get("ivRule"), "fixed", "sequence").equals("sequence");
            check(List.of(16, 24, 32).contains(key.length), "invalidKey");
            check(start.length == 16, "invalidIV");
            check(isServed, "unsupported");
            iv = new BigInteger(1, start);
            stored = chunk + (isPadded ? 16 : 0);
            cipher = Cipher.getInstance(isCTR ? "AES/CTR/NoPadding" : "AES/CBC/NoPadding");
            length = byteCount;
            check(isCTR || length % 16 == 0 && !(isPadded && length == 0), "truncatedCiphertext");
            if (isPadded) length = unpadded();
        }

        long unpadded() throws Exception {
            long last = (length - 1) / stored, size = length - last * stored;
            byte[] block = blocks(last, size - 16, size);
            int count = block[15];
            check(count >= 1 && count <= 16, "invalidPadding");
            for (int place = 16 - count; place < 16; place++) check(block[place] == count, "invalidPadding");
            size -= count;
            check(size <= chunk && (size > 0 || last == 0), "invalidPadding");
            return last * chunk + size;
        }

        byte[] fetch(long offset, int count) throws IOException {
            ByteArrayOutputStream data = new ByteArrayOutputStream(count);
            while (data.size() < count) {
                send("{\"need\":{\"offset\":" + (offset + data.size()) + ",\"count\":" + (count - data.size()) + "}}",
                    new byte[0]);
                Map<?, ?> answer = Json.object(readLine());
                check(answer.get("ok").equals(true), "io");
                long payload = integer(answer.get("payload"));
                check(payload > 0, "truncatedCiphertext");
                data.write(readBytes(payload));
            }
            return data.toByteArray();
        }

        /** Decrypts whole blocks of one chunk. */
        byte[] blocks(long number, long start, long end) throws Exception {
            BigInteger sum = iv.add(BigInteger.valueOf(isSequence ? number : isCTR ? start / 16 : 0));
            byte[] block = new byte[16], value = sum.toByteArray();
            int count = Math.min(16, value.length);
            System.arraycopy(value, value.length - count, block, 16 - count, count);
            int before = isCTR || start == 0 ? 0 : 16;
            byte[] data = fetch(number * stored + start - before, (int) (end - start + before));
            IvParameterSpec parameters = before > 0 ? new IvParameterSpec(data, 0, 16) : new IvParameterSpec(block);
            cipher.init(Cipher.DECRYPT_MODE, new SecretKeySpec(key, "AES"), parameters);
            return cipher.doFinal(data, before, data.length - before);
        }

        byte[] read(long offset, long count) throws Exception {
            check(offset <= length, "rangeOutOfBounds");
            ByteArrayOutputStream data = new ByteArrayOutputStream();
            for (long end = Math.min(offset + count, length); offset < end;) {
                long number = offset / chunk, start = offset % chunk, stop = Math.min(start + end - offset, chunk);
                long first = start / 16 * 16;
                byte[] part = blocks(number, first, isCTR ? stop : (stop + 15) / 16 * 16);
                data.write(part, (int) (start - first), (int) (stop - start));
                offset += stop - start;
            }
            return data.toByteArray();
        }
    }

    static void answer(Map<?, ?> request) throws Exception {
        Object op = request.get("op");
        byte[] data = new byte[0];
        String members = "";
        if ("hello".equals(op)) {
            check(integer(request.get("protocol")) == 1, "unsupported");
            members = ",\"protocol\":1,\"name\":\"java-jce\",\"version\":\"" + System.getProperty("java.version")
                + "\",\"strategies\":[\"cbc-continuous\",\"cbc-chunked\",\"ctr\"],\"keyByteCounts\":[16,24,32],"
                + "\"sources\":[\"served\"],\"granularity\":\"block\",\"measures\":false";
        } else if (!"bye".equals(op)) {
            check(!"measure".equals(op), "unsupported");
            check(op instanceof String && List.of("open", "read", "close").contains(op));
            long id = integer(request.get("id"));
            check(objects.containsKey(id) == !op.equals("open"));
            if (op.equals("open")) {
                EncryptedObject object = new EncryptedObject(request);
                objects.put(id, object);
                members = ",\"plaintextByteCount\":" + object.length;
            } else if (op.equals("close")) {
                objects.remove(id);
            } else {
                data = objects.get(id).read(integer(request.get("offset")), integer(request.get("count")));
                members = ",\"payload\":" + data.length;
            }
        }
        send("{\"ok\":true" + members + "}", data);
        if ("bye".equals(op)) System.exit(0);
    }

    public static void main(String[] arguments) throws IOException {
        for (String line; (line = readLine()) != null;) {
            try {
                Map<?, ?> request = Json.object(line);
                if (request.containsKey("payload")) readBytes(integer(request.get("payload")));
                answer(request);
            } catch (Failure failure) {
                send("{\"ok\":false,\"error\":\"" + failure.getMessage() + "\",\"message\":\"no\"}", new byte[0]);
            } catch (Exception error) {
                String text = error.getClass().getSimpleName();
                send("{\"ok\":false,\"error\":\"internal\",\"message\":\"" + text + "\"}", new byte[0]);
            }
        }
    }
}
