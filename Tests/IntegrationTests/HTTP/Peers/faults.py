"""Stands between a client and a server and does one thing wrong: faults.py UPSTREAM-PORT plain|tls. Prints its port.

A connection whose first line is `seed N` is no client's: it says which fault comes next, drawn from N, and is answered
with what became of the last one, such as `fired flip 4711` or `idle`. Positions count the bytes of a direction over all
connections since then.
"""

import random
import re
import socket
import struct
import sys
import threading
import time

UPSTREAM, KIND = int(sys.argv[1]), sys.argv[2]
# About what an exchange has in each direction.
LENGTHS = {"down": 70_000, "up": 1500}
HEADS = [
    (rb"HTTP/1\.1 206[^\r]*", [b"HTTP/1.1 200 OK", b"HTTP/1.1 204 No Content", b"HTTP/1.1 304 Not Modified",
                               b"HTTP/1.1 404 Not Found", b"HTTP/1.1 416 Range Not Satisfiable", b"HTTP/1.1 500 Oh",
                               b"HTTP/1.1 503 Later", b"HTTP/1.1 302 Found", b"HTTP/9.9 206 X", b"HTTP/1.1 2x6 X",
                               b"HTTP/1.1 100 Continue", b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 206 X"]),
    (rb'ETag: [^\r]*', [b'ETag: "other"', b'ETag: W/"weak"', b"X-None: 1", b'ETag: "a"\r\nETag: "b"']),
    (rb"Last-Modified: [^\r]*", [b"Last-Modified: Mon, 01 Jan 2001 00:00:00 GMT"]),
    (rb"Content-Length: [^\r]*", [b"Content-Length: 0", b"Content-Length: 1", b"Content-Length: 99999999999999999999",
                                  b"Content-Length: -5", b"X-None: 1", b"Content-Length: 7\r\nContent-Length: 8",
                                  b"Transfer-Encoding: chunked", b"Content-Length: 4097"]),
    (rb"Content-Range: [^\r]*", [b"Content-Range: bytes 0-0/1", b"Content-Range: bytes 5-3/9", b"X-None: 1",
                                 b"Content-Range: bytes 1-4096/65792", b"Content-Range: bytes */65792",
                                 b"Content-Range: bytes 0-4095/*", b"Content-Range: bytes 0-4095/18446744073709551615",
                                 b"Content-Range: octets 0-1/2"]),
    (rb"Content-Type: [^\r]*", [b"Content-Type: multipart/byteranges; boundary=x", b"Content-Encoding: gzip"]),
]


class Fault:
    """A fault that is drawn from a number."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        kinds = ["cut", "reset", "delay", "flip", "repeat", "swap", "drop", "insert"] * 3 + ["stall"]
        self.kind = self.random.choice(kinds + (["head"] * 18 if KIND == "plain" else []))
        self.direction = "down" if self.random.random() < 0.85 or self.kind == "head" else "up"
        length = LENGTHS[self.direction]
        # Half of them are where there is little: in handshakes and heads.
        self.position = self.random.randrange(min(length, 4000) if self.random.random() < 0.5 else length)
        self.answer = self.random.randrange(6)
        # Whether it is gone after it happened once.
        self.is_once = self.random.random() < 0.7
        self.fired = 0
        self.counts = {"down": 0, "up": 0}
        self.answers = 0
        self.lock = threading.Lock()

    def status(self):
        """What became of it."""
        return f"fired {self.kind} {self.position}" if self.fired else "idle"

    def head(self, data):
        """Another head for an answer."""
        if not data.startswith(b"HTTP/1.1 206"):
            return data
        self.answers += 1
        if self.answers - 1 < self.answer or self.fired and self.is_once:
            return data
        end = data.find(b"\r\n\r\n")
        pattern, others = self.random.choice(HEADS)
        other = self.random.choice(others)
        found = re.sub(pattern, lambda match: other, data[:end], count=1)
        if found == data[:end]:
            return data
        self.fired += 1
        return found + data[end:]

    def apply(self, direction, data):
        """What is sent instead, and how the connection ends: `None`, `close` or `reset`."""
        with self.lock:
            if self.kind == "head":
                return (self.head(data) if direction == "down" else data), None
            start = self.counts[direction]
            self.counts[direction] += len(data)
            if direction != self.direction or self.fired and self.is_once:
                return data, None
            place = self.position - start
            if self.fired:
                place = self.random.randrange(len(data))
            if not 0 <= place < len(data):
                return data, None
            self.fired += 1
            kind, draw = self.kind, self.random
        count = draw.randrange(1, 64)
        before, after = data[:place], data[place:]
        if kind == "cut":
            return before, "close"
        if kind == "reset":
            return before, "reset"
        if kind == "delay":
            time.sleep(draw.random() * 0.05)
            return data, None
        if kind == "stall":
            time.sleep(0.8)
            return before, "close"
        if kind == "flip":
            return before + bytes([after[0] ^ 1 << draw.randrange(8)]) + after[1:], None
        if kind == "repeat":
            return before + after[:count] + after, None
        if kind == "swap":
            return before + after[count:2 * count] + after[:count] + after[2 * count:], None
        if kind == "drop":
            return before + after[count:], None
        return before + draw.randbytes(count) + after, None


fault = Fault(0)


def end(connection, how):
    """Ends a connection."""
    try:
        if how == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        else:
            connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    connection.close()


def pump(source, target, direction, plan, first=b""):
    """Passes bytes on in one direction."""
    how = "close"
    try:
        data = first or source.recv(16384)
        while data:
            data, how = plan.apply(direction, data)
            target.sendall(data)
            if how:
                break
            data = source.recv(16384)
    except OSError:
        pass
    end(target, how or "close")
    end(source, "close")


def serve(client):
    """Answers the test, or stands between a client and the server."""
    global fault
    try:
        client.settimeout(20)
        first = client.recv(16384)
        if first.startswith(b"seed "):
            status = fault.status()
            fault = Fault(int(first.split()[1]))
            client.sendall(status.encode() + b"\n")
            client.close()
            return
        if not first:
            client.close()
            return
        server = socket.create_connection(("127.0.0.1", UPSTREAM))
    except OSError:
        client.close()
        return
    server.settimeout(20)
    plan = fault
    threading.Thread(target=pump, args=(server, client, "down", plan), daemon=True).start()
    pump(client, server, "up", plan, first)


def main():
    """Listens until it is ended."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)
    print(listener.getsockname()[1], flush=True)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection,), daemon=True).start()


main()
