#!/usr/bin/env python3
"""pyrage, the Python bindings of rage, as a subject: its `decrypt_io` of a whole file.

    python3 -m pip install pyrage cryptography
    chunkwise verify --strategy age --subject 'python3 Examples/subjects/real_pyrage.py'

The library takes an identity and finds the file key in the header, and the harness gives the file key alone. So the
header gets a stanza more, for a throw-away identity. Its MAC differs from the right one where the object's does, so
that the library judges it. All behind the header is the object's. The library has no function for a range or for the
plaintext's length: an object is decrypted when it is opened, up to the first chunk that fails, and ranges are cut out.
If that chunk is not the last one, the length follows from the object's. The adapter reads files alone, so that nothing
is said about what it fetches.
"""
import base64
import hashlib
import hmac
import importlib.metadata
import io

import pyrage
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from subject_protocol import Failure, Opening, hexadecimal, serve

IDENTITY = pyrage.x25519.Identity.generate()
LETTERS = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
CHUNK, TAG = 1 << 16, 16
ERRORS = [
    ("Header is invalid", "invalidHeader"), ("Unknown age format", "invalidHeader"),
    ("failed to fill whole buffer", "truncatedCiphertext")]


def letters(data):
    return base64.b64encode(data).rstrip(b"=")


def derived(key, salt, info):
    return HKDF(hashes.SHA256(), 32, salt, info).derive(key)


def recipient():
    """The public key, in Bech32 behind `age1` and in front of six letters."""
    number = 0
    text = str(IDENTITY.to_public())[4:-6]
    for letter in text:
        number = number << 5 | LETTERS.index(letter)
    return (number >> 5 * len(text) - 256).to_bytes(32, "big")


def stanza(key):
    """The file key for the identity, as the lines of a header have it."""
    public, own = recipient(), X25519PrivateKey.generate()
    share = own.public_key().public_bytes_raw()
    shared = own.exchange(X25519PublicKey.from_public_bytes(public))
    wrapping = ChaCha20Poly1305(derived(shared, share + public, b"age-encryption.org/v1/X25519"))
    return b"-> X25519 " + letters(share), letters(wrapping.encrypt(bytes(12), key, None))


def opened(file, key):
    """The object with one stanza more, and the number of bytes behind its header and salt."""
    lines, rest = [], file
    while not (lines and lines[-1].startswith(b"---")):
        line, end, rest = rest.partition(b"\n")
        if not end:
            return file, 0  # no header, which the library may say
        lines.append(line)
    mac_key = derived(key, None, b"header")

    def mac(lines):
        return hmac.digest(mac_key, b"\n".join([*lines, b"---"]), "sha256")

    own, last = [lines[0], *stanza(key), *lines[1:-1]], lines[-1]
    try:
        found = base64.b64decode(last[4:] + b"=", validate=True)
        if len(found) == 32 and letters(found) == last[4:]:
            last = last[:4] + letters(bytes(a ^ b ^ c for a, b, c in zip(found, mac(lines[:-1]), mac(own))))
    except ValueError:
        pass  # not the letters of a MAC
    return b"\n".join([*own, last, rest]), len(rest) - 16


class Object(Opening):
    def __init__(self, request):
        super().__init__(request)
        key = hexadecimal(request.get("key"))
        if len(key) != 16:
            raise Failure("invalidKey")
        source, plaintext = self.opened(), io.BytesIO()
        file, stored = opened(source.read(0, source.length), key)
        self.failure = None
        try:
            pyrage.decrypt_io(io.BytesIO(file), plaintext, [IDENTITY])
        except pyrage.DecryptError as error:
            raise Failure(next((name for text, name in ERRORS if text in str(error)), "authenticationFailed"))
        except OSError as error:
            self.failure = Failure("truncatedCiphertext" if "truncated" in str(error) else "authenticationFailed")
        self.plaintext = plaintext.getvalue()
        self.length = len(self.plaintext)
        if self.failure:
            count = -(-stored // (CHUNK + TAG))
            if self.length >= (count - 1) * CHUNK:
                raise self.failure
            self.length = stored - count * TAG

    def read(self, offset, count):
        if offset > self.length:
            raise Failure("rangeOutOfBounds")
        end = min(offset + count, self.length)
        if self.failure and max(offset, len(self.plaintext)) < end:
            raise self.failure
        return self.plaintext[offset:end]


serve(
    Object, name="pyrage", version=importlib.metadata.version("pyrage"), strategies=["age"], keyByteCounts=[16],
    sources=["path"], granularity="chunk")
