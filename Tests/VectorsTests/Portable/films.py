"""Films of Common Encryption (ISO/IEC 23001-7), by a list of samples or by the boxes that the vectors have."""
import json

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from ciphers import Bad


def boxes(data, start, end):
    """Yields the kind of each box and where its content is."""
    while start < end:
        size = int.from_bytes(data[start:start + 4], "big")
        if size < 8 or start + size > end:
            raise Bad("truncatedCiphertext")
        yield data[start + 4:start + 8].decode(), start + 8, start + size
        start += size


class Counter:
    """Keystream whose counter, the last 8 bytes, wraps without a carry."""

    def __init__(self, key, iv):
        self.cipher = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
        self.prefix, self.counter, self.rest = iv[:8], int.from_bytes(iv[8:], "big"), b""

    def update(self, data):
        while len(self.rest) < len(data):
            self.rest += self.cipher.update(self.prefix + self.counter.to_bytes(8, "big"))
            self.counter = (self.counter + 1) % 2**64
        used, self.rest = self.rest[:len(data)], self.rest[len(data):]
        return bytes(one ^ other for one, other in zip(data, used))


class FilmObject:
    """A film, decrypted sample by sample."""

    def __init__(self, group):
        self.data, self.key = bytearray.fromhex(group["ciphertext"]), bytes.fromhex(group["key"])
        try:
            film = self.listed(group["samples"]) if "samples" in group else None
            if len(self.key) != 16:
                raise Bad("invalidKey")
            for sample in self.checked(*(film or self.boxed())):
                self.decrypt(*sample)
            self.length = len(self.data)
        except Bad as error:
            self.length = str(error)

    def read(self, offset, count):
        return bytes(self.data[offset:offset + count])

    def listed(self, text):
        try:
            film = json.loads(text)
        except ValueError:
            raise Bad("invalidRequest") from None
        usual, samples = bytes.fromhex(film.get("constantIV", "")), []
        for start, size, iv, *parts in film["samples"]:
            samples.append((start, size, bytes.fromhex(iv) or usual, (parts and parts[0]) or [[0, size]]))
        if film["scheme"] not in ("cenc", "cens", "cbc1", "cbcs") or not all(iv for _, _, iv, _ in samples):
            raise Bad("invalidRequest")
        return film["scheme"], film.get("cryptBlocks", 0), film.get("skipBlocks", 0), samples

    def boxed(self):
        """The film that boxes in the vectors' order tell of: one track, with lengths in trun and IVs in senc."""
        data, samples, scheme = bytes(self.data), [], None
        for kind, start, end in boxes(data, 0, len(data)):
            if kind == "moov":
                place = data.index(b"schm", start) + 8
                scheme, place = data[place:place + 4].decode(errors="replace"), data.index(b"tenc", place) + 9
                pattern, _, size = data[place:place + 3]
                usual = data[place + 20:place + 20 + data[place + 19]] if size == 0 else b""
                if scheme not in ("cenc", "cens", "cbc1", "cbcs"):
                    raise Bad("unsupported")
            elif kind == "moof":
                if scheme is None:
                    raise Bad("invalidHeader")
                run, info = data.index(b"trun", start) + 8, data.index(b"senc", start) + 4
                count, offset = (int.from_bytes(data[run + at:run + at + 4], "big") for at in (0, 4))
                if int.from_bytes(data[info + 4:info + 8], "big") != count:
                    raise Bad("invalidHeader")
                position, hasParts, info = start - 8 + offset, data[info + 3] & 2, info + 8
                for number in range(count):
                    length = int.from_bytes(data[run + 8 + 4 * number:run + 12 + 4 * number], "big")
                    iv, info, parts = data[info:info + size] or usual, info + size, []
                    if hasParts:
                        rows, info = int.from_bytes(data[info:info + 2], "big"), info + 2
                        for _ in range(rows):
                            parts.append([int.from_bytes(data[info:info + 2], "big"),
                                          int.from_bytes(data[info + 2:info + 6], "big")])
                            info += 6
                    samples.append((position, length, iv, parts or [[0, length]]))
                    position += length
        return scheme, pattern >> 4, pattern & 15, samples

    def checked(self, scheme, crypt, skip, samples):
        if skip and (not crypt or scheme in ("cenc", "cbc1")):
            raise Bad("unsupported")
        last = 0
        for start, size, _, parts in samples:
            if sum(map(sum, parts)) != size or start < last:
                raise Bad("invalidHeader")
            last = start + size
        if last > len(self.data):
            raise Bad("truncatedCiphertext")
        return [(scheme, crypt, skip, *sample) for sample in samples]

    def decrypt(self, scheme, crypt, skip, position, _, iv, parts):
        iv = iv.ljust(16, b"\0")
        cipher = Cipher(algorithms.AES(self.key), modes.CBC(iv))
        context = Counter(self.key, iv) if scheme in ("cenc", "cens") else cipher.decryptor()
        for clear, count in parts:
            position += clear
            if scheme == "cbcs":
                context = cipher.decryptor()
            if scheme == "cenc":
                stretches = [(0, count)]
            elif not skip:
                stretches = [(0, count // 16 * 16)]
            else:
                step = 16 * (crypt + skip)
                stretches = [(at, at + 16 * crypt) for at in range(0, count - 16 * crypt + 1, step)]
            for first, end in stretches:
                place = slice(position + first, position + end)
                self.data[place] = context.update(bytes(self.data[place]))
            position += count
