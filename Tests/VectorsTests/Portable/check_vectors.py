"""Expands vector files by the rules in their headers and checks every test with pyca/cryptography.

Shares nothing with the program that wrote them but the descriptions in data/formats, which docs/formats.md explains:
that it agrees shows that the format is no one language's.
    python3 check_vectors.py FILE …     prints, for each file, its name, groups and reads; exits with 1 at a mistake

Reads of more than 1 MiB take half of the time and are only checked with --large in front of the files.
"""
import functools
import hashlib
import json
import re
import struct
import sys

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from ciphers import SYNTHETIC, Bad, opened, sealed, tagCount, xor
from descriptions import added, described

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


class Written(Body):
    """The object of a length and a seed, before anything is done to it."""

    def __init__(self, form, known, length, seed):
        super().__init__(form, known)
        self.length, self.seed = length, seed
        self.layHeader()
        self.measure()
        self.trailer = self.layTrailer(length, 0)[1]
        self.count = 1 + max(0, -((self.first - length) // self.full)) if length or self.hasEmpty else 0
        self.count += self.isLastShort and length == self.place(self.count)[0]
        self.total = 0 if "emptyObject" in form.text and not self.count else self.start + self.trailer
        if self.count:
            rest = self.textCount(self.count - 1)
            self.total = self.place(self.count - 1)[1] + rest + sum(self.counts[1]) + self.trailer
            self.total += 16 - rest % 16 if self.isPadded else 0
        self.names["count"], self.names["size"] = self.count, self.total
        self.header = b"".join(self.names[field.name] for field in form.header)[:self.start]
        self.patches = functools.lru_cache(maxsize=4096)(self.patchesOf)
        names = self.layTrailer(length, self.total - self.trailer)[0] if self.total else {}
        self.ends = [(0, self.header), *((self.tail[name][1], names[name]) for name in self.tail)]

    def raw(self, start, end):
        return stream(self.seed, start, end)

    def value(self, field, start, count, names):
        if field.contents:
            return field.contents[self.seed % len(field.contents)](names)
        if field.usual:
            return field.usual(names)
        if field.sealing:
            cipher, key, nonce, aad = (formula(names) for formula in field.sealing[:4])
            text = b"".join(names[held.name] for held in field.sealing.held)
            if cipher == b"aes-ctr":
                return opened("aes-ctr", key, nonce, aad, text, None)[0]
            return sealed(cipher.decode(), key, nonce, aad, text)
        return self.raw(start, start + count)

    def repeatedCount(self, field, start):
        return len(field.usual(self.names))

    def innerValue(self, name, names):
        held = self.inner[name][1]
        return self.value(held, 0, 0, names) if held.contents else super().innerValue(name, names)

    def encrypted(self, field, names):
        _, start, count = {**self.fields, **self.tail}[field.name]
        return self.raw(start, start + count)

    def data(self, chunk):
        data = self.raw(chunk.low, chunk.high)
        if self.cipher in SYNTHETIC:
            return sealed(self.cipher, *self.sealing(chunk), data)[:-16]
        return data[:-16] + self.lastBlock(chunk) if self.isPadded else data

    def lastBlock(self, chunk):
        rest = self.textCount(chunk["i"]) % 16
        text = self.raw(chunk.high - 16, chunk.high - 16 + rest) + bytes([16 - rest]) * (16 - rest)
        return self.aes(chunk, chunk["n"] - 16).encryptor().update(text)

    def patchesOf(self, index):
        """What a chunk has that is not drawn, each with its place."""
        chunk = self.chunk(index)
        patches = [(self.part(field.name, chunk)[1], chunk[field.name]) for field in self.form.parts if field.contents]
        if self.isPadded:
            patches.append((chunk.high - 16, self.lastBlock(chunk)))
        if self.cipher in SYNTHETIC:
            made = sealed(self.cipher, *self.sealing(chunk), self.raw(chunk.low, chunk.high))
            patches += [(chunk.low, made[:-16]), (self.part("tag", chunk)[1], made[-16:])]
        elif self.isAEAD:
            patches.append((self.part("tag", chunk)[1], self.unsealed(chunk)[1]))
        return patches

    def ciphertext(self, start, end):
        data, patches = bytearray(self.raw(start, end)), self.ends[:]
        index = 1 + (start - self.start - self.first - self.extra) // (self.full + self.extra)
        index = max(0, min(index, self.count - 1))
        while index < self.count and self.place(index)[1] < end:
            patches += self.patches(index)
            index += 1
        for place, patch in patches:
            low, high = max(start, place), min(end, place + len(patch))
            if low < high:
                data[low - start:high - start] = patch[low - place:high - place]
        return bytes(data)

    def repeated(self, byte):
        """What a writer makes of so many bytes of one value, in a format that draws nothing."""
        parts = [self.header]
        for index in range(self.count):
            count = self.textCount(index)
            pad = 16 - count % 16 if self.isPadded else 0
            text = bytes([byte]) * count + bytes([pad]) * pad
            parts.append(self.aes(self.chunk(index), 0).encryptor().update(text))
        return b"".join(parts)


@functools.lru_cache(maxsize=16)
def written(strategy, known, length, seed):
    return Written(described(strategy), dict(known), length, seed)


def monteCarlo(first, key, iv):
    inputs, outputs, decrypt = [first, iv], [], Cipher(algorithms.AES(key), modes.ECB()).decryptor()
    for j in range(1000):
        if j >= 2:
            inputs.append(outputs[j - 2])
        outputs.append(xor(decrypt.update(inputs[j]), inputs[j - 1] if j else iv))
    return b"".join(inputs)


class Object(Body):
    """The object of a group, read at any place."""

    def __init__(self, group):
        form = described(group["strategy"])
        super().__init__(form, form.known(group))
        rule, self.held = group.get("object", {}), bytes.fromhex(group.get("ciphertext", ""))
        self.edits, self.seed, self.pieces = rule.get("edits", {}), rule.get("seed"), None
        self.written = functools.partial(
            written, group["strategy"], tuple(self.names.items()), rule.get("plaintextByteCount"))
        if "monteCarlo" in rule:
            self.held = monteCarlo(bytes.fromhex(rule["monteCarlo"]), self.names["key"], self.names["iv"])
        if "byte" in rule:
            self.held = self.written(0).repeated(rule["byte"])
        self.total = len(self.held)
        if "seed" in rule:
            self.pieces = self.edits.get("pieces", [[0, self.written(self.seed).total]])
            self.total = sum(piece[0] if len(piece) == 1 else piece[1] - piece[0] for piece in self.pieces)
        self.opened = functools.lru_cache(maxsize=4)(self.openedChunk)
        try:
            self.length = self.open()
        except Bad as error:
            self.length = str(error)

    def raw(self, start, end):
        """Bytes of the ciphertext."""
        if self.pieces is None:
            return self.held[start:end]
        parts, at = [], 0
        for piece in self.pieces:
            low, high = (0, piece[0]) if len(piece) == 1 else piece[:2]
            first, last = max(start - at + low, low), min(end - at + low, high)
            if first < last and len(piece) == 1:
                parts.append(bytes(last - first))
            elif first < last:
                parts.append(self.written(piece[2] if len(piece) > 2 else self.seed).ciphertext(first, last))
            at += high - low
        data = bytearray(b"".join(parts))
        for flip in self.edits.get("flips", []):
            if start <= flip < end:
                data[flip - start] ^= 1
        return bytes(data)

    def open(self):
        """The plaintext's length."""
        length = self.length = self.openChunks()
        if self.total or "emptyObject" not in self.form.text:
            names, _ = self.layTrailer(length, self.total - self.trailer)
            for field in self.form.trailer:
                self.checkField(field, names)
        return length

    def openChunks(self):
        for error in ("invalidRequest", "invalidKey"):
            self.require([error])
        self.names["size"], self.count = self.total, 0
        if self.total == 0 and "emptyObject" in self.form.text:
            return 0
        self.layHeader()
        if self.form.isLate:
            self.checkHeader()
        self.measure()
        if "lastChunk" in self.form.text:
            self.trailer = self.foundTrailer()
        self.names["count"] = self.count = self.chunkCount()
        if not self.form.isLate:
            self.checkHeader()
        if self.count == 0:
            return 0
        last = self.chunk(self.count - 1)
        self.length, isEmpty = last["at"] + last["n"], last["n"] == 0
        if self.isPadded:
            if self.form.isCoded:
                self.checkParts(last)
            text = self.plain(last, last["n"] - 16, last["n"])
            self.length -= text[-1]
            count = self.textCount(last["i"])
            if not 1 <= text[-1] <= 16 or text[-text[-1]:] != text[-1:] * text[-1] or count == 0 < last["i"] \
                    or self.length > self.place(self.count)[0]:
                raise Bad("invalidPadding")
        elif self.isTagged and (isEmpty or self.form.text.get("openChecksLast") != "false"):
            self.opened(last["i"])
        return self.length

    def repeatedCount(self, field, start):
        """The length of fields that come again and again."""
        (times, fields), at = field.repeat, start
        if times(self.names) > 2**20:
            raise Bad("authenticationFailed")
        for _ in range(times(self.names)):
            names, begin = Names({}, lambda name, _: self.names[name]), at
            for name, size in fields:
                end = at + size(names)
                if not at <= end <= 2**20:
                    raise Bad("authenticationFailed")
                if end > self.total:
                    raise Bad("truncatedCiphertext")
                names[name], at = self.raw(at, end), end
            if at == begin:
                raise Bad("authenticationFailed")
        return at - start

    def foundTrailer(self):
        """The length of a trailer that only the last chunk tells, which is looked for from the end on."""
        rest = self.total - self.start - self.lastExtra
        if rest < 0:
            raise Bad("truncatedCiphertext")
        index = (rest + self.full - self.first) // (self.full + self.extra)
        index = min(index, self.member("maxChunks", self.names, index + 1) - 1)
        front = [field for field, isBehind, _, _ in self.parts[1].values() if not isBehind]
        unknown = {"n", "stored", "count", "data", *self.parts[1]} - {field.name for field in front}
        contents = [(field, [content for content in field.contents]) for field in front if field.contents]
        contents = [pair for pair in contents if not any(content.names & unknown for content in pair[1])]
        while index >= 0:
            (text, start), room = self.place(index), self.full if index else self.first
            rest = self.total - start - self.lastExtra
            if rest > room + 2**20:
                break
            chunk = Names({"i": index, "at": text, "last": 1}, self.lookInChunk)
            chunk.start = chunk.high = start
            if all(any(chunk[field.name] == content(chunk) for content in found) for field, found in contents):
                count = self.member("lastChunk", chunk)
                if count > room:
                    raise Bad("authenticationFailed")
                if count > rest or self.layTrailer(0, self.total - rest + count)[1] != self.total:
                    raise Bad("truncatedCiphertext")
                return rest - count
            index -= 1
        raise Bad("truncatedCiphertext")

    def require(self, errors):
        for when, that, error in self.form.checks:
            if error in errors and when(self.names) and not that(self.names):
                raise Bad(error)

    def checkHeader(self):
        """Checks what needs no derived values, and then what does."""
        def isLate(field):
            return field.sealing or any(name in self.form.derived for content in field.contents for name in content.names)
        for field in sorted(self.form.header, key=lambda field: bool(isLate(field))):
            self.checkField(field, self.names)
        self.require(["authenticationFailed", "invalidHeader", "unsupported", "truncatedCiphertext"])

    def checkEarly(self, fields):
        """Checks those of some fields that only follow from what is known by now."""
        known = {*self.form.text["inputs"], "size", *self.fields, *(name + ".at" for name in self.fields)}
        for field in fields:
            if field.contents and all(content.names <= known for content in field.contents):
                self.checkField(field, self.names)

    def checkField(self, field, names):
        if field.sealing and not names[field.name].endswith(self.openedField(field, names[field.name], names)[1]):
            raise Bad(field.error)
        for held in field.sealing.held if field.sealing else []:
            self.checkField(held, names)
        if field.contents and all(names[field.name] != content(names) for content in field.contents):
            raise Bad(field.error)

    def checkParts(self, chunk):
        for field in self.form.parts:
            self.checkField(field, chunk)
        if self.member("rejectNonce", chunk):
            raise Bad("authenticationFailed")

    def chunkCount(self):
        """The number of chunks: the first, as many full ones as there may be, and what is left."""
        rest, emptyLast = self.total - self.start - self.trailer, self.form.text.get("emptyLast")
        if rest < 0 or rest == 0 and self.hasEmpty and self.lastExtra:
            raise Bad("truncatedCiphertext")
        if rest == 0:
            return 0
        if self.lastExtra != self.extra:
            return self.countWithOther(rest - self.lastExtra)
        count, room = 1, self.first
        if rest > self.first + self.extra:
            whole, rest = divmod(rest - self.first - self.extra - 1, self.full + self.extra)
            count, rest, room = whole + 2, rest + 1, self.full
        data = rest - sum(self.counts[0])
        if self.isPadded:
            isRight = data > 0 and data % 16 == 0
        elif data > 0:
            isRight = data % self.unit == 0 and not (self.isLastShort and data >= room)
        else:
            isRight = data == 0 and (emptyLast == "allowed" or count == 1 and self.hasEmpty)
            if data == 0 and count > 1 and emptyLast == "onlyChunk":
                raise Bad("authenticationFailed")
        if not isRight or count > self.member("maxChunks", self.names, count):
            raise Bad("truncatedCiphertext")
        return count

    def countWithOther(self, rest):
        """The number of chunks, of which the last has other parts; there are so many bytes but for these."""
        if rest < 0:
            raise Bad("truncatedCiphertext")
        count, rest = divmod(rest + self.full - self.first, self.full + self.extra)
        data, emptyLast = rest - (0 if count else self.full - self.first), self.form.text.get("emptyLast")
        if data < 0 or rest > self.full or data % self.unit or self.isLastShort and rest == self.full:
            raise Bad("truncatedCiphertext")
        if data == 0 and emptyLast != "allowed" and (count or not self.hasEmpty):
            raise Bad("authenticationFailed" if count and emptyLast == "onlyChunk" else "truncatedCiphertext")
        if count >= self.member("maxChunks", self.names, count + 1):
            raise Bad("truncatedCiphertext")
        return count + 1

    def plain(self, chunk, first, last):
        """Bytes of a chunk's data, decrypted."""
        if self.isAEAD:
            text, tag = self.unsealed(chunk)
            if tag != chunk["tag"]:
                raise Bad("authenticationFailed")
            return text[first:last]
        begin, end = (0, chunk["n"]) if self.cipher == "aes-xts" else (first // 16 * 16, (last + 15) // 16 * 16)
        data = self.raw(chunk.low + begin, min(chunk.high, chunk.low + end))
        return self.aes(chunk, begin).decryptor().update(data)[first - begin:last - begin]

    def openedChunk(self, index):
        """The plaintext of a chunk."""
        chunk = self.chunk(index)
        if "hole" in self.form.text and chunk["n"] == self.full:
            if not any(self.raw(chunk.start, chunk.high + self.counts[chunk["last"]][1])):
                return bytes(self.full)
        self.checkParts(chunk)
        return self.plain(chunk, 0, self.textCount(index))

    def read(self, offset, count):
        end, parts = min(offset + count, self.length), []
        while offset < end:
            index = max(0, 1 + (offset - self.first) // self.full)
            text = self.place(index)[0]
            first, last = offset - text, min(end - text, self.textCount(index))
            parts.append(
                self.plain(self.chunk(index), first, last) if self.isStreaming else self.opened(index)[first:last])
            offset = text + last
        return b"".join(parts)


class PlaylistObject:
    """The segments of a group's media playlist (RFC 8216), one behind the other."""

    ORDER = ["invalidRequest", "unsupported", "invalidKey", "io", "truncatedCiphertext", "invalidPadding"]

    def __init__(self, group):
        self.keys = {uri: bytes.fromhex(text) for uri, text in group["keys"].items()}
        self.resources = {uri: bytes.fromhex(text) for uri, text in group["resources"].items()}
        self.errors, texts = [], []
        for part in self.parts(group["playlist"]):
            try:
                texts.append(self.plain(*part))
            except Bad as error:
                self.errors.append(str(error))
        self.text = b"".join(texts)
        self.length = min(self.errors, key=self.ORDER.index) if self.errors else len(self.text)

    def read(self, offset, count):
        return self.text[offset:offset + count]

    def attributes(self, text):
        found = re.findall(r'([A-Z0-9-]+)=("[^"]*"|[^",]*)(?:,|$)', text)
        if ",".join("=".join(pair) for pair in found) != text:
            raise Bad("invalidRequest")
        return dict(found)

    def key(self, text):
        """An EXT-X-KEY: its format, and its URI and IV, or what is wrong with it; None for METHOD=NONE."""
        values = self.attributes(text)
        method, form = values.get("METHOD"), values.get("KEYFORMAT", '"identity"')
        if method == "NONE":
            return None, None
        if form != '"identity"' or method != "AES-128":
            return form, Bad("unsupported")
        uri, iv = values.get("URI", ""), values.get("IV")
        if not re.fullmatch('".+"', uri) or iv and not re.fullmatch("0[xX][0-9a-fA-F]{32}", iv):
            return form, Bad("invalidRequest")
        return form, (uri[1:-1], iv and int(iv, 16))

    def parts(self, text):
        """Yields (URI, byte range, key URI, IV) of each part of the plaintext."""
        lines = re.split("\r?\n", text)
        self.frames = "#EXT-X-I-FRAMES-ONLY" in lines
        sequence, inForce, wanted, section, before, end = 0, {}, None, None, None, (None, 0)
        for line in lines:
            tag, _, value = line.partition(":")
            if tag == "#EXT-X-STREAM-INF":
                self.errors.append("unsupported")
                return
            elif tag == "#EXT-X-MEDIA-SEQUENCE":
                sequence = int(value)
            elif tag == "#EXT-X-KEY":
                try:
                    form, key = self.key(value)
                    inForce = {} if form is None else {**inForce, form: key}
                except Bad as error:
                    self.errors.append(str(error))
            elif tag == "#EXT-X-BYTERANGE":
                wanted = [int(number) for number in value.split("@")]
            elif tag == "#EXT-X-MAP":
                values = self.attributes(value)
                key = self.current(inForce)
                if key and key[1] is None:
                    self.errors.append("invalidRequest")
                    key = (key[0], 0)
                place = values.get("BYTERANGE", "").strip('"')
                size, _, start = place.partition("@")
                place = (int(start or 0), int(start or 0) + int(size)) if place else None
                section = (values["URI"].strip('"'), place, *(key or (None, None)))
            elif line and not line.startswith("#"):
                if section and section[:2] != before:
                    yield section
                before = section and section[:2]
                place = None
                if wanted:
                    if len(wanted) == 1 and end[0] != line:
                        self.errors.append("invalidRequest")
                        return
                    start = wanted[1] if len(wanted) > 1 else end[1]
                    place, end = (start, start + wanted[0]), (line, start + wanted[0])
                else:
                    end = (None, 0)
                wanted = None
                key = self.current(inForce) or (None, None)
                yield (line, place, key[0], sequence if key[0] and key[1] is None else key[1])
                sequence += 1

    def current(self, inForce):
        key = inForce.get('"identity"')
        if key is None and inForce:
            key = next(iter(inForce.values()))
        if isinstance(key, Bad):
            self.errors.append(str(key))
            return None
        return key

    def decrypted(self, data, key, iv):
        mode = modes.CBC((iv % 2**128).to_bytes(16, "big"))
        return Cipher(algorithms.AES(key), mode).decryptor().update(data)

    def plain(self, uri, place, key, iv):
        if key is not None and len(self.keys.get(key, b"")) != 16:
            raise Bad("invalidKey")
        if uri not in self.resources:
            raise Bad("io")
        if key is not None and place and self.frames:
            # A range of the plaintext of a resource that is one chain. Source: RFC 8216, section 6.3.6.
            data = self.resources[uri]
            text = self.decrypted(data, self.keys[key], iv)[:-1]
            return text[place[0]:place[1]]
        start, end = place or (0, len(self.resources[uri]))
        data = self.resources[uri][start:end]
        if len(data) < end - start:
            raise Bad("truncatedCiphertext")
        if key is None:
            return data
        if not data or len(data) % 16:
            raise Bad("truncatedCiphertext")
        text = self.decrypted(data, self.keys[key], iv)
        if not 1 <= text[-1] <= 16 or text[-text[-1]:] != text[-1:] * text[-1]:
            raise Bad("invalidPadding")
        return text[:-text[-1]]


def expand(entries):
    for entry in entries:
        yield from range(entry[0], entry[1] + 1) if isinstance(entry, list) else [entry]


def reads(pattern, length):
    if "exhaustive" in pattern:
        past = pattern["exhaustive"]
        for offset in range(length + past + 1):
            for count in range(max(0, length - offset) + past + 1):
                yield offset, count
    elif "offsets" in pattern:
        for offset in expand(pattern["offsets"]):
            for count in expand(pattern.get("counts", [])):
                yield offset, count
            if offset <= length:
                for past in pattern.get("toEnd", []):
                    yield offset, length - offset + past
    else:
        yield int(pattern["offset"]), pattern["count"]


def check(group):
    """Checks a group and returns the number of its reads."""
    thing, number = (PlaylistObject if "playlist" in group else Object)(group), 0
    if "error" in group:
        assert thing.length == group["error"], thing.length
        return 0
    assert isinstance(thing.length, int), thing.length
    plaintext = bytes.fromhex(group["plaintext"]) if "plaintext" in group else None
    if plaintext is not None:
        assert thing.read(0, thing.length) == plaintext, "the ciphertext decrypts to something else"
    for pattern in group["reads"]:
        for index, (offset, count) in enumerate(reads(pattern, thing.length)):
            number += 1
            if offset > thing.length:
                assert pattern.get("error", "rangeOutOfBounds") == "rangeOutOfBounds", (offset, count)
                assert pattern.get("digests", "0" * 16 * (index + 1))[16 * index:16 * index + 16] == "0" * 16
                continue
            if plaintext is not None and "offset" not in pattern:
                continue
            if min(count, thing.length - offset) > 2**20 and "--large" not in sys.argv:
                continue
            try:
                found = thing.read(offset, count)
            except Bad as error:
                assert pattern.get("error") == str(error), (offset, count)
                continue
            assert "error" not in pattern, (offset, count)
            digest = hashlib.sha256(found).hexdigest()
            if "digests" in pattern:
                assert pattern["digests"][16 * index:16 * index + 16] == digest[:16], (offset, count)
            elif "sha256" in pattern:
                assert pattern["sha256"] == digest, (offset, count)
            else:
                assert pattern["plaintext"] == found.hex(), (offset, count)
    return number


def main():
    for path in sys.argv[2 if "--large" in sys.argv else 1:]:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        assert data["schema"] == 1, f"{path}: schema {data['schema']}"
        counts = {"groups": 0, "reads": 0}
        for group in data["groups"]:
            try:
                counts["reads"] += check(group)
            except AssertionError as error:
                sys.exit(f"{path}: {group['id']}: {error}")
            assert set(group["flags"]) <= set(data["flags"]), f"{path}: {group['id']}: a flag is not explained"
            counts["groups"] += 1
        for name, count in counts.items():
            assert data["counts"][name] == count, f"{path}: {count} {name}, {data['counts'][name]} in the header"
        print(path.rsplit("/", 1)[-1], counts["groups"], counts["reads"])


main()
