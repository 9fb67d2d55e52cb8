#!/usr/bin/env python3
"""What the player of "Play encrypted files with on-the-fly decryption on iOS" does, bugs and all, as a subject.

The file is encrypted in chunks; one decrypted chunk is kept, and a request is answered from it. Names are those of the
article's Objective-C. What it does not show is taken at its best: the first chunk is loaded before the first request,
the movie's length is what its chunks decrypt to, `chunksInBlock * chunkSize` is the length of a stored chunk, and the
library takes the key as it is.

    chunkwise verify --subject 'python3 Examples/subjects/playing_on_ios.py'

`--fix-key-lengths` lengthens keys as the library's `FixKeyLengths` does: 16 bytes become 24, 24 become 32.
"""
import sys
import time

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from subject_protocol import Failure, Parameters, serve


def common_crypto(key, iv, data):
    """CCCrypt with kCCOptionPKCS7Padding; an error is `nil`, to which messages are no error."""
    if len(data) % 16:
        return b""
    decryptor = Cipher(algorithms.AES(key), modes.CBC(iv)).decryptor()
    plaintext = decryptor.update(data) + decryptor.finalize()
    count = plaintext[-1] if plaintext else 0
    if not 1 <= count <= 16 or plaintext[-count:] != bytes([count]) * count:
        return b""
    return plaintext[:-count]


class Player(Parameters):
    def __init__(self, request):
        super().__init__(request)
        if "--fix-key-lengths" in sys.argv:
            self.key += bytes({16: 8, 24: 8, 32: 0}[len(self.key)])
        self.block_size = self.chunk
        # The kept chunk belongs to no offset that a request asks for, and so is not taken for granted.
        last = max(self.source.length - 1, 0) // self.stored
        self.length = last * self.block_size + len(self.get_data_from_file(last))
        self.current_offset, self.current_block_index = -1, 0
        self.decrypted_data = self.get_data_from_file(0)

    def get_data_from_file(self, index):
        start = index * self.stored
        data = self.source.read(start, max(0, min(self.stored, self.source.length - start)))
        return self.decrypt_data(data, self.stored)

    def decrypt_data(self, data, chunk_size):
        if chunk_size > len(data):
            chunk_size = len(data) // 16 * 16
        decrypted, offset = b"", 0
        while True:
            this_chunk_size = chunk_size if len(data) - offset > chunk_size else len(data) - offset
            # One IV for every chunk.
            part = data[offset:offset + this_chunk_size]
            decrypted += common_crypto(self.key, self.iv.to_bytes(16, "big"), part)
            offset += this_chunk_size
            if offset >= len(data):
                return decrypted
            while this_chunk_size == 0:
                time.sleep(1)  # 1 to 15 bytes: the article's loop never ends.

    def read(self, requested_offset, requested_length):
        if self.current_offset != requested_offset:
            self.current_offset = requested_offset
            requested_block = self.current_offset // self.block_size
            if self.current_block_index != requested_block:
                self.current_block_index = requested_block
                self.decrypted_data = self.get_data_from_file(requested_block)
        offset = max(0, self.current_offset - self.block_size * self.current_block_index)
        # NSUInteger wraps around.
        max_length = (len(self.decrypted_data) - offset) % (1 << 64)
        if requested_length < max_length and requested_length <= len(self.decrypted_data):
            max_length = requested_length
        if offset + max_length > len(self.decrypted_data):
            raise Failure("internal")  # subdataWithRange: raises NSRangeException.
        return self.decrypted_data[offset:offset + max_length]


serve(
    Player, name="playing-on-ios", version="as published", strategies=["cbc-chunked"],
    keyByteCounts=[16], granularity="chunk")
