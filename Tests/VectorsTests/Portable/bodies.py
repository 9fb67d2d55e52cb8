"""The stream that bytes come from, and an object as its description lays it out, whoever gives its bytes."""
import functools
import re
import struct

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from ciphers import Bad, opened, tagCount
from descriptions import added

MASK, STEP = 2**64 - 1, 0x9E3779B97F4A7C15
# Numbers of 128 words, each in the low half of 16 bytes: ones, all bits, and the steps of the stream.
ONES = int.from_bytes((b"\1" + bytes(15)) * 128, "little")
BITS = ONES * MASK
STEPS = int.from_bytes(b"".join((STEP * (i + 1) & MASK).to_bytes(16, "little") for i in range(128)), "little")


@functools.lru_cache(maxsize=8192)
def kibibyte(seed, number):
    """Bytes 1024 * number to 1024 * number + 1023 of the stream S."""
    z = (seed + 128 * number * STEP & MASK) * ONES + STEPS & BITS
    z = (z ^ z >> 30 & BITS) * 0xBF58476D1CE4E5B9 & BITS
    z = (z ^ z >> 27 & BITS) * 0x94D049BB133111EB & BITS
    return struct.pack("<128Q", *struct.unpack("<256Q", (z ^ z >> 31 & BITS).to_bytes(2048, "little"))[::2])


def stream(seed, start, end):
    """Bytes start to end - 1 of the stream S."""
    return b"".join(kibibyte(seed, n) for n in range(start // 1024, (end + 1023) // 1024))[start % 1024:][:end - start]


class Names(dict):
    """Values by their names; what is missing is worked out when it is wanted."""

    def __init__(self, known, look):
        super().__init__(known)
        self.look = look

    def __missing__(self, name):
        self[name] = value = self.look(name, self)
        return value


class Table:
    """An object of so many chunks and bytes of data that stand together, behind a table of the chunks' other parts."""

    def __init__(self, body, dataStart, count, dataCount):
        self.start, self.full, self.front, self.extra = body.start, body.full, body.counts[0][0], body.extra
        self.dataStart, self.tableEnd, self.dataCount = dataStart, body.start + count * body.extra, dataCount
        self.whole, self.total = self.tableEnd + dataCount, dataStart + dataCount

    def stored(self, offset):
        """Where a byte of the object with whole chunks is stored, and how many follow it there."""
        if offset < self.start:
            return offset, self.start - offset
        index, within = divmod(offset - self.start, self.full + self.extra)
        entry, count = self.start + index * self.extra, min(self.full, self.dataCount - index * self.full)
        if within < self.front:
            return entry + within, self.front - within
        if within < self.front + count:
            return self.dataStart + index * self.full + within - self.front, self.front + count - within
        return entry + within - count, self.extra + count - within

    def unstored(self, offset):
        """Where a stored byte is in the object with whole chunks, None for a zero, and how many follow it there."""
        if offset < self.start:
            return offset, self.start - offset
        if self.tableEnd <= offset < self.dataStart:
            return None, self.dataStart - offset
        isData = offset >= self.dataStart
        index, within = divmod(
            offset - (self.dataStart if isData else self.start), self.full if isData else self.extra)
        count, chunk = min(self.full, self.dataCount - index * self.full), self.start + index * (self.full + self.extra)
        if isData:
            return chunk + self.front + within, count - within
        return (chunk + within, self.front - within) if within < self.front else (
            chunk + count + within, self.extra - within)


def rearranged(start, end, place, raw):
    """Bytes start to end - 1 of an object that has the bytes of another in another order."""
    parts = []
    while start < end:
        source, count = place(start)
        count = min(count, end - start)
        parts.append(bytes(count) if source is None else raw(source, source + count))
        start += count
    return b"".join(parts)


class Body:
    """An object as its description has it: the names of its header, and where its chunks lie."""

    total = 2**63

    def __init__(self, form, known):
        self.form, self.fields, self.inner, self.tail = form, {}, {}, {}
        self.names = Names(known, self.look)

    def look(self, name, names):
        """The value of a field of the header, of one that is encrypted there, or of a derived name."""
        if name in self.inner:
            return self.innerValue(name, names)
        return self.value(*self.fields[name], names) if name in self.fields else self.form.derived[name](names)

    def lookInChunk(self, name, chunk):
        """The value of a part of a chunk, of its data, or of what is the same for all."""
        if name in self.parts[0]:
            return self.value(*self.part(name, chunk), chunk)
        return self.data(chunk) if name == "data" else self.names[name]

    def lookInTrailer(self, name, names):
        """The value of what stands behind the chunks, or of what is known before."""
        if name in self.inner and self.inner[name][0].name in self.tail:
            return self.innerValue(name, names)
        return self.value(*self.tail[name], names) if name in self.tail else self.names[name]

    def innerValue(self, name, names):
        """What an encrypted field holds."""
        field, _, offset, count = self.inner[name]
        return self.openedField(field, self.encrypted(field, names), names)[0][offset:offset + count]

    def encrypted(self, field, names):
        return names[field.name]

    def openedField(self, field, data, names):
        """The plaintext of an encrypted field, and its tag."""
        cipher, key, nonce, aad = (formula(names) for formula in field.sealing[:4])
        end = len(data) - tagCount(cipher)
        return opened(cipher.decode(), key, nonce, aad, data[:end], lambda: data[end:])

    def hold(self, field, names):
        offset = 0
        for held in field.sealing.held if field.sealing else []:
            count = held.size(names)
            self.inner[held.name] = field, held, offset, count
            offset += count

    def layTrailer(self, length, at):
        """The names of what stands behind the chunks from a place on, for a plaintext of so many bytes, and its end."""
        names, start = Names({"total": length}, self.lookInTrailer), at
        for field in self.form.trailer:
            self.tail[field.name] = field, at, field.size(names)
            at += self.tail[field.name][2]
            if at > start + 2**20:
                raise Bad("authenticationFailed")
            if at > self.total:
                raise Bad("truncatedCiphertext")
            self.hold(field, names)
        return names, at

    def part(self, name, chunk):
        field, isBehind, offset, count = self.parts[chunk["last"]][name]
        return field, offset + (chunk.high if isBehind else chunk.start), count

    def value(self, field, start, count, names):
        return self.raw(start, start + count)

    def data(self, chunk):
        return self.raw(chunk.low, chunk.high)

    def member(self, name, names, otherwise=None):
        return self.form.members[name](names) if name in self.form.members else otherwise

    def layHeader(self):
        end, waiting = 0, []
        for field in self.form.header:
            if field.lastLine or field.repeat or any(other.name in field.size.names for other in waiting):
                # A length is not taken from another format's header.
                self.checkEarly(waiting)
                waiting = []
            waiting.append(field)
            self.names[field.name + ".at"], count = end, field.size(self.names)
            if field.repeat:
                count = self.repeatedCount(field, end)
            if field.lastLine:
                lines = re.search(b"(?m)^" + re.escape(field.lastLine) + b".*\n", self.raw(end, end + 2**20))
                if not lines:
                    raise Bad("invalidHeader")
                count = lines.end()
            self.fields[field.name] = field, end, count
            self.hold(field, self.names)
            end += count
            if end > self.total:
                raise Bad("truncatedCiphertext")
        self.names["headerEnd"] = end

    def checkEarly(self, fields):
        pass

    def measure(self):
        """Works the lengths out."""
        names, text = self.names, self.form.text
        self.start = self.member("start", names, names["headerEnd"])
        self.trailer = 0 if "lastChunk" in text else sum(field.size(names) for field in self.form.trailer)
        self.cipher, self.isPadded = self.member("cipher", names).decode(), self.member("padding", names) == b"pkcs7"
        self.full = self.member("chunk", names)
        self.first = self.member("firstChunk", names, self.full)
        self.unit = self.member("multipleOf", names, 16 if self.cipher in ("aes-cbc", "aes-xts") else 1)
        self.isAEAD = tagCount(self.cipher.encode()) > 0
        self.isTagged = self.form.isCoded or self.isAEAD
        # Of other ciphers any block can be decrypted alone.
        self.isStreaming = self.cipher in ("aes-ctr", "aes-cbc") and not self.form.parts and "hole" not in text
        self.isLastShort = text.get("fullLast") == "never"
        # Whether an empty plaintext is a chunk.
        self.hasEmpty = self.isLastShort or text.get("empty") != "nothing"
        if not 0 < self.first <= self.full or self.unit < 1:
            raise Bad("invalidHeader")
        # In all chunks but the last, and in that.
        self.parts, self.counts = [{}, {}], [[0, 0], [0, 0]]
        for last in (0, 1):
            isBehind, own = False, Names({"last": last}, lambda name, _: self.names[name])
            for field in self.form.layout:
                if field == "data":
                    isBehind = True
                    continue
                count = field.size(own)
                self.parts[last][field.name] = field, isBehind, self.counts[last][isBehind], count
                self.counts[last][isBehind] += count
        self.extra, self.lastExtra = (sum(counts) + 16 * self.isPadded for counts in self.counts)
        if self.isPadded and (self.extra != self.lastExtra or "lastChunk" in text):
            raise Bad("unsupported")

    def dataStart(self, count):
        """Where the data of so many chunks start, 0 if each chunk has its own parts beside them."""
        return self.form.dataStart(Names({"count": count}, lambda name, _: self.names[name]))

    def place(self, index):
        """Where a chunk's plaintext and its stored bytes start."""
        text = self.first + (index - 1) * self.full if index else 0
        return text, self.start + text + index * self.extra

    def textCount(self, index):
        """The plaintext bytes of a chunk."""
        return min(self.length, self.place(index + 1)[0]) - self.place(index)[0]

    def chunk(self, index):
        """The names of a chunk, which is stored from start on and has its data from low to high."""
        (text, start), last = self.place(index), index == self.count - 1
        end = self.total - self.trailer if last else self.place(index + 1)[1]
        chunk = Names({"i": index, "at": text, "last": int(last), "stored": end - start}, self.lookInChunk)
        chunk.start, chunk.low, chunk.high = start, start + self.counts[last][0], end - self.counts[last][1]
        chunk["n"] = chunk.high - chunk.low
        return chunk

    def sealing(self, chunk):
        return self.member("key", chunk), self.member("nonce", chunk), self.member("aad", chunk, b"")

    def unsealed(self, chunk):
        """The plaintext of a chunk of an authenticated cipher, and its tag."""
        return opened(self.cipher, *self.sealing(chunk), chunk["data"], lambda: chunk["tag"])

    def aes(self, chunk, offset):
        """The cipher of a chunk without a tag, from a place in its data on."""
        key, nonce = self.member("key", chunk), self.member("nonce", chunk)
        if self.cipher == "aes-ctr":
            mode = modes.CTR(added(nonce, offset // 16, "big"))
        elif self.cipher == "aes-cbc":
            mode = modes.CBC(self.raw(chunk.low + offset - 16, chunk.low + offset) if offset else nonce)
        else:
            mode = modes.XTS(nonce)
        return Cipher(algorithms.AES(key), mode)
