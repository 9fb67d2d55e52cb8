"""The subject protocol for adapters in Python, without anything that Python does not bring along.

`serve` talks to the harness; `Reader` is the arithmetic of ranges over a function that decrypts whole blocks. An
adapter brings that function, or a class of its own in place of `Reader`.
"""
import hashlib
import json
import os
import re
import sys
import time

stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
STRATEGIES = ["cbc-continuous", "cbc-chunked", "ctr"]


class Failure(Exception):
    """An error answer; its argument is the error's name."""


def send(message, payload=b""):
    stdout.write(json.dumps(message).encode() + b"\n" + payload)
    stdout.flush()


def integer(value, least=0):
    if type(value) is not int or not least <= value < 1 << 53:
        raise Failure("invalidRequest")
    return value


def hexadecimal(value):
    if type(value) is not str or len(value) % 2 or not re.fullmatch("[0-9a-f]*", value):
        raise Failure("invalidRequest")
    return bytes.fromhex(value)


def choice(value, values):
    if value not in values:
        raise Failure("invalidRequest")
    return value


class Source:
    def __init__(self, description, uri=None):
        self.file, self.uri = None, uri
        if "path" in description:
            try:
                self.file = open(description["path"], "rb", buffering=0)
                self.length = os.fstat(self.file.fileno()).st_size
            except OSError:
                raise Failure("io")
        else:
            self.length = description["byteCount"]

    def read(self, offset, count):
        data = b""
        while len(data) < count:
            part = self.part(offset + len(data), count - len(data))
            if not part:
                raise Failure("truncatedCiphertext")
            data += part
        return data

    def part(self, offset, count):
        if self.file:
            return os.pread(self.file.fileno(), count, offset)
        name = {} if self.uri is None else {"uri": self.uri}
        send({"need": {"offset": offset, "count": count, **name}})
        answer = json.loads(stdin.readline())
        if not answer["ok"]:
            raise Failure("io")
        return stdin.read(answer.get("payload", 0))


class Opening:
    """What `open` says of every object, checked in the protocol's order up to the strategy.

    `parameters` has the inputs of the format, whether the request names a format that `hello` lists, or describes one
    to a subject that lists "described".
    """

    hello = {}

    def __init__(self, request):
        self.description = request.get("source")
        if type(self.description) is not dict or not (
                type(self.description.get("path")) is str or "byteCount" in self.description):
            raise Failure("invalidRequest")
        if "byteCount" in self.description:
            integer(self.description["byteCount"])
        if type(request.get("strategy")) is not str:
            raise Failure("invalidRequest")
        self.strategy, self.parameters = request["strategy"], request
        if self.strategy not in self.hello["strategies"]:
            if "described" not in self.hello["strategies"] or "description" not in request:
                raise Failure("unsupported")
            self.parameters = request.get("parameters")
            if type(request["description"]) is not str or type(self.parameters) is not dict:
                raise Failure("invalidRequest")

    def opened(self):
        """The source, which is opened when all else of the request is right."""
        if ("path" if "path" in self.description else "served") not in self.hello["sources"]:
            raise Failure("unsupported")
        return Source(self.description)


class Parameters(Opening):
    """What `open` says of CBC and CTR, checked up to the IV, against what `hello` lists."""

    def __init__(self, request):
        super().__init__(request)
        key, iv = hexadecimal(request.get("key")), hexadecimal(request.get("iv"))
        self.padded, self.chunk, self.sequence = False, 1 << 62, False
        if self.strategy != "ctr":
            self.padded = choice(request.get("padding"), ["pkcs7", "none"]) == "pkcs7"
        if self.strategy == "cbc-chunked":
            self.chunk = integer(request.get("chunkByteCount"), 16)
            self.sequence = choice(request.get("ivRule"), ["fixed", "sequence"]) == "sequence"
            if self.chunk % 16:
                raise Failure("invalidRequest")
        if len(key) not in (16, 24, 32):
            raise Failure("invalidKey")
        if len(key) not in self.hello["keyByteCounts"]:
            raise Failure("unsupported")
        if len(iv) != 16:
            raise Failure("invalidIV")
        self.key, self.iv = key, int.from_bytes(iv, "big")
        self.stored = self.chunk + 16 * self.padded
        self.source = self.opened()


class Reader(Parameters):
    """Ranges of one object. `decrypt(mode, key, iv, data)` decrypts whole blocks, or with "ctr" any bytes."""

    def __init__(self, request, decrypt):
        super().__init__(request)
        self.decrypt = decrypt
        self.length = self.source.length
        if self.strategy != "ctr" and (self.length % 16 or self.padded and not self.length):
            raise Failure("truncatedCiphertext")
        if self.padded:
            self.length = self.unpadded()

    def unpadded(self):
        last = (self.length - 1) // self.stored
        size = self.length - last * self.stored
        block = self.blocks(last, size - 16, size)
        count = block[-1]
        if not 1 <= count <= 16 or block[-count:] != bytes([count]) * count:
            raise Failure("invalidPadding")
        size -= count
        if size > self.chunk or not size and last:
            raise Failure("invalidPadding")
        return last * self.chunk + size

    def blocks(self, chunk, start, end):
        """Decrypts whole blocks of one chunk."""
        iv = (self.iv + chunk * self.sequence) % (1 << 128)
        if self.strategy == "ctr":
            counter = (iv + start // 16) % (1 << 128)
            return self.decrypt("ctr", self.key, counter.to_bytes(16, "big"), self.source.read(start, end - start))
        before = 16 if start else 0
        data = self.source.read(chunk * self.stored + start - before, end - start + before)
        return self.decrypt("cbc", self.key, data[:16] if before else iv.to_bytes(16, "big"), data[before:])

    def read(self, offset, count):
        if offset > self.length:
            raise Failure("rangeOutOfBounds")
        end, parts = min(offset + count, self.length), []
        while offset < end:
            chunk, start = divmod(offset, self.chunk)
            stop = min(start + end - offset, self.chunk)
            last = stop if self.strategy == "ctr" else (stop + 15) // 16 * 16
            first = start // 16 * 16
            parts.append(self.blocks(chunk, first, last)[start - first:stop - first])
            offset += stop - start
        return b"".join(parts)


def ranges(workload, length, iteration=0):
    if type(workload) is not dict:
        raise Failure("invalidRequest")
    kind = workload.get("kind")
    if kind == "sequential":
        window = integer(workload.get("windowByteCount"), 1)
        return ((start, window) for start in range(0, length, window))
    if kind == "random":
        count, state = integer(workload.get("rangeByteCount"), 1), integer(workload.get("seed"))
        if count > length:
            raise Failure("rangeOutOfBounds")
        reads = integer(workload.get("reads"), 1)
        # An iteration goes on where the last one ended.
        first = integer(workload.get("firstDraw", 0)) + iteration * reads
        return splitmix(state + first * 0x9E3779B97F4A7C15, reads, count, length)
    pairs = workload.get("ranges")
    if kind == "trace" and type(pairs) is list and all(type(pair) is list and len(pair) == 2 for pair in pairs):
        return [(integer(offset), integer(count)) for offset, count in pairs]
    raise Failure("invalidRequest")


def splitmix(state, reads, count, length):
    mask = (1 << 64) - 1
    for _ in range(reads):
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
        yield ((z ^ z >> 31) % (length - count + 1), count)


def measure(item, request):
    workload, collect = request.get("workload"), choice(request.get("collect"), ["digest", "latencies", "time"])
    reads = ranges(workload, item.length)
    if collect == "digest":
        digest, delivered = hashlib.sha256(), 0
        for read in reads:
            data = item.read(*read)
            digest.update(data)
            delivered += len(data)
        return {"digest": digest.hexdigest(), "deliveredByteCount": delivered}
    if collect == "latencies":
        return {"latencies": [timed(item, [read]) for read in reads]}
    least, most = integer(request.get("minimumNanoseconds")), integer(request.get("maximumIterations"), 1)
    nanoseconds = [timed(item, list(reads))]
    while sum(nanoseconds) < least and len(nanoseconds) < most:
        nanoseconds.append(timed(item, list(ranges(workload, item.length, len(nanoseconds)))))
    return {"nanoseconds": nanoseconds}


def timed(item, reads):
    start = time.monotonic_ns()
    for read in reads:
        item.read(*read)
    return time.monotonic_ns() - start


def answer(request, objects, hello, open_object):
    op = request.get("op")
    if op == "hello":
        if integer(request.get("protocol")) != 1:
            raise Failure("unsupported")
        return {"protocol": 1, **hello}, b""
    if op == "bye":
        return {}, b""
    if op not in ("open", "read", "measure", "close"):
        raise Failure("invalidRequest")
    name = integer(request.get("id"))
    if (name in objects) == (op == "open"):
        raise Failure("invalidRequest")
    if op == "open":
        item = open_object(request)
        objects[name] = item
        return {"plaintextByteCount": item.length}, b""
    if op == "read":
        data = objects[name].read(integer(request.get("offset")), integer(request.get("count")))
        return {"payload": len(data)}, data
    if op == "measure":
        if not hello["measures"]:
            raise Failure("unsupported")
        return measure(objects[name], request), b""
    del objects[name]
    return {}, b""


def serve(open_object, **hello):
    """Answers requests until `bye` or the end of input.

    `open_object` makes an object with `length` and `read(offset, count)` from a request; the rest is the answer to
    `hello`, of which the parts that most adapters share may be left out.
    """
    hello = {
        "strategies": STRATEGIES, "keyByteCounts": [16, 24, 32], "sources": ["path", "served"],
        "granularity": "block", "measures": False, **hello,
    }
    Opening.hello = hello
    objects = {}
    for line in iter(stdin.readline, b""):
        request = {}
        try:
            try:
                request = json.loads(line)
            except ValueError:
                raise Failure("invalidRequest")
            if type(request) is not dict:
                request = {}
                raise Failure("invalidRequest")
            stdin.read(request.get("payload", 0))
            members, payload = answer(request, objects, hello, open_object)
            send({"ok": True, **members}, payload)
        except Failure as failure:
            send({"ok": False, "error": str(failure), "message": f"op {request.get('op')}"})
        except Exception as error:
            send({"ok": False, "error": "internal", "message": repr(error)})
        else:
            if request["op"] == "bye":
                return
