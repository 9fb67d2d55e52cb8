#!/usr/bin/env python3
"""Tink's streaming AEAD, in Python over its C++, as a subject.

    python3 -m pip install tink
    chunkwise verify --strategy tink-aes-gcm-hkdf --subject 'python3 Examples/subjects/real_tink.py'

Its streams do not seek, and there is no function for the plaintext's length: opening an object decrypts all of it, and
reads are parts of that. It reads files alone, so that nothing is said about what it fetches. Its errors have no kinds:
what it refuses is `truncatedCiphertext` if no plaintext has the object's length, and else `authenticationFailed`.
"""
import importlib.metadata

import tink
from tink import proto_keyset_format, secret_key_access, streaming_aead
from tink.proto import aes_ctr_hmac_streaming_pb2, aes_gcm_hkdf_streaming_pb2, common_pb2, hmac_pb2, tink_pb2

from subject_protocol import Failure, Opening, choice, hexadecimal, integer, serve

HASHES = {"sha1": common_pb2.SHA1, "sha256": common_pb2.SHA256, "sha512": common_pb2.SHA512}


def primitive(kind, key):
    """The streaming AEAD of a keyset with one key."""
    keyset = tink_pb2.Keyset(primary_key_id=1, key=[tink_pb2.Keyset.Key(
        key_id=1, status=tink_pb2.ENABLED, output_prefix_type=tink_pb2.RAW, key_data=tink_pb2.KeyData(
            type_url=f"type.googleapis.com/google.crypto.tink.{kind}", value=key.SerializeToString(),
            key_material_type=tink_pb2.KeyData.SYMMETRIC))])
    handle = proto_keyset_format.parse(keyset.SerializeToString(), secret_key_access.TOKEN)
    return handle.primitive(streaming_aead.StreamingAead)


class Object(Opening):
    def __init__(self, request):
        super().__init__(request)
        key, self.data = hexadecimal(request.get("key")), hexadecimal(request.get("associatedData"))
        self.segment = integer(request.get("segmentByteCount"), 1)
        self.derived = choice(request.get("derivedKeyByteCount"), [16, 32])
        params = {
            "ciphertext_segment_size": self.segment, "derived_key_size": self.derived,
            "hkdf_hash_type": HASHES[choice(request.get("hkdfHash"), HASHES)]}
        self.tag = 16
        if self.strategy == "tink-aes-ctr-hmac":
            self.tag = integer(request.get("tagByteCount"), 10)
            params["hmac_params"] = hmac_pb2.HmacParams(
                hash=HASHES[choice(request.get("tagHash"), HASHES)], tag_size=self.tag)
            kind, family = "AesCtrHmacStreaming", aes_ctr_hmac_streaming_pb2
        else:
            kind, family = "AesGcmHkdfStreaming", aes_gcm_hkdf_streaming_pb2
        if self.segment <= 8 + self.derived + self.tag:
            raise Failure("invalidRequest")
        if len(key) < self.derived:
            raise Failure("invalidKey")
        message = getattr(family, kind + "Key")(
            version=0, key_value=key, params=getattr(family, kind + "Params")(**params))
        try:
            self.primitive = primitive(kind + "Key", message)
        except tink.TinkError:
            raise Failure("unsupported")
        self.stored = self.opened().length
        self.plaintext = self.decrypted()
        self.length = len(self.plaintext)

    def decrypted(self):
        try:
            with open(self.description["path"], "rb") as file, \
                    self.primitive.new_decrypting_stream(file, self.data) as stream:
                return stream.read()
        except tink.TinkError:
            rest = self.stored % self.segment
            if self.stored < 8 + self.derived + self.tag or 0 < rest < self.tag:
                raise Failure("truncatedCiphertext")
            raise Failure("authenticationFailed")

    def read(self, offset, count):
        if offset > self.length:
            raise Failure("rangeOutOfBounds")
        return self.plaintext[offset:offset + count]


streaming_aead.register()
serve(
    Object, name="tink", version=importlib.metadata.version("tink"),
    strategies=["tink-aes-gcm-hkdf", "tink-aes-ctr-hmac"], keyByteCounts=[16, 32], sources=["path"],
    granularity="chunk")
