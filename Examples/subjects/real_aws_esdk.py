#!/usr/bin/env python3
"""The AWS Encryption SDK for Python as a subject: its stream decryptor.

    python3 -m pip install aws-encryption-sdk
    chunkwise verify --strategy aws-esdk --subject 'python3 Examples/subjects/real_aws_esdk.py'

Its streams do not seek: a read goes on from where the last one ended, or decrypts from the start, as it does after an
error. A manager of materials gives the stream the data key. The library has no function for the plaintext's length, so
opening an object decrypts all of it. If a frame fails that is not the last one, the length is what the size of the
frames says. The adapter reads files alone, so that nothing is said about what it fetches.
"""
import importlib.metadata
import logging

import aws_encryption_sdk
from aws_encryption_sdk import CommitmentPolicy
from aws_encryption_sdk.exceptions import (
    MasterKeyProviderError, NotSupportedError, SerializationError, UnknownIdentityError)
from aws_encryption_sdk.key_providers.base import MasterKeyInfo
from aws_encryption_sdk.materials_managers import DecryptionMaterials
from aws_encryption_sdk.materials_managers.base import CryptoMaterialsManager
from aws_encryption_sdk.structures import DataKey
from cryptography.exceptions import InvalidSignature, InvalidTag

from subject_protocol import Failure, Opening, hexadecimal, integer, serve

logging.disable(logging.CRITICAL)
CLIENT = aws_encryption_sdk.EncryptionSDKClient(commitment_policy=CommitmentPolicy.REQUIRE_ENCRYPT_ALLOW_DECRYPT)
ERRORS = [
    ((InvalidTag, InvalidSignature, MasterKeyProviderError), "authenticationFailed"),
    ((NotSupportedError, UnknownIdentityError), "unsupported"), (SerializationError, "truncatedCiphertext")]


class Materials(CryptoMaterialsManager):
    """The data key that the harness gives."""

    def __init__(self, key):
        self.key = key

    def get_encryption_materials(self, request):
        raise NotImplementedError

    def decrypt_materials(self, request):
        if len(self.key) != request.algorithm.kdf_input_len:
            raise NotSupportedError("a key of another length")
        return DecryptionMaterials(data_key=DataKey(MasterKeyInfo("chunkwise", b""), self.key, b""))


class Object(Opening):
    def __init__(self, request):
        super().__init__(request)
        self.key = hexadecimal(request.get("key"))
        integer(request.get("frameByteCount"))
        if len(self.key) not in (16, 24, 32):
            raise Failure("invalidKey")
        self.stored = self.opened().length
        self.restart()
        try:
            while self.part(self.stream.header.frame_length or 1 << 16):
                pass
            self.length = self.position
        except Failure as failure:
            self.length = self.expected()
            if str(failure) != "authenticationFailed" or self.position + self.frame >= self.length:
                raise

    def expected(self):
        """The plaintext's length if the object has full frames before the last one."""
        header = self.stream.header
        self.frame = header.frame_length
        if not self.frame:
            return 0
        signature = 2 + header.algorithm.signature_len if header.algorithm.is_signing() else 0
        count, rest = divmod(self.stored - self.start - signature - 40, self.frame + 32)
        return count * self.frame + rest if count >= 0 and rest <= self.frame else 0

    def restart(self):
        self.file, self.position, self.has_failed = open(self.description["path"], "rb"), 0, False
        self.stream = CLIENT.stream(mode="d", source=self.file, materials_manager=Materials(self.key))
        self.guarded(lambda: self.stream.header)
        self.start = self.file.tell()

    def part(self, count):
        data = self.guarded(lambda: self.stream.read(count))
        self.position += len(data)
        return data

    def guarded(self, function):
        try:
            return function()
        except Exception as error:
            self.has_failed = True
            if "frames out of order" in str(error) or "authorization failed" in str(error):
                raise Failure("authenticationFailed")
            raise Failure(next((name for kind, name in ERRORS if isinstance(error, kind)), "invalidHeader"))

    def read(self, offset, count):
        if offset > self.length:
            raise Failure("rangeOutOfBounds")
        end = min(offset + count, self.length)
        if offset < self.position or self.has_failed:
            self.restart()
        while self.position < offset:
            if not self.part(min(offset - self.position, 1 << 16)):
                raise Failure("truncatedCiphertext")
        return self.part(end - offset) if end > offset else b""


serve(
    Object, name="aws-encryption-sdk", version=importlib.metadata.version("aws-encryption-sdk"),
    strategies=["aws-esdk"], keyByteCounts=[16, 24, 32], sources=["path"], granularity="chunk")
