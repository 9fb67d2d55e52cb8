#!/usr/bin/env python3
"""Python's `cryptography` as a subject: CBC and CTR, served and from files, with measurements.

    chunkwise verify --subject 'python3 Examples/subjects/python_cryptography.py'
"""
import cryptography
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from subject_protocol import Reader, serve


def decrypt(mode, key, iv, data):
    decryptor = Cipher(algorithms.AES(key), modes.CTR(iv) if mode == "ctr" else modes.CBC(iv)).decryptor()
    return decryptor.update(data) + decryptor.finalize()


serve(
    lambda request: Reader(request, decrypt), name="python-cryptography", version=cryptography.__version__,
    measures=True)
