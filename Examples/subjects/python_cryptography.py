#!/usr/bin/env python3
"""Python's `cryptography` as a subject: CBC, CTR and HLS, served and from files, with measurements.

    chunkwise verify --subject 'python3 Examples/subjects/python_cryptography.py'
"""
import cryptography
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from hls_playlist import Playlist
from subject_protocol import STRATEGIES, Reader, serve


def decrypt(mode, key, iv, data):
    decryptor = Cipher(algorithms.AES(key), modes.CTR(iv) if mode == "ctr" else modes.CBC(iv)).decryptor()
    return decryptor.update(data) + decryptor.finalize()


def open_object(request):
    return (Playlist if request.get("strategy") == "hls-aes128" else Reader)(request, decrypt)


serve(
    open_object, name="python-cryptography", version=cryptography.__version__, measures=True,
    strategies=[*STRATEGIES, "hls-aes128"])
