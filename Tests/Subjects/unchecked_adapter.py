"""A healthy adapter without any check of types, such as people write first: CTR over the cryptography package.

With `cut32` as its argument, the counter is cut at 32 bits: the one real fault, which must not hide behind the rest.
"""

import json
import sys

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

CUTS = sys.argv[1:] == ["cut32"]
objects = {}


class Refused(Exception):
    pass


def say(message, payload=b""):
    sys.stdout.buffer.write(json.dumps({**message, "payload": len(payload)}).encode() + b"\n" + payload)
    sys.stdout.buffer.flush()


def fetch(offset, count):
    found = b""
    while len(found) < count:
        say({"need": {"offset": offset + len(found), "count": count - len(found)}})
        answer = json.loads(sys.stdin.buffer.readline())
        if not answer["ok"]:
            raise Refused("io")
        part = sys.stdin.buffer.read(answer["payload"])
        if not part:
            raise Refused("truncatedCiphertext")
        found += part
    return found


def open_object(request):
    key, iv = bytes.fromhex(request["key"]), bytes.fromhex(request["iv"])
    if len(key) not in (16, 24, 32):
        raise Refused("invalidKey")
    if len(iv) != 16:
        raise Refused("invalidIV")
    objects[request["id"]] = key, int.from_bytes(iv, "big"), request["source"]["byteCount"]
    return {"plaintextByteCount": request["source"]["byteCount"]}, b""


def read(request):
    (key, iv, length), offset = objects[request["id"]], request["offset"]
    if offset > length:
        raise Refused("rangeOutOfBounds")
    count = min(request["count"], length - offset)
    if count == 0:
        return {}, b""
    counter = (iv >> 32 << 32) + (iv + offset // 16) % 2**32 if CUTS else (iv + offset // 16) % 2**128
    decryptor = Cipher(algorithms.AES(key), modes.CTR(counter.to_bytes(16, "big"))).decryptor()
    decryptor.update(bytes(offset % 16))
    return {}, decryptor.update(fetch(offset, count))


def answer(request):
    if request["op"] == "hello":
        return {"protocol": 1, "name": "unchecked", "version": "1", "strategies": ["ctr"], "keyByteCounts": [16, 24, 32],
                "sources": ["served"], "granularity": "block", "measures": False}, b""
    if request["op"] == "open":
        return open_object(request)
    if request["op"] == "read":
        return read(request)
    if request["op"] == "close":
        del objects[request["id"]]
    return {}, b""


for line in sys.stdin.buffer:
    try:
        request = json.loads(line)
        sys.stdin.buffer.read(request.get("payload", 0))
        members, payload = answer(request)
        say({"ok": True, **members}, payload)
        if request["op"] == "bye":
            break
    except Refused as refusal:
        say({"ok": False, "error": str(refusal)})
    except Exception:
        say({"ok": False, "error": "invalidRequest"})
