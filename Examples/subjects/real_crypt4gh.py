#!/usr/bin/env python3
"""crypt4gh, the reference implementation of the GA4GH standard, as a subject: its `lib.decrypt` with offset and span.

    python3 -m pip install crypt4gh
    chunkwise verify --strategy crypt4gh --subject 'python3 Examples/subjects/real_crypt4gh.py'

The library takes a private key and finds the session key in the header, and the harness gives the session key alone. So
magic and version are the object's, and behind them stands one packet that the library itself makes for a throw-away
key. All behind `dataOffset` is the object's again. The library has no function for the plaintext's length: the adapter
works it out.
"""
import importlib.metadata
import io
import logging
import os

from crypt4gh import CIPHER_DIFF, CIPHER_SEGMENT_SIZE, header, lib, sodium

from subject_protocol import Failure, Opening, hexadecimal, integer, serve

logging.disable(logging.CRITICAL)
PRIVATE = os.urandom(32)
KEYS = [(0, PRIVATE, sodium.derive_pk(PRIVATE))]


class File(io.RawIOBase):
    """The library's view of an object: a header, and behind it the object's segments."""

    def __init__(self, start, source, offset):
        super().__init__()
        self.start, self.source, self.offset, self.position = start, source, offset, 0
        self.length = len(start) + source.length - offset

    def seek(self, offset, whence=io.SEEK_SET):
        self.position = offset + [0, self.position, self.length][whence]
        return self.position

    def read(self, count=-1):
        end = self.length if count < 0 else min(self.length, self.position + count)
        first, last = (max(place, len(self.start)) for place in (self.position, end))
        data = self.start[self.position:end]
        if last > first:
            data += self.source.read(first - len(self.start) + self.offset, last - first)
        self.position += len(data)
        return data

    def readinto(self, buffer):
        data = self.read(len(buffer))
        buffer[:len(data)] = data
        return len(data)


class Object(Opening):
    def __init__(self, request):
        super().__init__(request)
        key, self.offset = hexadecimal(request.get("key")), integer(request.get("dataOffset"), 16)
        if len(key) != 32:
            raise Failure("invalidKey")
        self.source = self.opened()
        byte_count = self.source.length - self.offset
        segment_count = -(-byte_count // CIPHER_SEGMENT_SIZE)
        if byte_count < 0 or 0 < byte_count - (segment_count - 1) * CIPHER_SEGMENT_SIZE <= CIPHER_DIFF:
            raise Failure("truncatedCiphertext")
        self.length = byte_count - segment_count * CIPHER_DIFF
        packets = list(header.encrypt(header.make_packet_data_enc(0, key), KEYS))
        self.header = self.source.read(0, 12) + header.serialize(packets)[12:]
        try:
            header.deconstruct(io.BytesIO(self.header), KEYS)
        except ValueError as error:
            raise Failure("unsupported" if "version" in str(error) else "invalidHeader")

    def read(self, offset, count):
        if offset > self.length:
            raise Failure("rangeOutOfBounds")
        if offset == self.length or not count:
            return b""  # a span of 0 is none
        plaintext = io.BytesIO()
        try:
            lib.decrypt(KEYS, File(self.header, self.source, self.offset), plaintext, offset=offset, span=count)
        except ValueError:
            raise Failure("authenticationFailed")
        return plaintext.getvalue()


serve(
    Object, name="crypt4gh", version=importlib.metadata.version("crypt4gh"), strategies=["crypt4gh"],
    keyByteCounts=[32], granularity="chunk")
