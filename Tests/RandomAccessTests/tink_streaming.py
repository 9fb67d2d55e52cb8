"""Encrypts or decrypts a file with Tink's streaming AEAD.

    python3 tink_streaming.py encrypt|decrypt KEY ASSOCIATED_DATA SEGMENT_BYTES DERIVED_KEY_BYTES INPUT OUTPUT

KEY and ASSOCIATED_DATA are hexadecimal digits. Exits with 1 where Tink refuses what it reads.
"""
import sys

import tink
from tink import proto_keyset_format, secret_key_access, streaming_aead
from tink.proto import aes_gcm_hkdf_streaming_pb2, common_pb2, tink_pb2


def primitive(key, segment, derived):
    """A streaming AEAD of one key, as a keyset of Tink's templates has it."""
    value = aes_gcm_hkdf_streaming_pb2.AesGcmHkdfStreamingKey(
        version=0, key_value=key, params=aes_gcm_hkdf_streaming_pb2.AesGcmHkdfStreamingParams(
            ciphertext_segment_size=segment, derived_key_size=derived, hkdf_hash_type=common_pb2.SHA256))
    keyset = tink_pb2.Keyset(primary_key_id=1, key=[tink_pb2.Keyset.Key(
        key_id=1, status=tink_pb2.ENABLED, output_prefix_type=tink_pb2.RAW, key_data=tink_pb2.KeyData(
            type_url="type.googleapis.com/google.crypto.tink.AesGcmHkdfStreamingKey",
            value=value.SerializeToString(), key_material_type=tink_pb2.KeyData.SYMMETRIC))])
    handle = proto_keyset_format.parse(keyset.SerializeToString(), secret_key_access.TOKEN)
    return handle.primitive(streaming_aead.StreamingAead)


def main():
    mode, key, data, segment, derived, source, target = sys.argv[1:]
    streaming_aead.register()
    stream = primitive(bytes.fromhex(key), int(segment), int(derived))
    data = bytes.fromhex(data)
    if mode == "encrypt":
        with open(source, "rb") as plaintext, open(target, "wb") as file:
            with stream.new_encrypting_stream(file, data) as out:
                out.write(plaintext.read())
        return
    try:
        with open(source, "rb") as file, stream.new_decrypting_stream(file, data) as plaintext:
            found = plaintext.read()
    except tink.TinkError as error:
        sys.exit(f"tink: {error}")
    with open(target, "wb") as out:
        out.write(found)


main()
