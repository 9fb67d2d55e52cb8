#!/usr/bin/env python3
"""Makes the reference objects of cbc-continuous and cbc-chunked in data/interop.

No tool writes cbc-chunked, so that each of its chunks is a run of `openssl enc`, and the chunks are joined here. Keys,
IVs and plaintexts follow from the names of the files: the same bytes each time. To run again only for other files.

  scripts/interop-cbc.py
"""

import hashlib
import json
import pathlib
import subprocess

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "data/interop"


def shake(text, count):
    return hashlib.shake_256(text.encode()).digest(count)


def encrypt(plaintext, key, iv, padding):
    command = ["openssl", "enc", f"-aes-{8 * len(key)}-cbc", "-K", key.hex(), "-iv", iv.hex()]
    if padding == "none":
        command.append("-nopad")
    return subprocess.run(command, input=plaintext, capture_output=True, check=True).stdout


def ranges(plaintext, edge):
    size = len(plaintext)
    wanted = [(0, 1), (0, size), (size, 16), (0, size + 100), (max(0, size - 1), 1), (max(0, size - 17), 100)]
    for place in (16, edge, 2 * edge):
        if place < size:
            wanted += [(place - 1, 2), (place, 16), (place - 7, 40)]
    found = []
    for offset, count in wanted:
        part = plaintext[offset : offset + count]
        entry = {"offset": offset, "count": count, "delivered": len(part)}
        if len(part) <= 64:
            entry["hex"] = part.hex()
        else:
            entry["sha256"] = hashlib.sha256(part).hexdigest()
        found.append(entry)
    return found


def make(name, size, key_count, padding, chunk=None, rule=None, iv=None):
    file = f"aes-{8 * key_count}-{padding}" + (f"-{rule}-{chunk}" if chunk else "") + f"-{size}.bin"
    seed = shake("seed " + name + file, 16)
    key = shake("key " + name + file, key_count)
    iv = iv or shake("iv " + name + file, 16)
    plaintext = hashlib.shake_256(seed).digest(size)
    ciphertext = b""
    for index in range(max(1, -(-size // chunk)) if chunk else 1):
        number = int.from_bytes(iv, "big") + (index if rule == "sequence" else 0)
        part = plaintext[index * chunk : (index + 1) * chunk] if chunk else plaintext
        ciphertext += encrypt(part, key, (number % (1 << 128)).to_bytes(16, "big"), padding)
    folder = FOLDER / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / file).write_bytes(ciphertext)
    parameters = {"iv": iv.hex(), "padding": padding}
    if chunk:
        parameters |= {"chunkByteCount": chunk, "ivRule": rule}
    return {
        "file": file,
        "byteCount": len(ciphertext),
        "sha256": hashlib.sha256(ciphertext).hexdigest(),
        "key": key.hex(),
        "parameters": parameters,
        "plaintextByteCount": size,
        "plaintextSHA256": hashlib.sha256(plaintext).hexdigest(),
        "plaintext": {"generator": "shake256", "seed": seed.hex()},
        "ranges": ranges(plaintext, chunk or 4096),
    }


def write(name, command, files):
    version = subprocess.run(["openssl", "version"], capture_output=True, check=True, text=True).stdout.strip()
    tool = {"name": "openssl enc, by scripts/interop-cbc.py", "version": version, "command": command}
    index = {"format": name, "tool": tool, "keyMaterial": "key of 16, 24 or 32 bytes", "files": files}
    (FOLDER / name / "index.json").write_text(json.dumps(index, indent=1) + "\n")


def main():
    name = "cbc-continuous"
    sizes = [(0, 16), (1, 24), (15, 32), (16, 16), (17, 24), (10000, 32)]
    files = [make(name, size, key, "pkcs7") for size, key in sizes]
    files.append(make(name, 4096, 16, "none"))
    write(name, "openssl enc -aes-N-cbc -K KEY -iv IV [-nopad]", files)
    name = "cbc-chunked"
    cases = [(0, 16, "pkcs7"), (1, 24, "pkcs7"), (1023, 32, "pkcs7"), (1024, 16, "pkcs7"), (1025, 32, "pkcs7")]
    files = [make(name, size, key, padding, 1024, "sequence") for size, key, padding in cases]
    # The sum of the IV and the chunk's number carries over all bytes.
    files.append(make(name, 5000, 32, "pkcs7", 1024, "sequence", b"\xff" * 15 + b"\xfe"))
    files.append(make(name, 4096, 24, "none", 1024, "sequence"))
    files.append(make(name, 3000, 16, "pkcs7", 1024, "fixed"))
    write(name, "openssl enc -aes-N-cbc -K KEY -iv IV_i [-nopad] for each chunk; chunks joined by the script", files)


if __name__ == "__main__":
    main()
