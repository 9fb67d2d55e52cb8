#!/usr/bin/env python3
"""What the code of 「iOS 上で巨大なファイルを復号する方法」 ("how to decrypt huge files on iOS") does, bugs and all, as a subject.

Continuous CBC; each range is decrypted from the block before it. Names are those of the article's Swift. Its file
output is its range function from 0 on, in windows, up to the ciphertext's length: so that length is the plaintext's.

    chunkwise verify --subject 'python3 Examples/subjects/huge_files_on_ios.py'
"""
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from subject_protocol import Failure, Parameters, serve


def decrypt(encrypted_data, key_data, initialization_vector, is_padding):
    """`CCCrypt` into a buffer of the ciphertext's length, which is never cut to the bytes that were written."""
    if len(encrypted_data) % 16:
        raise Failure("internal")  # kCCAlignmentError
    decryptor = Cipher(algorithms.AES(key_data), modes.CBC(initialization_vector)).decryptor()
    plaintext = decryptor.update(encrypted_data) + decryptor.finalize()
    if not is_padding:
        return plaintext
    count = plaintext[-1] if plaintext else 0
    if not 1 <= count <= 16 or plaintext[-count:] != bytes([count]) * count:
        raise Failure("internal")  # kCCDecodeError
    return plaintext[:-count] + bytes(count)


class CommonCryptoUtility(Parameters):
    def __init__(self, request):
        super().__init__(request)
        self.length = self.source.length

    def read(self, required_slice_offset, slice_length):
        source_file_size = self.source.length
        if required_slice_offset + slice_length > source_file_size:
            raise Failure("rangeOutOfBounds")  # requestSizeGreaterThanSource
        if slice_length <= 0:
            raise Failure("invalidRequest")  # lengthLessThanOne
        aligned_offset = required_slice_offset // 16 * 16
        heading = required_slice_offset - aligned_offset
        # One block too many wherever the slice ends with a block.
        total_decrypt_block_amount = (slice_length + heading) // 16 + 1
        total_decrypt_block_length = total_decrypt_block_amount * 16
        drop_length = total_decrypt_block_length - (slice_length + heading)
        if aligned_offset == 0:
            init_vector_data = self.iv.to_bytes(16, "big")
        else:
            init_vector_data = self.source.read(aligned_offset - 16, 16)
        encrypted_chunk_data = self.read_data(aligned_offset, total_decrypt_block_length)
        decrypted_chunk = decrypt(
            encrypted_chunk_data, self.key, init_vector_data,
            is_padding=aligned_offset + total_decrypt_block_length == source_file_size)
        return decrypted_chunk[heading:total_decrypt_block_length - drop_length]

    def read_data(self, offset, length):
        """`FileHandle.readData(ofLength:)` ends with the file, and says so by its length, which is not looked at."""
        try:
            return self.source.read(offset, min(length, self.source.length - offset))
        except Failure as failure:
            if str(failure) == "io":
                raise
            return b""


serve(
    CommonCryptoUtility, name="huge-files-on-ios", version="as published", strategies=["cbc-continuous"],
    keyByteCounts=[16])
