"""HPKE by hand: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM, modes 0 and 2 (RFC 9180)."""
import hashlib
import hmac

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEM_SUITE = b"KEM" + (0x20).to_bytes(2, "big")
SUITE = b"HPKE" + (0x20).to_bytes(2, "big") + (1).to_bytes(2, "big") + (1).to_bytes(2, "big")


def extract(suite, salt, label, value):
    return hmac.new(salt or bytes(32), b"HPKE-v1" + suite + label + value, hashlib.sha256).digest()


def expand(suite, key, label, info, count):
    info = count.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info
    out, block = b"", b""
    while len(out) < count:
        block = hmac.new(key, block + info + bytes([len(out) // 32 + 1]), hashlib.sha256).digest()
        out += block
    return out[:count]


def exchange(private, public):
    return private.exchange(X25519PublicKey.from_public_bytes(public))


def public_bytes(private):
    raw = serialization.Encoding.Raw, serialization.PublicFormat.Raw
    return private.public_key().public_bytes(*raw)


class Context:
    """What both ends have after the key schedule (section 5.1)."""

    def __init__(self, mode, dh, kem_context, info):
        prk = extract(KEM_SUITE, b"", b"eae_prk", dh)
        secret = expand(KEM_SUITE, prk, b"shared_secret", kem_context, 32)
        context = (bytes([mode]) + extract(SUITE, b"", b"psk_id_hash", b"")
                   + extract(SUITE, b"", b"info_hash", info))
        secret = extract(SUITE, secret, b"secret", b"")
        self.aead = AESGCM(expand(SUITE, secret, b"key", context, 16))
        self.base = int.from_bytes(expand(SUITE, secret, b"base_nonce", context, 12), "big")
        self.number = 0

    def nonce(self):
        nonce = (self.base ^ self.number).to_bytes(12, "big")
        self.number += 1
        return nonce

    def open(self, aad, sealed):
        return self.aead.decrypt(self.nonce(), sealed, aad)

    def seal(self, aad, plaintext):
        return self.aead.encrypt(self.nonce(), plaintext, aad)


def recipient(private, enc, info, sender=None):
    dh, context = exchange(private, enc), enc + public_bytes(private)
    if sender:
        dh, context = dh + exchange(private, sender), context + sender
    return Context(2 if sender else 0, dh, context, info)


def sender(public, info, identity=None):
    ephemeral = X25519PrivateKey.generate()
    enc = public_bytes(ephemeral)
    dh, context = exchange(ephemeral, public), enc + public
    if identity:
        dh, context = dh + exchange(identity, public), context + public_bytes(identity)
    return enc, Context(2 if identity else 0, dh, context, info)
