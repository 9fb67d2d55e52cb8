"""The strategy hls-aes128 for adapters in Python: a media playlist's segments, one behind the other.

`Playlist` stands beside `Reader` of subject_protocol, over the same function that decrypts whole blocks.
"""
import os
import re
from urllib.parse import unquote

from subject_protocol import Failure, Source, hexadecimal, integer


class Resource(Source):
    """A file of the folder, or what is served under a URI."""

    def __init__(self, description, uri):
        if "path" in description:
            name = unquote(re.split("[?#]", uri)[0])
            super().__init__({"path": os.path.join(description["path"], name)})
        elif uri in description["byteCounts"]:
            super().__init__({"byteCount": description["byteCounts"][uri]}, uri)
        else:
            raise Failure("io")


def attributes(text):
    pairs = re.findall(r'([A-Z0-9-]+)=("[^"]*"|[^",]*)(?:,|$)', text)
    if ",".join("=".join(pair) for pair in pairs) != text:
        raise Failure("invalidRequest")
    return dict(pairs)


def quoted(values, name):
    if not re.fullmatch('".+"', values.get(name, "")):
        raise Failure("invalidRequest")
    return values[name][1:-1]


def number(text):
    if not re.fullmatch("[0-9]{1,20}", text):
        raise Failure("invalidRequest")
    return int(text)


def key_tag(text):
    """The key's format, and (URI, IV), or "unsupported"; (None, None) for METHOD=NONE."""
    values = attributes(text)
    form = quoted(values, "KEYFORMAT") if "KEYFORMAT" in values else "identity"
    if values.get("METHOD") == "NONE":
        return None, None
    if form != "identity" or values.get("METHOD") != "AES-128":
        return form, "unsupported"
    iv = values.get("IV")
    if iv is not None and not re.fullmatch("0[xX][0-9a-fA-F]{32}", iv):
        raise Failure("invalidRequest")
    return form, (quoted(values, "URI"), None if iv is None else int(iv, 16))


def parse(text):
    """The parts of the plaintext: (URI, range or None, key or None), a key being (URI, IV) or "unsupported"; and whether
    segments are I-frames."""
    lines = text.splitlines()
    if not lines or lines[0].strip() != "#EXTM3U":
        raise Failure("invalidRequest")
    parts, keys, sequence, wanted, section, before, follows = [], {}, 0, None, None, None, None
    frames = any(line.strip() == "#EXT-X-I-FRAMES-ONLY" for line in lines)

    def current():
        return keys.get("identity") or next(iter(keys.values()), None)

    for line in lines[1:]:
        tag, _, value = line.strip().partition(":")
        if tag in ("#EXT-X-STREAM-INF", "#EXT-X-I-FRAME-STREAM-INF"):
            raise Failure("unsupported")
        if tag == "#EXT-X-MEDIA-SEQUENCE":
            sequence = number(value)
        elif tag == "#EXT-X-KEY":
            form, key = key_tag(value)
            keys = {} if form is None else {**keys, form: key}
        elif tag == "#EXT-X-BYTERANGE":
            wanted = [number(part) for part in value.split("@")]
        elif tag == "#EXT-X-MAP":
            values, place, key = attributes(value), None, current()
            if "BYTERANGE" in values:
                size, _, start = quoted(values, "BYTERANGE").partition("@")
                place = (number(start or "0"), number(start or "0") + number(size))
            if isinstance(key, tuple) and key[1] is None:
                raise Failure("invalidRequest")
            section = (quoted(values, "URI"), place, key)
        elif tag and not tag.startswith("#"):
            uri, place, key = line.strip(), None, current()
            if section and section[:2] != before:
                parts.append(section)
            before = section and section[:2]
            if wanted and len(wanted) == 1 and (follows is None or follows[0] != uri):
                raise Failure("invalidRequest")
            if wanted:
                start = wanted[1] if len(wanted) > 1 else follows[1]
                place = (start, start + wanted[0])
            follows, wanted = place and (uri, place[1]), None
            if isinstance(key, tuple) and key[1] is None:
                key = (key[0], sequence)
            parts.append((uri, place, key))
            sequence += 1
    return parts, frames


class Part:
    """A resource, or a byte range of one, in the plaintext."""

    def __init__(self, source, place, key, iv, decrypt):
        self.source, self.key, self.iv, self.decrypt = source, key, iv, decrypt
        self.start, self.end = place or (0, source.length)
        self.length = self.end - self.start
        if self.end > source.length or key and (not self.length or self.length % 16):
            raise Failure("truncatedCiphertext")

    def unpad(self):
        if self.key:
            block = self.blocks(self.length - 16, self.length)
            if not 1 <= block[-1] <= 16 or block[-block[-1]:] != bytes([block[-1]]) * block[-1]:
                raise Failure("invalidPadding")
            self.length -= block[-1]

    def blocks(self, start, end):
        before = 16 if start else 0
        data = self.source.read(self.start + start - before, end - start + before)
        return self.decrypt("cbc", self.key, data[:16] if before else self.iv, data[before:])

    def read(self, start, end):
        if not self.key:
            return self.source.read(self.start + start, end - start)
        first = start // 16 * 16
        return self.blocks(first, (end + 15) // 16 * 16)[start - first:end - first]


class Frame(Part):
    """A byte range of the plaintext of a resource that is one chain. Source: RFC 8216, section 6.3.6."""

    def __init__(self, source, place, key, iv, decrypt):
        super().__init__(source, None, key, iv, decrypt)
        self.offset, self.length = place[0], place[1] - place[0]
        if place[1] > source.length:
            raise Failure("truncatedCiphertext")

    def unpad(self):
        """Leaves it as it is: what lies in the middle of a chain has no padding."""

    def read(self, start, end):
        return super().read(self.offset + start, self.offset + end)


class Playlist:
    """Ranges of a playlist's plaintext; what is wrong is found in the protocol's order."""

    def __init__(self, request, decrypt):
        source, keys = request.get("source"), request.get("keys")
        if type(source) is not dict or type(keys) is not dict or type(request.get("playlist")) is not str:
            raise Failure("invalidRequest")
        if type(source.get("path")) is not str:
            if type(source.get("byteCounts")) is not dict:
                raise Failure("invalidRequest")
            for count in source["byteCounts"].values():
                integer(count)
        keys = {uri: hexadecimal(digits) for uri, digits in keys.items()}
        parts, frames = parse(request["playlist"])
        if any(key == "unsupported" for _, _, key in parts):
            raise Failure("unsupported")
        if any(key and len(keys.get(key[0], b"")) != 16 for _, _, key in parts):
            raise Failure("invalidKey")
        resources = {uri: Resource(source, uri) for uri in dict.fromkeys(uri for uri, _, _ in parts)}
        self.parts, self.length = [], 0
        for uri, place, key in parts:
            secret, iv = (keys[key[0]], (key[1] % 2**128).to_bytes(16, "big")) if key else (None, None)
            kind = Frame if frames and place and key else Part
            self.parts.append(kind(resources[uri], place, secret, iv, decrypt))
        for part in self.parts:
            part.unpad()
            self.length += part.length

    def read(self, offset, count):
        if offset > self.length:
            raise Failure("rangeOutOfBounds")
        end, found = min(offset + count, self.length), []
        for part in self.parts:
            start, stop = max(0, offset), min(end, part.length)
            if start < stop:
                found.append(part.read(start, stop))
            offset, end = offset - part.length, end - part.length
        return b"".join(found)
