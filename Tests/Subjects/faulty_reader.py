"""Readers with one fault each, none of which is a mutant of chunkwise's, to try what it says of unknown faults.

    chunkwise verify --subject 'python3 Tests/Subjects/faulty_reader.py iv_of_ones'
    python3 Tests/Subjects/faulty_reader.py --list

A fault's decorator has the flags whose mutants are a right answer to it, chosen by what the fault is, before any run.
"""

import json
import pathlib
import sys
import time

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Examples" / "subjects"))

from subject_protocol import Failure, Reader, Source, serve

ALL = (1 << 128) - 1
FAULTS = {}
OPENED = []


def decrypt(mode, key, iv, data):
    decryptor = Cipher(algorithms.AES(key), modes.CTR(iv) if mode == "ctr" else modes.CBC(iv)).decryptor()
    return decryptor.update(data) + decryptor.finalize()


class Right(Reader):
    """The reader without a fault, in parts that can each be wrong."""

    def __init__(self, request):
        self.reads = []
        super().__init__(request, decrypt)
        OPENED.append(self)

    def first_iv(self, chunk):
        return (self.iv + chunk * self.sequence) & ALL

    def previous(self, chunk, start):
        return self.source.read(chunk * self.stored + start - 16, 16)

    def counter(self, block):
        return (self.iv + block) & ALL

    def place(self, chunk):
        return chunk * self.stored

    def blocks(self, chunk, start, end):
        if self.strategy == "ctr":
            data = self.source.read(start, end - start)
            return self.counters(start // 16, data)
        data = self.source.read(self.place(chunk) + start, end - start)
        iv = self.previous(chunk, start) if start else self.first_iv(chunk).to_bytes(16, "big")
        return decrypt("cbc", self.key, iv, data)

    def counters(self, block, data):
        return decrypt("ctr", self.key, self.counter(block).to_bytes(16, "big"), data)

    def each_counter(self, block, data):
        """The same for counters that are not one after the other."""
        return b"".join(
            decrypt("ctr", self.key, self.counter(block + start // 16).to_bytes(16, "big"), data[start:start + 16])
            for start in range(0, len(data), 16))

    def read(self, offset, count):
        data = self.changed(offset, count, super().read(offset, count))
        self.reads.append((offset, count, data))
        del self.reads[:-2]
        return data

    def changed(self, offset, count, data):
        return data


def fault(right):
    def add(reader):
        FAULTS[reader.__name__] = reader
        reader.right = right.split()
        return reader
    return add


def flip(data, index):
    return data[:index] + bytes([data[index] ^ 1]) + data[index + 1:] if data else data


# The IV of a first block.


@fault("FirstBlock")
class iv_of_ones(Right):
    """The first block's IV is all ones."""
    def first_iv(self, chunk): return ALL


@fault("FirstBlock")
class iv_high_half(Right):
    """Only the first eight bytes of the IV are used."""
    def first_iv(self, chunk): return super().first_iv(chunk) >> 64 << 64


@fault("FirstBlock")
class iv_rotated(Right):
    """The IV is rotated by a byte."""
    def first_iv(self, chunk): return (super().first_iv(chunk) << 8 | super().first_iv(chunk) >> 120) & ALL


@fault("FirstBlock")
class iv_is_key(Right):
    """The key's first 16 bytes are the IV."""
    def first_iv(self, chunk): return int.from_bytes(self.key[:16], "big")


# The block before.


@fault("PreviousBlock")
class previous_three_back(Right):
    """The block three before is the IV."""
    def previous(self, chunk, start):
        return super().previous(chunk, start - 32) if start > 32 else self.first_iv(chunk).to_bytes(16, "big")


@fault("PreviousBlock")
class previous_of_ones(Right):
    """The block before is taken for ones."""
    def previous(self, chunk, start): return b"\xFF" * 16


@fault("PreviousBlock")
class previous_is_own(Right):
    """A block's own ciphertext is the IV."""
    def previous(self, chunk, start): return super().previous(chunk, start + 16)


@fault("PreviousBlock")
class previous_half(Right):
    """Only half of the block before is used."""
    def previous(self, chunk, start): return super().previous(chunk, start)[:8] + bytes(8)


@fault("PreviousBlock")
class previous_plaintext(Right):
    """The plaintext of the block before is the IV."""
    def previous(self, chunk, start):
        return super().blocks(chunk, start - 16, start) if start > 16 else bytes(16)


@fault("PreviousBlock")
class previous_reversed(Right):
    """The block before is used backwards."""
    def previous(self, chunk, start): return super().previous(chunk, start)[::-1]


# Chunks.


@fault("SequenceCarry ChunkEdge")
class chunk_iv_twice(Right):
    """Twice a chunk's number is added to the IV."""
    def first_iv(self, chunk): return (self.iv + 2 * chunk * self.sequence) & ALL


@fault("SequenceCarry ChunkEdge")
class chunk_iv_minus(Right):
    """A chunk's number is subtracted from the IV."""
    def first_iv(self, chunk): return (self.iv - chunk * self.sequence) & ALL


@fault("SequenceCarry ChunkEdge")
class chunk_iv_little_endian(Right):
    """A chunk's number is added at the IV's first byte."""
    def first_iv(self, chunk):
        little = int.from_bytes(self.iv.to_bytes(16, "big"), "little") + chunk * self.sequence
        return int.from_bytes((little & ALL).to_bytes(16, "little"), "big")


@fault("SequenceCarry ChunkEdge")
class chunk_iv_8_bit(Right):
    """A chunk's number is added to the IV's last byte only."""
    def first_iv(self, chunk): return self.iv >> 8 << 8 | (self.iv + chunk * self.sequence) & 0xFF


@fault("SequenceCarry ChunkEdge")
class chunk_iv_48_bit(Right):
    """A chunk's number is added to the IV's last 48 bits only."""
    def first_iv(self, chunk): return self.iv >> 48 << 48 | (self.iv + chunk * self.sequence) & (1 << 48) - 1


@fault("SequenceCarry ChunkEdge")
class chunk_iv_96_bit(Right):
    """A chunk's number is added to the IV's last 96 bits only."""
    def first_iv(self, chunk): return self.iv >> 96 << 96 | (self.iv + chunk * self.sequence) & (1 << 96) - 1


@fault("SequenceCarry ChunkEdge")
class chunk_iv_xor(Right):
    """A chunk's number is combined with the IV by XOR."""
    def first_iv(self, chunk): return self.iv ^ chunk * self.sequence


@fault("SequenceCarry ChunkEdge")
class chunk_iv_always_counts(Right):
    """A chunk's number is added whatever the rule says."""
    def first_iv(self, chunk): return (self.iv + chunk * (self.strategy == "cbc-chunked")) & ALL


@fault("ChunkEdge")
class chunk_padding_once(Right):
    """The padding of one earlier chunk is counted, whatever their number."""
    def place(self, chunk): return chunk * self.chunk + 16 * (self.padded and chunk > 0)


@fault("ChunkEdge")
class chunk_padding_of_32(Right):
    """A chunk's padding is taken for two blocks."""
    def place(self, chunk): return max(0, min(chunk * (self.chunk + 32 * self.padded), self.source.length - 16))


@fault("ChunkEdge")
class chunk_stops_after_two(Right):
    """A read delivers bytes of two chunks at most."""
    def changed(self, offset, count, data):
        return data[:(offset // self.chunk + 2) * self.chunk - offset]


@fault("ChunkEdge")
class chunk_last_byte_wrong(Right):
    """The last byte of a chunk is wrong where a read goes on behind it."""
    def changed(self, offset, count, data):
        edge = (offset // self.chunk + 1) * self.chunk - offset
        return flip(data, edge - 1) if len(data) > edge else data


@fault("ChunkEdge")
class chunk_chained_to_itself(Right):
    """A chunk's first block is chained to the chunk's last one."""
    def first_iv(self, chunk):
        end = min((chunk + 1) * self.stored, self.source.length)
        return super().first_iv(chunk) if chunk == 0 else int.from_bytes(self.source.read(end - 16, 16), "big")


@fault("ChunkEdge Beyond32Bits")
class chunk_number_8_bit(Right):
    """A chunk's number is held in 8 bits."""
    def place(self, chunk): return chunk % 256 * self.stored
    def first_iv(self, chunk): return super().first_iv(chunk % 256)


# Counters.


@fault("CounterCarry32 CounterCarry64 CounterCarry8")
class counter_40_bit(Right):
    """The counter carries no further than 40 bits."""
    def counter(self, block): return self.iv >> 40 << 40 | (self.iv + block) & (1 << 40) - 1
    counters = Right.each_counter


@fault("CounterCarry64")
class counter_96_bit(Right):
    """The counter carries no further than 96 bits."""
    def counter(self, block): return self.iv >> 96 << 96 | (self.iv + block) & (1 << 96) - 1
    counters = Right.each_counter


@fault("CounterCarry8 CounterCarry32")
class counter_12_bit(Right):
    """The counter carries no further than 12 bits."""
    def counter(self, block): return self.iv >> 12 << 12 | (self.iv + block) & (1 << 12) - 1
    counters = Right.each_counter


@fault("FirstBlock CounterStart")
class counter_from_two(Right):
    """The counter starts at two, as behind a tag of GCM."""
    def counter(self, block): return (self.iv + block + 2) & ALL


@fault("FirstBlock CounterStart")
class counter_before(Right):
    """The counter starts one too early."""
    def counter(self, block): return (self.iv + block - 1) & ALL


@fault("CounterStart")
class counter_of_bits(Right):
    """The counter of a read's start counts bits."""
    def counter(self, block): return (self.iv + 128 * block) & ALL


@fault("CounterStart CounterCarry8 CounterCarry32 CounterCarry64")
class counter_xor(Right):
    """A block's number is combined with the counter by XOR."""
    def counter(self, block): return self.iv ^ block
    counters = Right.each_counter


@fault("CounterStart")
class counter_upper_half(Right):
    """The counter counts in its upper half."""
    def counter(self, block): return (self.iv + (block << 64)) & ALL
    counters = Right.each_counter


@fault("CounterWrap")
class counter_wraps_to_iv(Right):
    """A counter that wraps starts from the IV again."""
    def counter(self, block): return self.iv + block if self.iv + block <= ALL else self.iv
    counters = Right.each_counter


@fault("CounterWrap")
class counter_wraps_to_one(Right):
    """A counter that wraps starts at one."""
    def counter(self, block): return (self.iv + block) % ALL or ALL
    counters = Right.each_counter


# Padding and the end.


@fault("LastBytes")
class end_two_short(Right):
    """A read to the end of a padded object ends two bytes early."""
    def changed(self, offset, count, data):
        return data[:-2] if self.padded and offset + len(data) == self.length and len(data) > 2 else data


@fault("LastBytes")
class end_of_ones(Right):
    """The last bytes of a padded object are ones."""
    def changed(self, offset, count, data):
        kept = self.length // 16 * 16 - offset
        return data[:max(0, kept)] + b"\xFF" * (len(data) - max(0, kept)) if self.padded else data


@fault("LastBytes")
class end_flipped(Right):
    """The object's last byte is wrong."""
    def changed(self, offset, count, data):
        return flip(data, len(data) - 1) if self.padded and data and offset + len(data) == self.length else data


@fault("LastBytes")
class padding_one_kept(Right):
    """A byte of the padding is delivered."""
    def unpadded(self):
        return super().unpadded() + 1


class Unpadding(Right):
    """Padding by another rule."""
    def unpadded(self):
        last = (self.length - 1) // self.stored
        size = self.length - last * self.stored
        block = self.blocks(last, size - 16, size)
        count = self.padding(block)
        size -= count
        if size > self.chunk or not size and last:
            raise Failure("invalidPadding")
        return last * self.chunk + size

    @staticmethod
    def is_right(block): return 1 <= block[-1] <= 16 and block[-block[-1]:] == block[-1:] * block[-1]


@fault("PaddingByte")
class padding_15_refused(Unpadding):
    """Padding of fifteen bytes is an error."""
    def padding(self, block):
        if not self.is_right(block) or block[-1] == 15: raise Failure("invalidPadding")
        return block[-1]


@fault("PaddingByte")
class padding_1_refused(Unpadding):
    """Padding of one byte is an error."""
    def padding(self, block):
        if not self.is_right(block) or block[-1] == 1: raise Failure("invalidPadding")
        return block[-1]


@fault("PaddingByte")
class padding_byte_3_unchecked(Unpadding):
    """The block's fourth byte is not checked."""
    def padding(self, block):
        count = block[-1]
        if not 1 <= count <= 16 or any(block[index] != count for index in range(16 - count, 16) if index != 3):
            raise Failure("invalidPadding")
        return count


@fault("BadPadding PaddingByte")
class padding_last_two(Unpadding):
    """Only the last two bytes of the padding are checked."""
    def padding(self, block):
        if not 1 <= block[-1] <= 16 or block[-1] > 1 and block[-2] != block[-1]: raise Failure("invalidPadding")
        return block[-1]


@fault("BadPadding PaddingByte")
class padding_of_zero(Unpadding):
    """A last byte of zero is no padding, and no error."""
    def padding(self, block):
        if block[-1] == 0: return 0
        if not self.is_right(block): raise Failure("invalidPadding")
        return block[-1]


@fault("BadPadding PaddingByte")
class padding_masked(Unpadding):
    """The last byte's low four bits are the padding's length, and nothing is checked."""
    def padding(self, block): return block[-1] & 15 or 16


@fault("BadPadding PaddingByte")
class padding_misnamed(Right):
    """Wrong padding is called a truncated ciphertext."""
    def unpadded(self):
        try:
            return super().unpadded()
        except Failure as failure:
            raise Failure("truncatedCiphertext" if str(failure) == "invalidPadding" else str(failure))


@fault("PaddingLookalike")
class strips_ones_in_middle(Right):
    """A byte of one at a read's end is not delivered."""
    def changed(self, offset, count, data):
        return data[:-1] if data[-1:] == b"\1" and offset + len(data) < self.length else data


@fault("EveryLength")
class length_of_seven(Right):
    """Lengths that are a multiple of seven, from 70 on, come out one too short."""
    def unpadded(self):
        length = super().unpadded()
        return length - (length >= 70 and length % 7 == 0)


# Ranges.


@fault("ReadPastEnd")
class past_end_one_less(Right):
    """A read past the end delivers one byte less."""
    def changed(self, offset, count, data): return data[:-1] if offset + count > self.length else data


@fault("ReadPastEnd")
class past_end_misnamed(Right):
    """A read past the end is a truncated ciphertext."""
    def read(self, offset, count):
        if offset < self.length < offset + count: raise Failure("truncatedCiphertext")
        return super().read(offset, count)


@fault("OffsetPastEnd")
class offset_past_end_last(Right):
    """An offset past the end delivers the last byte."""
    def read(self, offset, count):
        return super().read(max(0, self.length - 1), 1) if offset > self.length else super().read(offset, count)


@fault("OffsetPastEnd")
class offset_past_end_misnamed(Right):
    """An offset past the end is an invalid request."""
    def read(self, offset, count):
        if offset > self.length: raise Failure("invalidRequest")
        return super().read(offset, count)


@fault("OffsetAtEnd")
class offset_at_end_misnamed(Right):
    """An offset at the end is a truncated ciphertext."""
    def read(self, offset, count):
        if offset == self.length and count: raise Failure("truncatedCiphertext")
        return super().read(offset, count)


@fault("ZeroCount")
class zero_count_misnamed(Right):
    """A read of nothing is an invalid request."""
    def read(self, offset, count):
        if not count: raise Failure("invalidRequest")
        return super().read(offset, count)


@fault("ZeroCount")
class zero_count_delivers_one(Right):
    """A read of nothing delivers a byte."""
    def read(self, offset, count):
        return super().read(offset, count or 1)


@fault("UnalignedRead")
class skip_12(Right):
    """The thirteenth byte of a block is taken for the fourteenth."""
    def changed(self, offset, count, data):
        return data[1:] + data[-1:] if offset % 16 == 12 else data


@fault("UnalignedRead")
class skip_forgotten_if_odd(Right):
    """A read at an odd offset starts at its block's start."""
    def read(self, offset, count):
        if offset % 2 and offset < self.length:
            count = min(count, self.length - offset)
            return super().read(offset // 16 * 16, count)
        return super().read(offset, count)


@fault("UnalignedRead")
class first_byte_flipped_unaligned(Right):
    """The first byte of a read inside a block is wrong."""
    def changed(self, offset, count, data): return flip(data, 0) if offset % 16 else data


@fault("LargeOffset Beyond31Bits Beyond32Bits Beyond35Bits Beyond36Bits")
class offset_24_bit(Right):
    """Offsets are held in 24 bits."""
    def read(self, offset, count):
        return super().read(offset % (1 << 24), count) if offset <= self.length else super().read(offset, count)


@fault("LongRead")
class read_of_64_kib(Right):
    """A read delivers 64 KiB at most."""
    def changed(self, offset, count, data): return data[:1 << 16]


@fault("LongRead")
class read_of_256_kib(Right):
    """Of a read, what lies behind 256 KiB is zeros."""
    def changed(self, offset, count, data): return data[:1 << 18] + bytes(max(0, len(data) - (1 << 18)))


# What is kept from read to read.


@fault("RepeatedRead SeekStorm")
class repeat_flipped(Right):
    """The same read again has a wrong byte."""
    def changed(self, offset, count, data):
        return flip(data, 0) if self.reads and self.reads[-1][:2] == (offset, count) else data


@fault("BackwardRead SeekStorm")
class backward_flipped(Right):
    """A read before the last one has a wrong byte."""
    def changed(self, offset, count, data): return flip(data, 0) if self.reads and offset < self.reads[-1][0] else data


@fault("BackwardRead SeekStorm")
class backward_empty(Right):
    """A read before the last one delivers nothing."""
    def changed(self, offset, count, data): return b"" if self.reads and offset < self.reads[-1][0] else data


@fault("SeekStorm RepeatedRead BackwardRead ForwardReads")
class second_read_wrong(Right):
    """Each second read has a wrong byte."""
    def read(self, offset, count):
        self.turn = getattr(self, "turn", 0) + 1
        data = super().read(offset, count)
        return flip(data, 0) if self.turn % 2 == 0 else data


@fault("ForwardReads")
class forward_repeats(Right):
    """A read that goes on where the last one ended starts with its last byte."""
    def changed(self, offset, count, data):
        if not self.reads or sum(self.reads[-1][:2]) != offset or not self.reads[-1][2] or not data: return data
        return self.reads[-1][2][-1:] + data[1:]


@fault("Interleaved")
class iv_of_first_opened(Right):
    """All objects share the IV of the one that was opened first, until all are closed."""
    def first_iv(self, chunk):
        open_ones = [item for item in OPENED if item.strategy == self.strategy][-2:]
        return (open_ones[0].iv if open_ones and len(open_ones) > 1 else self.iv) + chunk * self.sequence & ALL


# Sources.


class Fetching(Right):
    """A source whose answers are taken otherwise."""
    def __init__(self, request):
        super().__init__(request)
        self.source.read = self.fetched

    def fetched(self, offset, count): return Source.read(self.source, offset, count)


@fault("ShortReads")
class short_filled(Fetching):
    """What a short read lacks is zeros."""
    def fetched(self, offset, count):
        data = self.source.part(offset, count) if count else b""
        if count and not data: raise Failure("truncatedCiphertext")
        return data + bytes(count - len(data))


@fault("ShortReads")
class short_misnamed(Fetching):
    """A short read is a truncated ciphertext."""
    def fetched(self, offset, count):
        data = self.source.part(offset, count) if count else b""
        if len(data) < count: raise Failure("truncatedCiphertext")
        return data


@fault("ShortReads")
class short_of_five(Fetching):
    """After five short reads no more is fetched."""
    def fetched(self, offset, count):
        data = b""
        for turn in range(5):
            if len(data) < count:
                part = self.source.part(offset + len(data), count - len(data))
                if not part: raise Failure("truncatedCiphertext")
                data += part
        return data + bytes(count - len(data))


@fault("SourceFailure")
class failure_of_zeros(Fetching):
    """Where a fetch fails, zeros are decrypted."""
    def fetched(self, offset, count):
        try:
            return Source.read(self.source, offset, count)
        except Failure as failure:
            if str(failure) == "io": return bytes(count)
            raise


@fault("SourceFailure")
class failure_is_internal(Fetching):
    """A failed fetch is an internal error."""
    def fetched(self, offset, count):
        try:
            return Source.read(self.source, offset, count)
        except Failure as failure:
            raise Failure("internal" if str(failure) == "io" else str(failure))


@fault("SourceEndsEarly")
class end_is_internal(Fetching):
    """An early end is an internal error."""
    def fetched(self, offset, count):
        try:
            return Source.read(self.source, offset, count)
        except Failure as failure:
            raise Failure("internal" if str(failure) == "truncatedCiphertext" else str(failure))


@fault("SourceEndsEarly")
class end_of_zeros(Fetching):
    """Behind an early end, zeros are decrypted."""
    def fetched(self, offset, count):
        try:
            return Source.read(self.source, offset, count)
        except Failure as failure:
            if str(failure) == "truncatedCiphertext": return bytes(count)
            raise


@fault("AfterFailure")
class failure_twice(Fetching):
    """The read after a failed one fails as well."""
    failed = False

    def read(self, offset, count):
        if self.failed:
            self.failed = False
            raise Failure("io")
        try:
            return super().read(offset, count)
        except Failure as failure:
            self.failed = str(failure) in ("io", "truncatedCiphertext")
            raise


@fault("Fetches")
class fetches_three_before(Right):
    """The three blocks before are fetched."""
    def previous(self, chunk, start):
        first = max(0, start - 48)
        return self.source.read(chunk * self.stored + first, start - first)[-16:]


@fault("Fetches")
class fetches_two_more(Right):
    """Two blocks more than needed are fetched."""
    def blocks(self, chunk, start, end):
        place = self.place(chunk) if self.strategy != "ctr" else 0
        behind = min(place + end + 32, self.source.length) - place - end
        if behind > 0: self.source.read(place + end, behind)
        return super().blocks(chunk, start, end)


@fault("Fetches")
class fetches_all_before(Right):
    """A read fetches everything from its chunk's start on, up to 64 KiB."""
    def previous(self, chunk, start):
        first = max(0, start - 65536)
        return self.source.read(chunk * self.stored + first, start - first)[-16:]


# The cipher and everything.


@fault("StrideEdge")
class ninth_block_wrong(Right):
    """The ninth block of a read is wrong."""
    def changed(self, offset, count, data): return flip(data, 128) if len(data) > 144 else data


@fault("SpecialBlock KnownAnswer")
class block_of_ones(Right):
    """A ciphertext block of ones is delivered as zeros."""
    def counters(self, block, data): return self.holed(super().counters(block, data), data)

    def blocks(self, chunk, start, end):
        if self.strategy == "ctr": return super().blocks(chunk, start, end)
        before = self.source.read(self.place(chunk) + max(0, start - 16), end - max(0, start - 16))
        data = before[16:] if start else before
        iv = before[:16] if start else self.first_iv(chunk).to_bytes(16, "big")
        return self.holed(decrypt("cbc", self.key, iv, data), data)

    def holed(self, plaintext, ciphertext):
        return b"".join(
            plaintext[start:start + 16] if ciphertext[start:start + 16] != b"\xFF" * 16 else bytes(16)
            for start in range(0, len(plaintext), 16))


@fault("PartialBlock")
class partial_block_of_ones(Right):
    """A last part of a block in CTR is ones."""
    def changed(self, offset, count, data):
        edge = self.length // 16 * 16
        if self.strategy != "ctr" or offset + len(data) <= edge or edge == self.length: return data
        kept = max(0, edge - offset)
        return data[:kept] + b"\xFF" * (len(data) - kept)


@fault("EmptyObject")
class empty_is_truncated(Right):
    """An object of no plaintext is a truncated ciphertext."""
    def __init__(self, request):
        super().__init__(request)
        if self.length == 0: raise Failure("truncatedCiphertext")


@fault("KeyLength KnownAnswer")
class key_256_reversed(Right):
    """A key of 32 bytes is used backwards."""
    def __init__(self, request):
        if type(request.get("key")) is str and len(request["key"]) == 64:
            request = {**request, "key": bytes.fromhex(request["key"])[::-1].hex()}
        super().__init__(request)


# Reported faults that are about more than a range of one object.


@fault("GrowsWithOffset")
class skips_by_decrypting(Right):
    """What is before a read is decrypted, and thrown away: here a second for 2 GiB."""
    def read(self, offset, count):
        if offset < self.length: time.sleep(min(offset / 2**31, 5))
        return super().read(offset, count)


@fault("WrongLengths")
class fitted_keys(Right):
    """Keys and IVs are filled up with zeros, and cut."""
    def __init__(self, request):
        fitted = {name: (request[name] + "0" * 64)[:length]
                  for name, length in (("key", max(32, min(64, len(request.get("key", "")) // 16 * 16))), ("iv", 32))
                  if type(request.get(name)) is str}
        super().__init__({**request, **fitted})


@fault("StaleFile")
class cache_by_path(Right):
    """Ranges of a file are kept by its path."""
    kept = {}

    def __init__(self, request):
        super().__init__(request)
        self.path = request["source"].get("path")

    def read(self, offset, count):
        if self.path is None: return super().read(offset, count)
        key = (self.path, offset, count)
        if key not in self.kept: self.kept[key] = super().read(offset, count)
        return self.kept[key]


@fault("AfterEmptyRead")
class empty_is_end(Right):
    """A read of no bytes is taken for the end."""
    ended = False

    def read(self, offset, count):
        data = super().read(offset, count)
        self.ended = self.ended or count == 0
        return b"" if self.ended else data


@fault("PaddingLookalike")
class strips_pieces(Right):
    """Padding is stripped from each piece of 64 KiB that ends like some, of two bytes or more."""
    def changed(self, offset, count, data):
        pieces = [data[start:start + 65536] for start in range(0, len(data), 65536)]
        return b"".join(self.stripped(piece) for piece in pieces[:-1]) + b"".join(pieces[-1:])

    @staticmethod
    def stripped(piece):
        count = piece[-1]
        return piece[:-count] if 2 <= count <= 16 and piece.endswith(bytes([count]) * count) else piece


@fault("ShortNonce")
class nonce_of_12_bytes(Right):
    """Where the IV ends in four zeros, the counter starts at 1, as in GCM."""
    def counter(self, block):
        return super().counter(block) + (self.iv & 0xFFFFFFFF == 0 and self.iv & ALL >> 64 != 0)


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        for name, reader in FAULTS.items():
            print(json.dumps({"name": name, "fault": reader.__doc__, "right": reader.right}))
    else:
        serve(FAULTS[sys.argv[1]] if sys.argv[1:] else Right, name="faulty_reader " + " ".join(sys.argv[1:]), version="1")
