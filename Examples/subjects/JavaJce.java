// The subject protocol over the Java Cryptography Extension: CBC and CTR, served and from files, with measurements.
//
//     chunkwise verify --subject 'java Examples/subjects/JavaJce.java'
import java.io.*;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.*;
import java.util.stream.LongStream;
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

    static void send(String message, ByteBuffer payload) throws IOException {
        out.write((message + "\n").getBytes(StandardCharsets.UTF_8));
        out.write(payload.array(), payload.position(), payload.remaining());
        out.flush();
    }

    static void send(String message) throws IOException { send(message, ByteBuffer.allocate(0)); }

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

    static Map<?, ?> object(Object value) {
        check(value instanceof Map);
        return (Map<?, ?>) value;
    }

    /** What all reads share: each makes them as large as it needs. */
    static ByteBuffer ciphertext = ByteBuffer.allocate(0), plaintext = ciphertext;

    static ByteBuffer cleared(ByteBuffer buffer, long count) {
        return buffer.capacity() < count ? ByteBuffer.allocate((int) count) : buffer.clear();
    }

    static class EncryptedObject {
        final boolean isCTR, isPadded, isSequence;
        final SecretKeySpec key;
        final BigInteger iv;
        final long chunk, stored;
        final Cipher cipher;
        final FileChannel file;
        long length;

        EncryptedObject(Map<?, ?> request) throws Exception {
            Map<?, ?> source = object(request.get("source"));
            check(request.get("strategy") instanceof String);
            boolean isServed = !(source.get("path") instanceof String);
            if (isServed) length = integer(source.get("byteCount"));
            check(STRATEGIES.contains(request.get("strategy")), "unsupported");
            isCTR = request.get("strategy").equals("ctr");
            byte[] secret = bytes(request.get("key")), start = bytes(request.get("iv"));
            isPadded = !isCTR && choice(request.get("padding"), "pkcs7", "none").equals("pkcs7");
            boolean isChunked = request.get("strategy").equals("cbc-chunked");
            chunk = isChunked ? integer(request.get("chunkByteCount")) : 1L << 62;
            check(chunk > 0 && chunk % 16 == 0);
            isSequence = isChunked && choice(request.get("ivRule"), "fixed", "sequence").equals("sequence");
            check(List.of(16, 24, 32).contains(secret.length), "invalidKey");
            check(start.length == 16, "invalidIV");
            key = new SecretKeySpec(secret, "AES");
            iv = new BigInteger(1, start);
            stored = chunk + (isPadded ? 16 : 0);
            cipher = Cipher.getInstance(isCTR ? "AES/CTR/NoPadding" : "AES/CBC/NoPadding");
            file = isServed ? null : FileChannel.open(Path.of((String) source.get("path")));
            try {
                if (!isServed) length = file.size();
                check(isCTR || length % 16 == 0 && !(isPadded && length == 0), "truncatedCiphertext");
                if (isPadded) length = unpadded();
            } catch (Exception error) {
                close();
                throw error;
            }
        }

        void close() throws IOException { if (file != null) file.close(); }

        long unpadded() throws Exception {
            long last = (length - 1) / stored, size = length - last * stored;
            plaintext = cleared(plaintext, 16);
            blocks(last, size - 16, size);
            int count = plaintext.get(15);
            check(count >= 1 && count <= 16, "invalidPadding");
            for (int place = 16 - count; place < 16; place++) check(plaintext.get(place) == count, "invalidPadding");
            size -= count;
            check(size <= chunk && (size > 0 || last == 0), "invalidPadding");
            return last * chunk + size;
        }

        void fetch(long offset, long count) throws IOException {
            ciphertext = cleared(ciphertext, count).limit((int) count);
            while (ciphertext.hasRemaining()) {
                long at = offset + ciphertext.position();
                check((file == null ? need(at) : file.read(ciphertext, at)) > 0, "truncatedCiphertext");
            }
            ciphertext.flip();
        }

        /** Lets the harness serve some bytes to `ciphertext`. */
        int need(long offset) throws IOException {
            send("{\"need\":{\"offset\":" + offset + ",\"count\":" + ciphertext.remaining() + "}}");
            Map<?, ?> answer = Json.object(readLine());
            check(answer.get("ok").equals(true), "io");
            int place = ciphertext.position(), payload = (int) integer(answer.get("payload"));
            if (in.readNBytes(ciphertext.array(), place, payload) < payload) System.exit(1);
            ciphertext.position(place + payload);
            return payload;
        }

        /** Decrypts whole blocks of one chunk to `plaintext`. */
        void blocks(long number, long start, long end) throws Exception {
            int before = isCTR || start == 0 ? 0 : 16;
            fetch(number * stored + start - before, end - start + before);
            byte[] block = new byte[16];
            if (before > 0) {
                ciphertext.get(block);
            } else {
                byte[] value = iv.add(BigInteger.valueOf(isSequence ? number : isCTR ? start / 16 : 0)).toByteArray();
                int count = Math.min(16, value.length);
                System.arraycopy(value, value.length - count, block, 16 - count, count);
            }
            cipher.init(Cipher.DECRYPT_MODE, key, new IvParameterSpec(block));
            // In parts, since only what is called often is compiled: a whole MiB at a time is seven times as slow.
            for (int stop = ciphertext.limit(); ciphertext.position() < stop;) {
                ciphertext.limit(Math.min(ciphertext.position() + 8192, stop));
                cipher.update(ciphertext, plaintext);
            }
            cipher.doFinal(ciphertext, plaintext);
        }

        /** The plaintext, which is there until the next read. */
        ByteBuffer read(long offset, long count) throws Exception {
            check(offset <= length, "rangeOutOfBounds");
            long end = Math.min(offset + count, length), head = offset % 16, size = end - offset;
            plaintext = cleared(plaintext, size + 32);
            // Chunks hold whole blocks, so there is nothing to cut off between them.
            while (offset < end) {
                long start = offset % chunk, stop = Math.min(start + end - offset, chunk);
                blocks(offset / chunk, start / 16 * 16, isCTR ? stop : (stop + 15) / 16 * 16);
                offset += stop - start;
            }
            return plaintext.limit((int) (head + size)).position((int) head);
        }

        long nanoseconds(long[]... reads) throws Exception {
            long start = System.nanoTime();
            for (long[] read : reads) read(read[0], read[1]);
            return System.nanoTime() - start;
        }

        String measure(Map<?, ?> request) throws Exception {
            Map<?, ?> workload = object(request.get("workload"));
            long[][] reads = reads(workload, length, 0);
            String collect = choice(request.get("collect"), "digest", "time", "latencies");
            List<Long> samples = new ArrayList<>();
            if (collect.equals("digest")) {
                MessageDigest hash = MessageDigest.getInstance("SHA-256");
                long delivered = 0;
                for (long[] read : reads) {
                    ByteBuffer data = read(read[0], read[1]);
                    delivered += data.remaining();
                    hash.update(data);
                }
                String digest = HexFormat.of().formatHex(hash.digest());
                return ",\"digest\":\"" + digest + "\",\"deliveredByteCount\":" + delivered;
            }
            if (collect.equals("latencies")) {
                for (long[] read : reads) samples.add(nanoseconds(read));
                return ",\"latencies\":" + samples;
            }
            long least = integer(request.get("minimumNanoseconds")), most = integer(request.get("maximumIterations"));
            check(most > 0);
            for (long sum = 0; samples.isEmpty() || sum < least && samples.size() < most;) {
                samples.add(nanoseconds(samples.isEmpty() ? reads : reads(workload, length, samples.size())));
                sum += samples.get(samples.size() - 1);
            }
            return ",\"nanoseconds\":" + samples;
        }
    }

    /** The reads of an iteration, which goes on where the last one ended, as pairs of offset and count. */
    static long[][] reads(Map<?, ?> workload, long length, long iteration) {
        String kind = choice(workload.get("kind"), "sequential", "random", "trace");
        if (kind.equals("trace")) {
            check(workload.get("ranges") instanceof List);
            return ((List<?>) workload.get("ranges")).stream().map(range -> {
                check(range instanceof List && ((List<?>) range).size() == 2);
                return ((List<?>) range).stream().mapToLong(JavaJce::integer).toArray();
            }).toArray(long[][]::new);
        }
        long count = integer(workload.get(kind.equals("random") ? "rangeByteCount" : "windowByteCount"));
        check(count > 0);
        LongStream offsets = LongStream.iterate(0, offset -> offset < length, offset -> offset + count);
        if (kind.equals("random")) {
            check(count <= length, "rangeOutOfBounds");
            // This class is SplitMix64.
            long readCount = integer(workload.get("reads"));
            long first = workload.containsKey("firstDraw") ? integer(workload.get("firstDraw")) : 0;
            SplittableRandom random = new SplittableRandom(
                integer(workload.get("seed")) + (first + iteration * readCount) * 0x9e3779b97f4a7c15L);
            offsets = LongStream.generate(() -> Long.remainderUnsigned(random.nextLong(), length - count + 1))
                .limit(readCount);
        }
        return offsets.mapToObj(offset -> new long[] {offset, count}).toArray(long[][]::new);
    }

    static void answer(Map<?, ?> request) throws Exception {
        Object op = request.get("op");
        ByteBuffer data = ByteBuffer.allocate(0);
        String members = "";
        if ("hello".equals(op)) {
            check(integer(request.get("protocol")) == 1, "unsupported");
            members = ",\"protocol\":1,\"name\":\"java-jce\",\"version\":\"" + System.getProperty("java.version")
                + "\",\"strategies\":[\"cbc-continuous\",\"cbc-chunked\",\"ctr\"],\"keyByteCounts\":[16,24,32],"
                + "\"sources\":[\"path\",\"served\"],\"granularity\":\"block\",\"measures\":true";
        } else if (!"bye".equals(op)) {
            choice(op, "open", "read", "measure", "close");
            long id = integer(request.get("id"));
            check(objects.containsKey(id) == !op.equals("open"));
            if (op.equals("open")) {
                EncryptedObject object = new EncryptedObject(request);
                objects.put(id, object);
                members = ",\"plaintextByteCount\":" + object.length;
            } else if (op.equals("close")) {
                objects.remove(id).close();
            } else if (op.equals("measure")) {
                members = objects.get(id).measure(request);
            } else {
                data = objects.get(id).read(integer(request.get("offset")), integer(request.get("count")));
                members = ",\"payload\":" + data.remaining();
            }
        }
        send("{\"ok\":true" + members + "}", data);
        if ("bye".equals(op)) System.exit(0);
    }

    public static void main(String[] arguments) throws IOException {
        for (String line; (line = readLine()) != null;) {
            try {
                Map<?, ?> request = Json.object(line);
                if (request.containsKey("payload")) in.readNBytes((int) integer(request.get("payload")));
                answer(request);
            } catch (Exception error) {
                String name = error instanceof IOException ? "io" : "internal", text = error.getClass().getSimpleName();
                if (error instanceof Failure) name = error.getMessage();
                send("{\"ok\":false,\"error\":\"" + name + "\",\"message\":\"" + text + "\"}");
            }
        }
    }
}
