"""Expands vector files by the rules in their headers and checks every test with pyca/cryptography.

Shares nothing with the program that wrote them: that it agrees shows that the format is no one language's.
    python3 check_vectors.py FILE …     prints, for each file, its name, groups and reads; exits with 1 at a mistake

Reads of more than 1 MiB take a minute here and are only checked with --large in front of the files.
"""
import hashlib
import json
import re
import struct
import sys

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF, HKDFExpand

MASK = 2**64 - 1


def stream(seed, start, count):
    """Bytes start ... start + count - 1 of the stream S."""
    words = []
    for i in range(start // 8, (start + count + 7) // 8):
        z = (seed + (i + 1) * 0x9E3779B97F4A7C15) & MASK
        z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
        words.append(z ^ z >> 31)
    return struct.pack(f"<{len(words)}Q", *words)[start % 8:start % 8 + count]


def xor(a, b):
    return bytes(x ^ y for x, y in zip(a, b))


class Object:
    """The object of a group, read at any place."""

    def __init__(self, group):
        self.strategy = group["strategy"]
        self.key = bytes.fromhex(group["key"])
        self.iv = int(group["iv"], 16)
        self.padded = group.get("padding") == "pkcs7"
        self.sequence = group.get("ivRule") == "sequence"
        self.chunk = group.get("chunkByteCount", 2**62)
        self.rule = group.get("object")
        self.held = bytes.fromhex(group.get("ciphertext", ""))
        if self.rule and "monteCarlo" in self.rule:
            self.held = self.monteCarlo(bytes.fromhex(self.rule["monteCarlo"]))
        if self.rule and "byte" in self.rule:
            self.held = self.repeated(self.rule["plaintextByteCount"])
        if self.rule and "seed" in self.rule:
            self.length = self.rule["plaintextByteCount"]
        else:
            self.length = None if "error" in group else self.heldLength()

    def chunkIV(self, chunk):
        return ((self.iv + (chunk if self.sequence else 0)) % 2**128).to_bytes(16, "big")

    def ecb(self):
        return Cipher(algorithms.AES(self.key), modes.ECB())

    def monteCarlo(self, first):
        inputs, outputs, decrypt = [first, self.iv.to_bytes(16, "big")], [], self.ecb().decryptor()
        for j in range(1000):
            if j >= 2:
                inputs.append(outputs[j - 2])
            outputs.append(xor(decrypt.update(inputs[j]), inputs[j - 1] if j else self.iv.to_bytes(16, "big")))
        return b"".join(inputs)

    def repeated(self, length):
        """What a writer makes of so many bytes of one value."""
        parts = []
        for start in range(0, length, self.chunk):
            size = min(self.chunk, length - start)
            pad = 16 - size % 16 if self.padded else 0
            mode = modes.CTR if self.strategy == "ctr" else modes.CBC
            encryptor = Cipher(algorithms.AES(self.key), mode(self.chunkIV(start // self.chunk))).encryptor()
            parts.append(encryptor.update(bytes([self.rule["byte"]]) * size + bytes([pad]) * pad))
        return b"".join(parts)

    def ciphertext(self, start, count):
        if not self.rule or "seed" not in self.rule:
            return self.held[start:start + count]
        data = bytearray(stream(self.rule["seed"], start, count))
        if self.padded:
            stretch = self.chunk + 16
            for chunk in range(start // stretch, (start + count - 1) // stretch + 1):
                size = min(self.chunk, self.length - chunk * self.chunk)
                block = chunk * stretch + size // 16 * 16
                if block + 16 > start and block < start + count:
                    last = self.lastBlock(chunk, block, size)
                    for i in range(max(start, block), min(start + count, block + 16)):
                        data[i - start] = last[i - block]
        return bytes(data)

    def lastBlock(self, chunk, start, size):
        rest = size % 16
        text = stream(self.rule["seed"], start, rest) + bytes([16 - rest]) * (16 - rest)
        previous = stream(self.rule["seed"], start - 16, 16) if size >= 16 else self.chunkIV(chunk)
        return self.ecb().encryptor().update(xor(text, previous))

    def heldLength(self):
        """What the ciphertext unpads to, or the name of what is wrong with it."""
        total = len(self.held)
        if self.strategy == "ctr":
            return total
        if total % 16 or (self.padded and not total):
            return "truncatedCiphertext"
        if not self.padded:
            return total
        chunks = (total - 1) // (self.chunk + 16)
        last = self.decrypt(chunks, total - chunks * (self.chunk + 16) - 16, 16)
        size = total - chunks * (self.chunk + 16) - last[15]
        if not 1 <= last[15] <= 16 or last[-last[15]:] != bytes([last[15]]) * last[15]:
            return "invalidPadding"
        return chunks * self.chunk + size if size <= self.chunk and (size or not chunks) else "invalidPadding"

    def decrypt(self, chunk, start, count):
        """Whole blocks of a chunk, from a place in it."""
        base = chunk * (self.chunk + (16 if self.padded else 0))
        if self.strategy == "ctr":
            mode = modes.CTR(((self.iv + start // 16) % 2**128).to_bytes(16, "big"))
        else:
            mode = modes.CBC(self.ciphertext(base + start - 16, 16) if start else self.chunkIV(chunk))
        return Cipher(algorithms.AES(self.key), mode).decryptor().update(self.ciphertext(base + start, count))

    def read(self, offset, count):
        end, parts = min(offset + count, self.length), []
        while offset < end:
            chunk, place = divmod(offset, self.chunk)
            size = min(end - offset, self.chunk - place)
            skip = place % 16
            whole = skip + size if self.strategy == "ctr" else (skip + size + 15) // 16 * 16
            parts.append(self.decrypt(chunk, place - skip, whole)[skip:skip + size])
            offset += size
        return b"".join(parts)


class ChunkedObject:
    """The object of a group with authenticated chunks."""

    def __init__(self, group):
        self.cobblestone = group["strategy"].startswith("cobblestone")
        self.material = bytes.fromhex(group["key"])
        self.info = bytes.fromhex(group["context" if self.cobblestone else "associatedData"])
        self.size = 16 if self.cobblestone and group["strategy"].endswith("128") else 32
        if not self.cobblestone:
            self.size = group["derivedKeyByteCount"]
        self.header = 56 if self.cobblestone else self.size + 8
        self.full = 16384 if self.cobblestone else group["segmentByteCount"] - 16
        self.first = self.full if self.cobblestone else self.full - self.header
        self.rule = group.get("object")
        self.held = bytes.fromhex(group.get("ciphertext", ""))
        self.cache, self.generators = {}, {}
        self.total = len(self.held)
        if self.rule:
            self.original = self.rule["plaintextByteCount"]
            count = self.original // self.full + 1 if self.cobblestone else (
                1 if self.original <= self.first else 1 + (self.original - self.first + self.full - 1) // self.full)
            self.total = self.header + self.original + 16 * count
            self.pieces = [[0, self.total]]
            if "edits" in self.rule:
                self.pieces = self.rule["edits"]["pieces"]
                self.originalTotal, self.total = self.total, sum(p[1] - p[0] for p in self.pieces)
            else:
                self.originalTotal = self.total
        self.length = self.open()

    def keys(self, header):
        if self.cobblestone:
            name = b"AEAD_AES_%d_GCM" % (8 * self.size)
            out = HKDFExpand(
                hashes.SHA512(), self.size + 44,
                b"c2sp.org/chunked-encryption@v1+" + name + b"\0" + header[:24] + self.info).derive(self.material)
            return out[:self.size], out[self.size:self.size + 12], header[:24] + out[self.size + 12:]
        salt = header[1:1 + self.size]
        key = HKDF(hashes.SHA256(), self.size, salt, self.info).derive(self.material)
        return key, header[1 + self.size:], bytes([self.header]) + header[1:]

    def nonce(self, base, chunk, last):
        if self.cobblestone:
            return xor(base, chunk.to_bytes(12, "big"))
        return base + chunk.to_bytes(4, "big") + bytes([last])

    def place(self, chunk):
        """Where a chunk's plaintext and its ciphertext start."""
        start = 0 if chunk == 0 else self.first + (chunk - 1) * self.full
        return start, self.header + start + 16 * chunk

    def generated(self, seed, start, end):
        """Bytes of the generated ciphertext of a seed, before anything is done to it."""
        if seed not in self.generators:
            self.generators[seed] = self.keys(stream(seed, 0, self.header)) + ({},)
        key, base, header, tags = self.generators[seed]
        data = bytearray(stream(seed, start, end - start))
        for i in range(start, min(end, self.header)):
            data[i - start] = header[i]
        after = start - self.header - self.first - 16
        chunk = 0 if after < 0 else 1 + after // (self.full + 16)
        while True:
            text, cipher = self.place(chunk)
            size = min(self.first if chunk == 0 else self.full, self.original - text)
            tag = cipher + size
            if tag >= end or text > self.original or tag + 16 > self.originalTotal:
                return bytes(data)
            if chunk not in tags:
                last = tag + 16 == self.originalTotal
                sealed = stream(seed, cipher, size)
                nonce = self.nonce(base, chunk, last)
                counter = Cipher(algorithms.AES(key), modes.CTR(nonce + b"\0\0\0\2")).decryptor()
                tags[chunk] = AESGCM(key).encrypt(nonce, counter.update(sealed), None)[-16:]
            for i in range(max(start, tag), min(end, tag + 16)):
                data[i - start] = tags[chunk][i - tag]
            chunk += 1

    def ciphertext(self, start, end):
        if not self.rule:
            return self.held[start:end]
        parts, at = [], 0
        for piece in self.pieces:
            low, high = max(start, at), min(end, at + piece[1] - piece[0])
            if low < high:
                seed = piece[2] if len(piece) > 2 else self.rule["seed"]
                parts.append(self.generated(seed, piece[0] + low - at, piece[0] + high - at))
            at += piece[1] - piece[0]
        data = bytearray(b"".join(parts))
        for flip in self.rule.get("edits", {}).get("flips", []):
            if start <= flip < end:
                data[flip - start] ^= 1
        return bytes(data)

    def open(self):
        """The plaintext's length, or the name of what is wrong."""
        if self.total < self.header + 16:
            return "truncatedCiphertext"
        grid = self.header if self.cobblestone else 0
        count, rest = divmod(self.total - grid, self.full + 16)
        if rest < 16 and (rest or self.cobblestone):
            return "truncatedCiphertext"
        self.count = count + 1 if rest else count
        header = self.ciphertext(0, self.header)
        self.key, self.base, right = self.keys(header)
        if header != right:
            return "authenticationFailed"
        self.length = self.total - self.header - 16 * self.count
        try:
            self.chunk(self.count - 1)
        except InvalidTag:
            return "authenticationFailed"
        return self.length

    def chunk(self, index):
        if index not in self.cache:
            start = self.place(index)[1]
            end = min(self.total, self.place(index + 1)[1])
            nonce = self.nonce(self.base, index, index == self.count - 1)
            self.cache = {index: AESGCM(self.key).decrypt(nonce, self.ciphertext(start, end), None)}
        return self.cache[index]

    def read(self, offset, count):
        end, parts = min(offset + count, self.length), []
        while offset < end:
            index = 0 if offset < self.first else 1 + (offset - self.first) // self.full
            start = self.place(index)[0]
            part = self.chunk(index)[offset - start:end - start]
            parts.append(part)
            offset += len(part)
        return b"".join(parts)


class Bad(Exception):
    """What is wrong with a playlist, by its name."""


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
    kind = PlaylistObject if "playlist" in group else Object if "iv" in group else ChunkedObject
    thing, number = kind(group), 0
    if "error" in group:
        found = thing.heldLength() if kind is Object else thing.length
        assert found == group["error"], found
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
            except InvalidTag:
                assert pattern.get("error") == "authenticationFailed", (offset, count)
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
