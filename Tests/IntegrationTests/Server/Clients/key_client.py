"""A client of the key protocol, written from KEY-PROTOCOL.md: prints each key, or its outcome's number.

key_client.py URL TOKEN SERVER-KEY-OR-"" CA-FILE-OR-"" IDENTIFIER…
"""
import hashlib
import os
import ssl
import sys
import time
import urllib.request

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

import hpke


def be(value, count):
    return value.to_bytes(count, "big")


def main(url, token, server_key, ca_file, *identifiers):
    private = X25519PrivateKey.generate()
    number = os.urandom(16)
    names = [name.encode() for name in identifiers]
    request = (b"CWKQ" + b"\x01\x01" + number + be(time.time_ns() // 10**6, 8) + hpke.public_bytes(private)
               + bytes([5]) + be(len(names), 2) + b"local" + b"".join(be(len(name), 2) + name for name in names))
    fields = {"Content-Type": "application/x-chunkwise-key-request", "Authorization": "Bearer " + token}
    context = ssl.create_default_context(cafile=ca_file) if ca_file else None
    with urllib.request.urlopen(urllib.request.Request(url, request, fields), context=context) as response:
        assert response.headers["Content-Type"] == "application/x-chunkwise-keys"
        answer = response.read()
    assert answer[:5] == b"CWKA\x01" and answer[6:22] == number, "another answer"
    assert answer[5] == (2 if server_key else 0), "another mode"
    count = int.from_bytes(answer[66:68], "big")
    assert count == len(names)
    info = b"chunkwise-keys-1" + hashlib.sha256(request).digest() + answer[:34] + be(count, 2)
    opening = hpke.recipient(private, answer[34:66], info, bytes.fromhex(server_key) or None)
    place = 68
    for index, name in enumerate(names):
        start, place = place, place + 2 + len(name) + 17
        assert answer[start:start + 2 + len(name)] == be(len(name), 2) + name, "another identifier"
        outcome = answer[start + 2 + len(name)]
        aad = be(index, 2) + answer[start:place]
        length = int.from_bytes(answer[place:place + 2], "big")
        opened = opening.open(aad, answer[place + 2:place + 2 + length])
        place += 2 + length
        print(opened.hex() if outcome <= 1 else outcome)
    assert place == len(answer), "something follows"


main(*sys.argv[1:])
