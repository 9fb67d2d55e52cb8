"""Expands vector files by the rules in their headers and checks every test with pyca/cryptography.

Shares nothing with the program that wrote them: that it agrees shows that the format is no one language's.
    python3 check_vectors.py FILE …     prints, for each file, its name, groups and reads; exits with 1 at a mistake

Reads of more than 1 MiB take a minute here and are only checked with --large in front of the files.
"""
import hashlib
import json
import struct
import sys

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

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
    thing, number = Object(group), 0
    if "error" in group:
        assert thing.heldLength() == group["error"], thing.heldLength()
        return 0
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
            found = thing.read(offset, count)
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
