"""Objects of descriptions as they are written, and as a reader finds them after what a test does to them."""
import functools
import re

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from bodies import Body, Names, Table, rearranged, stream
from ciphers import SYNTHETIC, Bad, opened, sealed, xor
from descriptions import described


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
        dataStart = self.dataStart(self.count)
        self.table = Table(self, dataStart, self.count, length) if dataStart else None
        self.storedCount = self.table.total if self.table else self.total

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

    def openCount(self, field, start):
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
        if self.table:
            return rearranged(start, end, self.table.unstored, self.wholeCiphertext)
        return self.wholeCiphertext(start, end)

    def wholeCiphertext(self, start, end):
        """Bytes of the object with whole chunks."""
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
        self.table = None
        self.written = functools.partial(
            written, group["strategy"], tuple(self.names.items()), rule.get("plaintextByteCount"))
        if "monteCarlo" in rule:
            self.held = monteCarlo(bytes.fromhex(rule["monteCarlo"]), self.names["key"], self.names["iv"])
        if "byte" in rule:
            self.held = self.written(0).repeated(rule["byte"])
        self.total = len(self.held)
        if "seed" in rule:
            self.pieces = self.edits.get("pieces", [[0, self.written(self.seed).storedCount]])
            self.total = sum(piece[0] if len(piece) == 1 else piece[1] - piece[0] for piece in self.pieces)
        self.opened = functools.lru_cache(maxsize=4)(self.openedChunk)
        try:
            self.length = self.open()
        except Bad as error:
            self.length = str(error)

    def raw(self, start, end):
        """Bytes of the object with whole chunks."""
        if self.table:
            return rearranged(start, min(end, self.total), self.table.stored, self.storedBytes)
        return self.storedBytes(start, end)

    def storedBytes(self, start, end):
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
        if self.dataStart(1):
            self.table = self.foundTable()
            self.total = self.table.whole
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

    def openCount(self, field, start):
        """The length of lines, or of fields that come again and again."""
        if field.nextLine:
            line = re.search(b"(?m)^" + re.escape(field.nextLine), self.raw(start, min(self.total, start + 2**20)))
            if not line:
                raise Bad("invalidHeader")
            return line.start()
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

    def foundTable(self):
        """The table in front of the data: that of the most chunks of which the last has data."""
        count = 1
        for step in (2**bit for bit in reversed(range(62))):
            if self.total - self.dataStart(count + step) > (count + step - 1) * self.full:
                count += step
        dataStart = self.dataStart(count)
        if not self.start + count * self.extra <= dataStart <= self.total <= dataStart + count * self.full:
            raise Bad("truncatedCiphertext")
        return Table(self, dataStart, count, self.total - dataStart)

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
        if chunk["n"] == self.full and self.member("hole", chunk):
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
