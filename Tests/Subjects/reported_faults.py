"""Readers with one fault each, modelled after public bug reports, to try whether chunkwise finds and names them.

    python3 reported_faults.py none        the right reader
    python3 reported_faults.py FAULT       the same with one fault
    python3 reported_faults.py --list      the faults, a JSON object a line

Each fault is made up after the report that it names, if it names one, and copies none of its code. Its `cause` says
which descriptions are right, and was written before anything was run. Faults are of two halves, by the parity of the
SHA-256 of the name: `tuning` (even) and `unseen` (odd). Explanations may be changed by what the first half shows, never
by the second.
"""
import hashlib
import hmac
import json
import os
import pathlib
import sys

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Examples" / "subjects"))

import subject_protocol
from subject_protocol import Failure, choice, hexadecimal, integer

ALL, HALF, WORD = (1 << 128) - 1, (1 << 64) - 1, (1 << 32) - 1
STRATEGIES = ["cbc-continuous", "cbc-chunked", "ctr", "cobblestone-128", "tink-aes-gcm-hkdf"]
FAULTS = {}


# The right reader.


def cipher(mode, key, data):
    decryptor = Cipher(algorithms.AES(key), mode).decryptor()
    return decryptor.update(data) + decryptor.finalize()


def xor(left, right):
    return (int.from_bytes(left, "big") ^ int.from_bytes(right, "big")).to_bytes(len(left), "big")


def expand(digest, key, info, count):
    """The output of HKDF-Expand."""
    block, output = b"", b""
    while len(output) < count:
        block = hmac.digest(key, block + info + bytes([len(output) // hashlib.new(digest).digest_size + 1]), digest)
        output += block
    return output[:count]


class Source(subject_protocol.Source):
    """Ciphertext, from a file or served by the harness."""

    def __init__(self, description):
        super().__init__(description)
        self.size = self.length

    def some(self, offset, count):
        """One fetch, which may be short."""
        return self.part(offset, count)

    def parts(self, offset, count):
        while count:
            part = self.some(offset, count)
            if not part:
                raise Failure("truncatedCiphertext")
            yield part
            offset, count = offset + len(part), count - len(part)

    def read(self, offset, count):
        return b"".join(self.parts(offset, count))


class Reader:
    """The plaintext of one object, chunk by chunk."""

    Source = Source

    def __init__(self, request):
        self.id, self.strategy, self.request = request["id"], request["strategy"], request
        self.key = hexadecimal(request.get("key"))
        self.parameters(request)
        if not self.key_is_valid():
            raise Failure("invalidKey")
        self.check_iv()
        self.source = self.Source(request["source"])
        self.size = self.source.size
        self.open()

    def check_iv(self):
        pass

    def read(self, offset, count):
        if offset > self.length:
            raise Failure("rangeOutOfBounds")
        return self.range(offset, min(offset + count, self.length))

    def range(self, offset, end):
        parts = []
        while offset < end:
            chunk, start, room = self.place(offset)
            count = min(room - start, end - offset)
            parts.append(self.part(chunk, start, start + count))
            offset += count
        return b"".join(parts)


class Plain(Reader):
    """CBC and CTR."""

    def parameters(self, request):
        self.iv = hexadecimal(request.get("iv"))
        self.counts, self.padded, self.chunk, self.sequence = self.strategy == "ctr", False, 1 << 62, False
        if not self.counts:
            self.padded = choice(request.get("padding"), ["pkcs7", "none"]) == "pkcs7"
        if self.strategy == "cbc-chunked":
            self.chunk = integer(request.get("chunkByteCount"), 16)
            self.sequence = choice(request.get("ivRule"), ["fixed", "sequence"]) == "sequence"
            if self.chunk % 16:
                raise Failure("invalidRequest")
        self.stored = self.chunk + 16 * self.padded

    def key_is_valid(self):
        return len(self.key) in (16, 24, 32)

    def check_iv(self):
        if len(self.iv) != 16:
            raise Failure("invalidIV")
        self.iv = int.from_bytes(self.iv, "big")

    def open(self):
        self.length = self.size
        if not self.counts and self.size % 16 or self.padded and not self.size:
            raise Failure("truncatedCiphertext")
        if self.padded:
            last = (self.size - 1) // self.stored
            size = self.size - last * self.stored
            size -= self.padding(self.blocks(last, size - 16, size))
            if size > self.chunk or size < 1 and last:
                raise Failure("invalidPadding")
            self.length = last * self.chunk + size

    def padding(self, block):
        """The number of bytes of padding in an object's last block."""
        count = block[-1]
        if not 1 <= count <= 16 or block[-count:] != bytes([count]) * count:
            raise Failure("invalidPadding")
        return count

    def place(self, offset):
        """The chunk of an offset, the offset in it, and the bytes of a whole chunk."""
        return offset // self.chunk, offset % self.chunk, self.chunk

    def part(self, chunk, start, stop):
        first = start // 16 * 16
        last = stop if self.counts else (stop + 15) // 16 * 16
        return self.blocks(chunk, first, last)[start - first:stop - first]

    def blocks(self, chunk, start, end):
        """The plaintext of whole blocks of one chunk."""
        if self.counts:
            return self.ctr(start // 16, self.source.read(start, end - start))
        before = 16 if start else 0
        data = self.source.read(chunk * self.stored + start - before, end - start + before)
        iv = data[:16] if before else self.first_iv(chunk).to_bytes(16, "big")
        return self.cbc(chunk, iv, data[before:])

    def first_iv(self, chunk):
        return (self.iv + chunk * self.sequence) & ALL

    def cbc(self, chunk, iv, data):
        return cipher(modes.CBC(iv), self.key, data)

    def counter(self, block):
        return (self.iv + block) & ALL

    def ctr(self, block, data):
        return cipher(modes.CTR(self.counter(block).to_bytes(16, "big")), self.key, data)

    def with_counters(self, counters, data):
        """The same with a counter for each block."""
        encryptor = Cipher(algorithms.AES(self.key), modes.ECB()).encryptor()
        stream = encryptor.update(b"".join(counter.to_bytes(16, "big") for counter in counters))
        return xor(data, stream[:len(data)])


class Sealed(Reader):
    """Cobblestone and Tink's AES-GCM-HKDF."""

    def parameters(self, request):
        self.tink = self.strategy == "tink-aes-gcm-hkdf"
        if self.tink:
            self.context = hexadecimal(request.get("associatedData"))
            self.key_size = choice(request.get("derivedKeyByteCount"), [16, 32])
            self.stored = integer(request.get("segmentByteCount"), self.key_size + 25)
            self.head = self.lead = self.key_size + 8
        else:
            self.context, self.key_size = hexadecimal(request.get("context")), 16
            self.stored, self.head, self.lead = 16384 + 16, 56, 0
        self.chunk = self.stored - 16

    def key_is_valid(self):
        return len(self.key) >= self.key_size if self.tink else len(self.key) in (16, 32)

    def open(self):
        self.measure()
        self.derive(self.header())
        self.check_end()

    def measure(self):
        """Finds the last chunk and the plaintext's length."""
        body = self.size - self.head + self.lead
        self.last = max(body - self.tink, 0) // self.stored
        start, end = self.extent(self.last)
        if self.size < self.head or end - start < 16:
            raise Failure("truncatedCiphertext")
        self.length = self.last * self.chunk - self.lead * (self.last > 0) + end - start - 16

    def header(self):
        return self.source.read(0, self.head)

    def derive(self, header):
        if self.tink:
            if header[0] != self.head:
                raise Failure("authenticationFailed")
            salt, self.nonce_base = header[1:1 + self.key_size], header[1 + self.key_size:]
            secret = hmac.digest(salt, self.key, "sha256")
            self.derived = expand("sha256", secret, self.context, self.key_size)
        else:
            info = b"c2sp.org/chunked-encryption@v1+AEAD_AES_128_GCM\0" + header[:24] + self.context
            output = expand("sha512", self.key, info, 60)
            self.derived, self.nonce_base = output[:16], output[16:28]
            self.check_commitment(output[28:], header[24:])

    def check_commitment(self, expected, found):
        if expected != found:
            raise Failure("authenticationFailed")

    def check_end(self):
        self.open_chunk(self.last)

    def extent(self, chunk):
        """The ciphertext of a chunk, tag included."""
        base = self.head - self.lead + chunk * self.stored
        return base + self.lead * (not chunk), min(base + self.stored, self.size)

    def nonce(self, chunk):
        if self.tink:
            return self.nonce_base + chunk.to_bytes(4, "big") + bytes([chunk == self.last])
        return xor(self.nonce_base, chunk.to_bytes(12, "big"))

    def fetch(self, chunk):
        start, end = self.extent(chunk)
        return self.source.read(start, end - start)

    def open_chunk(self, chunk):
        return self.unseal(self.nonce(chunk), self.fetch(chunk))

    def unseal(self, nonce, data):
        try:
            return AESGCM(self.derived).decrypt(nonce, data, None)
        except InvalidTag:
            raise Failure("authenticationFailed")

    def unseal_unchecked(self, nonce, data):
        return cipher(modes.CTR(nonce + (2).to_bytes(4, "big")), self.derived, data[:-16])

    def place(self, offset):
        chunk, start = divmod(offset + self.lead, self.chunk)
        return (chunk, start, self.chunk) if chunk else (0, offset, self.chunk - self.lead)

    def part(self, chunk, start, stop):
        return self.open_chunk(chunk)[start:stop]


# Faults. A class is put in front of the readers that it changes.


def fault(report, cause, *readers):
    def add(change):
        FAULTS[change.__name__] = change
        change.report, change.cause, change.readers = report, cause, readers or (Plain, Sealed)
        return change
    return add


class EachCounter:
    """A reader whose counters are computed one by one."""

    def ctr(self, block, data):
        return self.with_counters((self.counter(block + index) for index in range(-(-len(data) // 16))), data)


# Counters.


@fault("bitwiseshiftleft/sjcl#383", "counter: its last 4 bytes only, no carry beyond 32 bits", Plain)
class counter_low_word(EachCounter):
    """The counter counts in its last 4 bytes only, without a carry into the others."""

    def counter(self, block):
        return self.iv & ~WORD | (self.iv + block) & WORD


@fault("Legrandin/pycryptodome#413", "counter: the wrap behind 2^128 - 1, refused or not made", Plain)
class counter_wrap_refused:
    """A counter that would wrap from all ones to zero is an error."""

    def ctr(self, block, data):
        if self.iv + block + -(-len(data) // 16) > ALL + 1:
            raise Failure("internal")
        return super().ctr(block, data)


@fault("mirleft/ocaml-nocrypto#114", "counter: the carry from its lower into its upper half (64 bits)", Plain)
class carry_signed(EachCounter):
    """The carry out of the counter's lower half is found by comparing signed numbers, so that there is one too many."""

    def counter(self, block):
        low = (self.iv + block) & HALF
        carry = low - (low >> 63 << 64) < block
        return ((self.iv >> 64) + carry << 64 | low) & ALL


@fault("aead/chacha20#16", "counter: the carry at 64 bits, lost within some blocks of one read", Plain)
class carry_lost_in_batch:
    """Eight blocks that are decrypted together have the upper half of the first one's counter."""

    def ctr(self, block, data):
        firsts = ((self.counter(block + index // 8 * 8), index % 8) for index in range(-(-len(data) // 16)))
        return self.with_counters((first & ~HALF | (first + index) & HALF for first, index in firsts), data)


@fault("ricmoo/aes-js#35", "reads that start inside a block: counter rounded up, bytes to skip ignored", Plain)
class fraction_rounds_up:
    """A read that starts inside a block begins with the whole keystream of the block behind it."""

    def part(self, chunk, start, stop):
        if not self.counts:
            return super().part(chunk, start, stop)
        return self.ctr(-(-start // 16), self.source.read(start, stop - start))


@fault("krzyzanowskim/CryptoSwift#287", "short reads: the counter behind a piece that is no whole block", Plain)
class piece_counts_as_blocks:
    """The counter goes up by whole blocks for each piece of the source, also where that ends inside a block."""

    def blocks(self, chunk, start, end):
        if not self.counts:
            return super().blocks(chunk, start, end)
        block, parts = start // 16, []
        for part in self.source.parts(start, end - start):
            parts.append(self.ctr(block, part))
            block += -(-len(part) // 16)
        return b"".join(parts)


@fault("TritonDataCenter/java-manta#568", "IV or counter: leading zeros are lost, filled at the wrong end", Plain)
class biginteger_bytes:
    """The counter is a signed number whose shortest bytes are filled with zeros at the end, or cut there."""

    def counter(self, block):
        value = self.iv - (self.iv >> 127 << 128) + block
        shortest = value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True)
        return int.from_bytes(shortest[:16].ljust(16, b"\0"), "big")


@fault("gchq/CyberChef#1740", "counter: byte order, the block's number is added little-endian", Plain)
class number_little_endian(EachCounter):
    """The counter's lower half counts as a little-endian number."""

    def counter(self, block):
        low = int.from_bytes((self.iv & HALF).to_bytes(8, "big"), "little") + block & HALF
        return self.iv & ~HALF | int.from_bytes(low.to_bytes(8, "little"), "big")


@fault("seaweedfs/seaweedfs#7481", "reads that start inside the first block: bytes to skip ignored", Plain)
class first_block_not_skipped:
    """A read that starts inside the object's first block delivers that block from its start."""

    def part(self, chunk, start, stop):
        if self.counts and start < 16:
            return super().part(chunk, 0, stop - start)
        return super().part(chunk, start, stop)


@fault("ricmoo/aes-js#31", "offsets of 2^36 and beyond: the block's number in 32 bits", Plain)
class block_number_32_bits:
    """A block's number is held in 32 bits before it is added to the counter."""

    def counter(self, block):
        return (self.iv + (block & WORD)) & ALL


@fault("signalapp/libsignal#333", "counter: its last 4 bytes in 28 bits; no carry beyond 28 or 32 bits", Plain)
class position_in_32_bits(EachCounter):
    """The counter's last 4 bytes are turned into a position in bytes, which is held in 32 bits."""

    def counter(self, block):
        return self.iv & ~WORD | ((self.iv & WORD) * 16 + block * 16 & WORD) // 16


# What a read leaves behind in the IV.


@fault("naehrwert/scetool#2", "state: an earlier read changes the counter or IV of later ones", Plain)
class iv_low_bytes_altered:
    """A read leaves the last 2 bytes of its last counter in the object's IV."""

    def ctr(self, block, data):
        output = super().ctr(block, data)
        self.iv = self.iv & ~0xFFFF | self.counter(block + len(data) // 16) & 0xFFFF
        return output


@fault("RSoraM/mima-kit#9", "state: an earlier read of the start changes the IV of the first block", Plain)
class iv_is_overwritten:
    """A read from a chunk's start on leaves its last block of ciphertext in the place of the object's IV."""

    def cbc(self, chunk, iv, data):
        if data and iv == self.first_iv(chunk).to_bytes(16, "big"):
            self.iv = int.from_bytes(data[-16:], "big")
        return super().cbc(chunk, iv, data)


# Chains of blocks.


@fault("intel/isa-l_crypto#143", "the block before, at each 128 bytes of a read: plaintext for ciphertext", Plain)
class in_place_previous:
    """Each ninth block of a read is combined with the plaintext of the block before it, not with the ciphertext."""

    def cbc(self, chunk, iv, data):
        output = bytearray(super().cbc(chunk, iv, data))
        for start in range(128, len(data), 128):
            block, before = slice(start, start + 16), slice(start - 16, start)
            output[block] = xor(output[block], xor(data[before], output[before]))
        return bytes(output)


@fault("RidgeRun/gst-crypto#3", "the block before: the IV again at each 4096 bytes of a long read", Plain)
class piece_iv_reset:
    """A read goes in pieces of 4096 bytes, and each further one starts with the chunk's IV."""

    def cbc(self, chunk, iv, data):
        ivs = [iv] + [self.first_iv(chunk).to_bytes(16, "big")] * (len(data) // 4096)
        return b"".join(
            super(piece_iv_reset, self).cbc(chunk, ivs[start // 4096], data[start:start + 4096])
            for start in range(0, len(data), 4096))


@fault("Gaisberg/streamnzb#154", "reads that end inside a block: its bytes are still ciphertext", Plain)
class tail_undecrypted:
    """Where a read ends inside a block, the bytes of that block are delivered as ciphertext."""

    def part(self, chunk, start, stop):
        whole = max(stop // 16 * 16, start)
        if self.counts or whole == stop:
            return super().part(chunk, start, stop)
        head = super().part(chunk, start, whole) if start < whole else b""
        return head + self.source.read(chunk * self.stored + whole, stop - whole)


@fault("mangui/flashls#355", "chunk IV, chunk edge: the chain goes on from the chunk before", Plain)
class chunks_chained:
    """A read that goes on into the next chunk takes the last block of the chunk before for that chunk's IV."""

    def range(self, offset, end):
        self.tail = None
        return super().range(offset, end)

    def cbc(self, chunk, iv, data):
        if getattr(self, "tail", None) and self.tail[0] == chunk - 1:
            iv = self.tail[1]
        self.tail = chunk, data[-16:]
        return super().cbc(chunk, iv, data)


# The IV of a chunk.


@fault("google/ExoPlayer#354", "chunk IV: sequence not followed behind the first chunk of a read", Plain)
class iv_once_a_read:
    """The IV of the first chunk that a read touches is used for all of its chunks."""

    def range(self, offset, end):
        self.first = offset // self.chunk
        return super().range(offset, end)

    def first_iv(self, chunk):
        return super().first_iv(getattr(self, "first", chunk))


@fault(None, "chunk IV: the chunk's number alone, the object's IV ignored", Plain)
class chunk_number_is_iv:
    """With the rule `sequence` a chunk's number alone is its IV."""

    def first_iv(self, chunk):
        return chunk if self.sequence else self.iv


@fault("wolfSSL/wolfBoot#211", "chunk IV: the sequence counts blocks, not chunks; wrong step", Plain)
class iv_counts_blocks:
    """With the rule `sequence` the IV goes up by the number of blocks in a chunk."""

    def first_iv(self, chunk):
        return (self.iv + chunk * self.sequence * (self.chunk // 16)) & ALL


# Edges of chunks.


@fault("afreidah/s3-orchestrator#444", "reads past the end: a chunk behind the last one is asked for")
class beyond_last_chunk:
    """A read whose count reaches beyond the last chunk is an error. In the report, the chunk is only asked for."""

    def read(self, offset, count):
        if count and offset <= self.length:
            if self.place(offset + count - 1)[0] > self.place(max(self.length - 1, 0))[0]:
                raise Failure("truncatedCiphertext")
        return super().read(offset, count)


@fault("samuel-lucas6/Kryptor#40", "length: objects whose last chunk is full lose it; end of whole chunks")
class full_chunk_removed:
    """Where the last chunk is full, the plaintext ends before it."""

    def open(self):
        super().open()
        if self.length:
            _, start, room = self.place(self.length - 1)
            if start + 1 == room:
                self.length -= room


@fault("minio/minio#5544", "the offset within a chunk: reads that start inside a chunk", Sealed)
class wrong_remainder:
    """A read starts in its chunk at the chunk's number, in place of the offset's remainder."""

    def part(self, chunk, start, stop):
        return super().part(chunk, chunk, chunk + stop - start)


# Padding.


@fault("wolfSSL/wolfcrypt-jni#217", "bad padding: a last byte of 128 or more is accepted", Plain)
class padding_signed:
    """A last byte of 128 or more is taken for negative: nothing is cut off, and there is no error."""

    def padding(self, block):
        return super().padding(block) if block[-1] < 128 else 0


@fault("AztecProtocol/aztec-packages#22179", "bad padding: accepted, the last byte is believed", Plain)
class padding_trusted:
    """The last byte is believed: so many bytes are cut off, whatever it is and whatever they are."""

    def open(self):
        try:
            super().open()
        except Failure as failure:
            if str(failure) != "invalidPadding":
                raise
            last = (self.size - 1) // self.stored
            size = self.size - last * self.stored
            count = self.blocks(last, size - 16, size)[-1]
            self.length = max(last * self.chunk + size - count, 0)


@fault("home-assistant-libs/securetar#76", "state: a read at the end, behind one that met it, delivers padding", Plain)
class padding_after_tail:
    """A read at the end delivers the padding if a read before it met the end."""

    met = False

    def read(self, offset, count):
        if self.met and self.padded and count and offset == self.length:
            return bytes([16 - self.length % 16]) * min(count, 16 - self.length % 16)
        self.met = self.met or count > 0 and offset + count >= self.length
        return super().read(offset, count)


@fault("dotnet/runtime#61886", "reads past the end: zeros in the place of the padding, too many bytes", Plain)
class nulls_at_end:
    """A read past the end delivers zeros for the bytes of the padding."""

    def read(self, offset, count):
        data = super().read(offset, count)
        more = 16 - self.length % 16 if self.padded else 0
        return data + bytes(max(min(offset + count - self.length, more), 0))


@fault("egoroof/blowfish#7", "padding none: an end that looks like padding is cut off", Plain)
class unpads_without_padding:
    """Padding is cut off where there is none, if the end looks like it."""

    def open(self):
        super().open()
        if not self.counts and not self.padded and self.length:
            chunk, start, _ = self.place(self.length - 16)
            try:
                self.length -= self.padding(self.blocks(chunk, start, start + 16))
            except Failure as failure:
                if str(failure) != "invalidPadding":
                    raise


# Ends, and reads of nothing.


@fault("dotnet/runtime#72797", "the last bytes: those behind the last whole block are missing", Plain)
class tail_needs_another_read:
    """A read that meets the end stops at the last whole block, and only the next one delivers the rest."""

    def range(self, offset, end):
        whole = self.length // 16 * 16
        return super().range(offset, whole if end == self.length and offset < whole else end)


@fault("neosmart/cryptostream#5", "empty objects: a read of one is an error", Plain)
class empty_is_bad_padding:
    """A read of an empty object is an error of the padding, since the cipher is ended without a block."""

    def read(self, offset, count):
        if not self.length and not offset:
            raise Failure("invalidPadding")
        return super().read(offset, count)


@fault("aws/amazon-s3-encryption-client-java#200", "offsets past the end: nothing is delivered, and no error")
class offset_past_end_accepted:
    """An offset past the end delivers nothing, without an error."""

    def read(self, offset, count):
        return super().read(min(offset, self.length), count)


@fault("TritonDataCenter/java-manta#245", "reads past the end: bytes of the tag, too many bytes", Sealed)
class tag_is_delivered:
    """A read past the end delivers the last chunk's tag as well."""

    def read(self, offset, count):
        data = super().read(offset, count)
        more = min(offset + count - self.length, 16)
        return data + self.fetch(self.last)[-16:][:more] if more > 0 else data


@fault("ceph/ceph#7957", "a count of 0: the rest of the object, or some bytes")
class zero_count_means_rest:
    """A read of 0 bytes delivers the rest of the object, up to 64 KiB."""

    def read(self, offset, count):
        return super().read(offset, count or 65536)


# Offsets that are held in too few bits.


@fault("wolfSSL/wolfssl#3746", "offsets of 2^29 and beyond: bits are counted in 32 bits; large offsets wrap")
class bits_in_32_bits:
    """An offset is held as a number of bits in 32 bits, so that it wraps at 512 MiB."""

    def range(self, offset, end):
        wrapped = offset % (1 << 29)
        return super().range(wrapped, wrapped + end - offset)


@fault("jetwhiz/encfs4win#75", "offsets of 2^31 and beyond are refused: signed offsets of 32 bits")
class offset_31_bits:
    """A read that goes beyond 2^31 fails, since offsets have 32 bits and a sign."""

    def range(self, offset, end):
        if end > 1 << 31:
            raise Failure("io")
        return super().range(offset, end)


# Short reads.


@fault("android-password-store/kage#555", "short reads: a chunk that comes in pieces fails", Sealed)
class short_is_last:
    """A chunk that arrives in pieces is taken for the last one after its first piece."""

    def open_chunk(self, chunk):
        start, end = self.extent(chunk)
        data = self.source.some(start, end - start)
        nonce = self.nonce(chunk)
        return self.unseal(nonce[:-1] + b"\1" if self.tink and len(data) < end - start else nonce, data)


@fault("facebookarchive/conceal#112", "short reads of the header", Sealed)
class header_short_filled:
    """The header is fetched once, and what a short read lacks is zeros."""

    def header(self):
        return self.source.some(0, self.head).ljust(self.head, b"\0")


class OneFetch(Source):
    """A source that fetches once for each read."""

    def read(self, offset, count):
        data = self.some(offset, count)
        if count and not data:
            raise Failure("truncatedCiphertext")
        return data if len(data) == count else data[:len(data) // 16 * 16]


@fault("dotnet/core#6895", "short reads: the answer ends where the first piece ended", Plain)
class short_is_answer:
    """What the first piece of the source holds is the answer, even if it is less than what was asked for."""

    Source = OneFetch


# Caches.


KEPT, CHUNKS, HEADERS = {}, {}, {}


@fault("mentos-team/MentOS#297", "stale cache: bytes of another object that had the same number before")
class cache_by_number:
    """The last read is kept by the object's number, also when it was closed and the number is another object's."""

    def read(self, offset, count):
        kept, data = KEPT.get(self.id, (0, b""))
        if count and kept <= offset and offset + count <= kept + len(data):
            return data[offset - kept:offset - kept + count]
        data = super().read(offset, count)
        KEPT[self.id] = offset, data
        return data


@fault("cryptomator/cryptomator#1131", "objects that are read in turn: they share their cache of chunks", Sealed)
class cache_shared:
    """Chunks are kept by their number alone, for all objects that are open, until the next one is opened."""

    def open(self):
        CHUNKS.clear()
        super().open()
        CHUNKS.clear()

    def open_chunk(self, chunk):
        if chunk not in CHUNKS:
            CHUNKS[chunk] = super().open_chunk(chunk)
        return CHUNKS[chunk]


@fault("rfjakob/gocryptfs#398", "stale cache: the header, key or nonce of another object is used", Sealed)
class header_by_inode:
    """Headers are kept by the file's inode, or a served object's length, and never dropped."""

    def header(self):
        source = self.source
        name = os.fstat(source.file.fileno()).st_ino if source.file else -source.size
        if name not in HEADERS:
            HEADERS[name] = super().header()
        return HEADERS[name]


@fault("cockroachdb/cockroach#58631", "state after an error: a kept chunk is damaged by a failed one", Sealed)
class claims_chunk:
    """The last chunk is kept, and its bytes are overwritten by a chunk that then fails."""

    number, buffer = None, b""

    def open_chunk(self, chunk):
        if chunk != self.number:
            self.buffer = bytes(len(self.buffer))
            data = self.fetch(chunk)
            self.buffer = data
            self.buffer = self.unseal(self.nonce(chunk), data)
            self.number = chunk
        return self.buffer


class Restarting(Source):
    """A source that delivers the file's start at each sixteenth fetch."""

    fetches = 0

    def some(self, offset, count):
        self.fetches += 1
        return super().some(offset if self.fetches % 16 else 0, count)


@fault("rclone/rclone#828", "many reads in any order: now and then the start of the file is delivered")
class seek_ignored_sometimes:
    """Each sixteenth fetch of an object delivers the file's start, whatever was asked for."""

    Source = Restarting


# The order of reads.


@fault("androidx/media#856", "order of reads: a jump forward lands too early, at most 512 bytes on", Plain)
class skip_within_buffer:
    """A read behind the last one's end starts at the end of a buffer of 512 bytes, if it lies beyond it."""

    position = 0

    def range(self, offset, end):
        edge = (self.position // 512 + 1) * 512
        place = edge if offset > edge else offset
        self.position = end
        return super().range(place, place + end - offset)


@fault("microsoft/FFmpegInterop#213", "order of reads, state: nothing is delivered behind a read that met the end")
class end_disables:
    """Behind a read that met the object's end, all reads of that object deliver nothing."""

    ended = False

    def range(self, offset, end):
        if self.ended:
            return b""
        self.ended = offset < end == self.length
        return super().range(offset, end)


# Headers and keys.


@fault(None, "chunk edges: the first segment is shorter by the header, which is forgotten", Sealed)
class first_segment_full:
    """The first segment is taken to hold as much as the others, though the header is in it."""

    def place(self, offset):
        return offset // self.chunk, offset % self.chunk, self.chunk


@fault("nolze/msoffcrypto-tool#45", "the header's commitment is not checked", Sealed)
class commitment_unchecked:
    """The commitment in the header is not compared."""

    def check_commitment(self, expected, found):
        pass


@fault("bcgit/bc-java#2390", "keys of 32 bytes: 24 bytes of them are used")
class key_256_is_192:
    """Of a key of 32 bytes the first 24 are used."""

    def open(self):
        if isinstance(self, Plain):
            self.key = self.key[:24]
        super().open()

    def derive(self, header):
        super().derive(header)
        self.derived = self.derived[:24]


@fault("servo/servo#34333", "keys of 24 bytes are refused", Plain)
class key_192_refused:
    """A key of 24 bytes is taken for one of a wrong length."""

    def key_is_valid(self):
        return len(self.key) in (16, 20, 32)


# Tags and flags.


@fault("rnpgp/rnp#2422", "tags: not checked for reads that end before their chunk does", Sealed)
class partial_chunk_unchecked:
    """A chunk's tag is not checked where the read ends before the chunk does."""

    def part(self, chunk, start, stop):
        data = self.fetch(chunk)
        whole = stop >= len(data) - 16
        return (self.unseal if whole else self.unseal_unchecked)(self.nonce(chunk), data)[start:stop]


@fault("jeroen/openssl#73", "tags: not checked at all", Sealed)
class tags_unchecked:
    """No tag is checked, only the commitment."""

    def unseal(self, nonce, data):
        return self.unseal_unchecked(nonce, data)


@fault("tink-crypto/tink-cc#20", "the end: bytes appended to a full last segment are not noticed", Sealed)
class trailing_ignored:
    """Bytes behind a full last segment are ignored."""

    def open(self):
        try:
            super().open()
        except Failure as failure:
            whole = (self.size - 1) // self.stored * self.stored
            if str(failure) == "io" or not self.tink or whole <= 0:
                raise
            self.size = whole
            super().open()


@fault("str4d/rage#195", "the end: the last chunk is not authenticated at opening", Sealed)
class end_not_authenticated:
    """An object is opened without a look at its last chunk, by the length of its ciphertext."""

    def check_end(self):
        pass


@fault(None, "nonce: byte order of the chunk's number; chunks behind the first", Sealed)
class nonce_little_endian:
    """A chunk's number is little-endian in its nonce."""

    def nonce(self, chunk):
        if self.tink:
            return self.nonce_base + chunk.to_bytes(4, "little") + bytes([chunk == self.last])
        return xor(self.nonce_base, chunk.to_bytes(12, "little"))


@fault("str4d/rage#319", "the end: an empty last chunk is refused; plaintexts of whole chunks", Sealed)
class empty_last_refused:
    """An empty last chunk is an error, unless the object is empty."""

    def check_end(self):
        if self.open_chunk(self.last) == b"" and self.last:
            raise Failure("authenticationFailed")


# Truncation.


@fault("web-push-libs/ecec#21", "truncation: an impossible length, a rest shorter than a tag", Sealed)
class stub_is_ignored:
    """A rest that is shorter than a tag, behind whole chunks, is ignored."""

    def measure(self):
        body = self.size - self.head + self.lead
        if body > self.stored and 0 < body % self.stored < 16:
            self.size -= body % self.stored
            self.last = body // self.stored - 1
            self.length = (self.last + 1) * self.chunk - self.lead
        else:
            super().measure()


@fault("minio/madmin-go#172", "truncation: an object without its whole header is taken for empty", Sealed)
class short_header_is_empty:
    """An object that ends inside its header opens as an empty one."""

    def open(self):
        if self.size < self.head:
            self.length = self.last = 0
        else:
            super().open()


# Long reads.


@fault("google/ExoPlayer#2467", "long reads: the counter begins anew at each MiB of a read", Plain)
class piece_counter_restarts:
    """A read goes in pieces of 1 MiB, and each has the counter of the first."""

    def ctr(self, block, data):
        return b"".join(
            super(piece_counter_restarts, self).ctr(block, data[start:start + (1 << 20)])
            for start in range(0, len(data), 1 << 20))


# What an error leaves behind.


@fault("andybalholm/brotli#37", "state after an error: all later reads fail")
class error_sticks:
    """Behind a failed read all reads of that object fail in the same way."""

    failed = None

    def read(self, offset, count):
        try:
            if self.failed:
                raise self.failed
            return super().read(offset, count)
        except Failure as failure:
            self.failed = failure
            raise


@fault("FiloSottile/torchwood#91", "state after an error: the next read starts at a wrong place")
class offset_advanced:
    """The read behind a failed one starts as many bytes further on as that one asked for."""

    moved = 0

    def range(self, offset, end):
        start, self.moved = min(offset + self.moved, self.length), 0
        try:
            return super().range(start, min(start + end - offset, self.length))
        except Failure:
            self.moved = end - offset
            raise


# The protocol.


def half(name):
    return ["tuning", "unseen"][hashlib.sha256(name.encode()).digest()[-1] % 2]


def open_object(request, change):
    source = request.get("source")
    if type(source) is not dict or not (type(source.get("path")) is str or "byteCount" in source):
        raise Failure("invalidRequest")
    if "byteCount" in source:
        integer(source["byteCount"])
    strategy = request.get("strategy")
    if type(strategy) is not str:
        raise Failure("invalidRequest")
    if strategy not in STRATEGIES:
        raise Failure("unsupported")
    reader = Plain if strategy in STRATEGIES[:3] else Sealed
    if change and reader in change.readers:
        reader = type(change.__name__, (change, reader), {})
    return reader(request)


def main(name):
    if name == "--list":
        for fault, change in FAULTS.items():
            print(json.dumps({
                "name": fault, "half": half(fault), "report": change.report, "fault": change.__doc__,
                "cause": change.cause,
            }))
    elif name == "none" or name in FAULTS:
        subject_protocol.serve(
            lambda request: open_object(request, FAULTS.get(name)), name="reported-faults", version="1",
            strategies=STRATEGIES)
    else:
        sys.exit("usage: reported_faults.py FAULT | none | --list")


main(sys.argv[1] if len(sys.argv) == 2 else "")
