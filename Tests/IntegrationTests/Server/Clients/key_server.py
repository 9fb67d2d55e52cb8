"""A server of the key protocol, written from KEY-PROTOCOL.md, that can do everything wrong: prints its port.

The path says what it does, such as /v1/keys, /short, /status/429. The key of an identifier is the start of its SHA-256.
With the argument `identity` it proves itself by the private key 01 02 … 20.
"""
import hashlib
import http.server
import sys
import time

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

import hpke

identity = X25519PrivateKey.from_private_bytes(bytes(range(1, 33))) if "identity" in sys.argv else None
first = None
asked = 0


def be(value, count):
    return value.to_bytes(count, "big")


def names_in(request):
    count, place, names = int.from_bytes(request[63:65], "big"), 65 + request[62], []
    for _ in range(count):
        length = int.from_bytes(request[place:place + 2], "big")
        names.append(request[place + 2:place + 2 + length])
        place += 2 + length
    assert place == len(request)
    return names


def answer_to(request, fault):
    names = names_in(request)
    if fault == "other":
        names[0] = b"x" * len(names[0])
    if fault == "fewer":
        names = names[:-1]
    if fault == "order":
        names.reverse()
    version = 2 if fault == "version" else 1
    number = bytes(16) if fault == "number" else request[6:22]
    head = (b"CWKA" + bytes([version, 2 if identity else 0]) + number + be(time.time_ns() // 10**6, 8)
            + be(0 if fault == "late" else 2**32 - 1, 4))
    digest = hashlib.sha256(request + (b"x" if fault == "unbound" else b"")).digest()
    info = b"chunkwise-keys-1" + digest + head + be(len(names), 2)
    enc, sealing = hpke.sender(request[30:62], info, identity)
    body = head + enc + be(len(names), 2)
    for index, name in enumerate(names):
        key = hashlib.sha256(name).digest()[:{"key-short": 15, "key-long": 24, "key-none": 0}.get(fault, 16)]
        entry = be(len(name), 2) + name + b"\x00" + be(2**64 - 1, 8) + be(0, 8)
        sealed = sealing.seal(be(index, 2) + entry, key)
        if fault == "terms":
            entry = be(len(name), 2) + name + b"\x00" + be(2**64 - 2, 8) + be(0, 8)
        body += entry + be(len(sealed), 2) + sealed
    if fault == "tampered":
        body = body[:-1] + bytes([body[-1] ^ 1])
    if fault == "short":
        body = body[:-1]
    if fault == "long":
        body += b"\x00"
    if fault == "endless":
        body += bytes(1 << 20)
    if fault == "empty":
        body = b""
    return body


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        global first, asked
        asked += 1
        request = self.rfile.read(int(self.headers["Content-Length"]))
        _, fault, *rest = self.path.split("?")[0].split("/")
        status = 200
        if fault == "once" and asked > 1:
            fault = ""
        if fault in ("status", "once"):
            status = int(rest[0])
        if fault == "close":
            self.close_connection = True
            return
        if fault == "silent":
            time.sleep(30)
        body = answer_to(request, fault)
        if fault == "v1":
            first = body
        if fault == "replayed":
            body = first
        self.send_response(status)
        self.send_header("Content-Type", "text/html" if fault == "type" else "application/x-chunkwise-keys")
        if len(rest) > 1:
            self.send_header("Retry-After", rest[1].replace("%20", " "))
        if status in (301, 302, 307, 308):
            self.send_header("Location", "/v1/keys")
        cut = fault == "cut"
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:len(body) // 2] if cut else body)
        if cut:
            self.close_connection = True

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
