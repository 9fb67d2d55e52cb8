"""The ciphers of descriptions, over pyca/cryptography: what it lacks is made of AES by the documents."""
import functools
import re
import struct

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import poly1305
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, AESOCB3, AESSIV, ChaCha20Poly1305
from cryptography.hazmat.primitives.cmac import CMAC


class Bad(Exception):
    """What is wrong with an object, by its name."""


def xor(a, b):
    """Of bytes, or of numbers."""
    if isinstance(a, int):
        return a ^ b
    assert len(a) == len(b), f"^ of {len(a)} and {len(b)} bytes"
    return (int.from_bytes(a, "big") ^ int.from_bytes(b, "big")).to_bytes(len(a), "big")


def tagCount(cipher):
    return 16 if re.search(b"poly1305|gcm|ocb|eax|siv", cipher) else 0


def words(data):
    return list(struct.unpack(f"<{len(data) // 4}I", data))


SIGMA = words(b"expand 32-byte k")


def salsaState(key, four):
    return [SIGMA[0], *key[:4], SIGMA[1], *four, SIGMA[2], *key[4:], SIGMA[3]]


def salsaRounds(x, mask):
    """Of 16 numbers with a word of each block in the low halves of 8 bytes, which the mask has."""
    for _ in range(10):
        for a, b, c, d in ((0, 4, 8, 12), (5, 9, 13, 1), (10, 14, 2, 6), (15, 3, 7, 11),
                           (0, 1, 2, 3), (5, 6, 7, 4), (10, 11, 8, 9), (15, 12, 13, 14)):
            for to, one, two, shift in ((b, a, d, 7), (c, b, a, 9), (d, c, b, 13), (a, d, c, 18)):
                word = x[one] + x[two] & mask
                x[to] ^= (word << shift | word >> 32 - shift) & mask
    return x


@functools.lru_cache(maxsize=64)
def xSalsa(key, nonce, count):
    """So many bytes of XSalsa20's stream, or a few more."""
    end = salsaRounds(salsaState(words(key), words(nonce[:16])), 0xFFFFFFFF)
    number = (count + 63) // 64
    ones = int.from_bytes((b"\1" + bytes(7)) * number, "little")
    key = [end[i] for i in (0, 5, 10, 15, 6, 7, 8, 9)]
    start = [word * ones for word in salsaState(key, words(nonce[16:]) + [0, 0])]
    start[8] = int.from_bytes(struct.pack(f"<{number}Q", *range(number)), "little")
    mask = 0xFFFFFFFF * ones
    sums = [a + b & mask for a, b in zip(start, salsaRounds(start[:], mask))]
    columns = [struct.unpack(f"<{number}Q", word.to_bytes(8 * number, "little")) for word in sums]
    return b"".join(struct.pack("<16I", *block) for block in zip(*columns))


def sealed(cipher, key, nonce, aad, text):
    """What an authenticated cipher makes of a plaintext, with the tag behind."""
    if cipher == "xsalsa20-poly1305":
        mask = xSalsa(key, nonce, 32 + len(text))
        found = xor(text, mask[32:32 + len(text)])
        return found + poly1305.Poly1305.generate_tag(mask[:32], found)
    if cipher == "xchacha20-poly1305":
        # HChaCha20: a block of ChaCha20 less what it starts from.
        state = SIGMA + words(key) + words(nonce[:16])
        end = words(Cipher(algorithms.ChaCha20(key, nonce[:16]), None).encryptor().update(bytes(64)))
        key = struct.pack("<16I", *(b - a & 0xFFFFFFFF for a, b in zip(state, end)))
        key, nonce = key[:16] + key[48:], bytes(4) + nonce[16:]
    if cipher == "aes-gcm-siv":
        return GCMSIV(key, nonce).sealed(aad, text)
    if cipher == "aes-eax":
        counter = omac(key, 0, nonce)
        found = Cipher(algorithms.AES(key), modes.CTR(counter)).encryptor().update(text)
        return found + xor(xor(counter, omac(key, 1, aad)), omac(key, 2, found))
    if cipher == "aes-siv":
        found = AESSIV(key).encrypt(text, [aad, nonce])
        return found[16:] + found[:16]
    return AEADS.get(cipher, ChaCha20Poly1305)(key).encrypt(nonce, text, aad)


AEADS = {"aes-ocb": AESOCB3, "aes-gcm": AESGCM}
# Of these the tag is made of the plaintext, and the ciphertext of the tag.
SYNTHETIC = "aes-siv", "aes-gcm-siv"


class GCMSIV:
    """AES-GCM-SIV. Source: RFC 8452, section 4."""

    def __init__(self, key, nonce):
        def half(number):
            return self.ecb(key, struct.pack("<I", number) + nonce)[:8]
        self.nonce, self.hashKey = nonce, int.from_bytes(half(0) + half(1), "little")
        self.key = b"".join(half(number) for number in range(2, 2 + len(key) // 8))

    def ecb(self, key, blocks):
        return Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(blocks)

    def tag(self, aad, text):
        """POLYVAL, encrypted."""
        filled = b"".join(data + bytes(-len(data) % 16) for data in (aad, text))
        filled += struct.pack("<QQ", 8 * len(aad), 8 * len(text))
        total = 0
        for at in range(0, len(filled), 16):
            total ^= int.from_bytes(filled[at:at + 16], "little")
            product = 0
            # Times the key, over x to the 128th: from the lowest bit on, each step divides by x.
            for bit in range(128):
                product ^= self.hashKey if total >> bit & 1 else 0
                product = product >> 1 ^ (0xE1 << 120 if product & 1 else 0)
            total = product
        block = bytearray(total.to_bytes(16, "little"))
        block[:12] = xor(bytes(block[:12]), self.nonce)
        block[15] &= 127
        return self.ecb(self.key, bytes(block))

    def masked(self, data, tag):
        start, rest = struct.unpack("<I", tag[:4])[0], tag[4:15] + bytes([tag[15] | 128])
        count = (len(data) + 15) // 16
        blocks = b"".join(struct.pack("<I", start + index & 0xFFFFFFFF) + rest for index in range(count))
        return xor(data, self.ecb(self.key, blocks)[:len(data)])

    def sealed(self, aad, text):
        tag = self.tag(aad, text)
        return self.masked(text, tag) + tag

    def opened(self, aad, data, tag):
        text = self.masked(data, tag)
        if self.tag(aad, text) != tag:
            raise InvalidTag
        return text


def omac(key, number, data):
    """OMAC of EAX (Bellare, Rogaway, Wagner 2004)."""
    code = CMAC(algorithms.AES(key))
    code.update(bytes(15) + bytes([number]) + data)
    return code.finalize()


def ocbText(key, nonce, data):
    """The plaintext of OCB, whatever the tag. Source: RFC 7253, section 4.3."""
    def ecb(block, isBack=False):
        cipher = Cipher(algorithms.AES(key), modes.ECB())
        return (cipher.decryptor() if isBack else cipher.encryptor()).update(block)

    def doubled(block):
        number = int.from_bytes(block, "big") << 1
        return (number ^ (0x87 if number >> 128 else 0)).to_bytes(17, "big")[1:]
    start = (1 << 8 * len(nonce) | int.from_bytes(nonce, "big")).to_bytes(16, "big")
    top = ecb(start[:15] + bytes([start[15] & 192]))
    stretch = int.from_bytes(top + xor(top[:8], top[1:9]), "big")
    offset = (stretch >> 64 - (start[15] & 63) & (1 << 128) - 1).to_bytes(16, "big")
    last = ecb(bytes(16))
    masks = [doubled(doubled(last))]
    parts = []
    for index in range(len(data) // 16):
        count = (index + 1 & -(index + 1)).bit_length()
        while len(masks) < count:
            masks.append(doubled(masks[-1]))
        offset = xor(offset, masks[count - 1])
        parts.append(xor(offset, ecb(xor(data[16 * index:16 * index + 16], offset), True)))
    rest = data[len(data) // 16 * 16:]
    return b"".join(parts) + xor(rest, ecb(xor(offset, last))[:len(rest)])


def opened(cipher, key, nonce, aad, data, tag):
    """The plaintext of a ciphertext without its tag, and the tag that it should have; tag gives the one that it has."""
    if cipher == "aes-ctr":
        return Cipher(algorithms.AES(key), modes.CTR(nonce)).decryptor().update(data), b""
    try:
        if cipher == "aes-siv":
            return AESSIV(key).decrypt(tag() + data, [aad, nonce]), tag()
        if cipher == "aes-gcm-siv":
            return GCMSIV(key, nonce).opened(aad, data, tag()), tag()
    except InvalidTag:
        raise Bad("authenticationFailed") from None
    if cipher == "aes-ocb":
        text = ocbText(key, nonce, data)
        return text, sealed(cipher, key, nonce, aad, text)[len(data):]
    # These add a stream.
    text = xor(data, sealed(cipher, key, nonce, aad, bytes(len(data)))[:len(data)])
    return text, sealed(cipher, key, nonce, aad, text)[len(data):]
