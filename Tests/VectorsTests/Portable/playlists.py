"""Media playlists (RFC 8216), and the plaintext of their segments."""
import re

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from ciphers import Bad


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
