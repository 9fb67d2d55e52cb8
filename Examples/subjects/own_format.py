#!/usr/bin/env python3
"""A format of one's own, which `own_format.yml` describes, in Python's `cryptography`.

    chunkwise verify --strategy Examples/subjects/own_format.yml --subject 'python3 Examples/subjects/own_format.py'
"""
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from subject_protocol import Failure, Opening, hexadecimal, serve

MAGIC, HEADER, CHUNK, NONCE, TAG = b"OWNFMT01", 40, 65536, 12, 16
STORED = NONCE + CHUNK + TAG


class Object(Opening):
    def __init__(self, request):
        super().__init__(request)
        if self.strategy != "own-format":
            raise Failure("unsupported")
        key = hexadecimal(request.get("key"))
        if len(key) != 32:
            raise Failure("invalidKey")
        self.cipher, self.source = AESGCM(key), self.opened()
        chunks, last = divmod(self.source.length - HEADER, STORED)
        if chunks < 0 or 0 < last <= NONCE + TAG:
            raise Failure("truncatedCiphertext")
        self.length = chunks * CHUNK + max(last - NONCE - TAG, 0)
        if self.source.read(0, len(MAGIC)) != MAGIC:
            raise Failure("invalidHeader")

    def read(self, offset, count):
        if offset > self.length:
            raise Failure("rangeOutOfBounds")
        end = min(offset + count, self.length)
        if offset == end:
            return b""
        first = offset // CHUNK
        plaintext = b"".join(self.chunk(index) for index in range(first, (end - 1) // CHUNK + 1))
        return plaintext[offset - first * CHUNK:end - first * CHUNK]

    def chunk(self, index):
        start = HEADER + index * STORED
        stored = self.source.read(start, min(STORED, self.source.length - start))
        try:
            return self.cipher.decrypt(stored[:NONCE], stored[NONCE:], index.to_bytes(8, "big"))
        except InvalidTag:
            raise Failure("authenticationFailed")


serve(Object, name="own-format", version="1", strategies=["described"], keyByteCounts=[32], granularity="chunk",
    measures=True)
