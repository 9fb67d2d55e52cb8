#!/usr/bin/env python3
"""The `openssl enc` command as a subject: a process for each stretch that is decrypted.

    chunkwise verify --subject 'python3 Examples/subjects/openssl_command.py'
"""
import subprocess

from subject_protocol import Failure, Reader, serve


def decrypt(mode, key, iv, data):
    # A key on the command line is seen by every user of the machine: fit for vectors, and for nothing else.
    command = ["openssl", "enc", "-d", f"-aes-{8 * len(key)}-{mode}", "-nopad", "-K", key.hex(), "-iv", iv.hex()]
    done = subprocess.run(command, input=data, capture_output=True)
    if done.returncode != 0:
        raise Failure("internal")
    return done.stdout


version = subprocess.run(["openssl", "version"], capture_output=True, text=True).stdout.strip()
serve(lambda request: Reader(request, decrypt), name="openssl-command", version=version)
