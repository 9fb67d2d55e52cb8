"""Expands vector files by the rules in their headers and checks every test with pyca/cryptography.

Shares nothing with the program that wrote them but the descriptions in data/formats, which docs/formats.md explains:
that it agrees shows that the format is no one language's.
    python3 check_vectors.py FILE …     prints, for each file, its name, groups and reads; exits with 1 at a mistake

Reads of more than 1 MiB take half of the time and are only checked with --large in front of the files.
"""
import hashlib
import json
import sys

from ciphers import Bad
from descriptions import described, own
from films import FilmObject
from objects import Object
from playlists import PlaylistObject


def expand(entries):
    for entry in entries:
        yield from range(entry[0], entry[1] + 1) if isinstance(entry, list) else [entry]


def reads(pattern, length):
    if "exhaustive" in pattern:
        past = pattern["exhaustive"]
        for offset in range(length + past + 1):
            for count in range(max(0, length - offset) + past + 1):
                yield offset, count
    elif "offsets" in pattern:
        for offset in expand(pattern["offsets"]):
            for count in expand(pattern.get("counts", [])):
                yield offset, count
            if offset <= length:
                for past in pattern.get("toEnd", []):
                    yield offset, length - offset + past
    else:
        yield int(pattern["offset"]), pattern["count"]


def check(group):
    """Checks a group and returns the number of its reads."""
    kinds = {"hls-aes128": PlaylistObject, "film": FilmObject}
    thing, number = kinds.get(group["strategy"], Object)(group), 0
    if "error" in group:
        assert thing.length == group["error"], thing.length
        return 0
    assert isinstance(thing.length, int), thing.length
    plaintext = bytes.fromhex(group["plaintext"]) if "plaintext" in group else None
    if plaintext is not None:
        assert thing.read(0, thing.length) == plaintext, "the ciphertext decrypts to something else"
    for pattern in group["reads"]:
        for index, (offset, count) in enumerate(reads(pattern, thing.length)):
            number += 1
            if offset > thing.length:
                assert pattern.get("error", "rangeOutOfBounds") == "rangeOutOfBounds", (offset, count)
                assert pattern.get("digests", "0" * 16 * (index + 1))[16 * index:16 * index + 16] == "0" * 16
                continue
            if plaintext is not None and "offset" not in pattern:
                continue
            if min(count, thing.length - offset) > 2**20 and "--large" not in sys.argv:
                continue
            try:
                found = thing.read(offset, count)
            except Bad as error:
                assert pattern.get("error") == str(error), (offset, count)
                continue
            assert "error" not in pattern, (offset, count)
            digest = hashlib.sha256(found).hexdigest()
            if "digests" in pattern:
                assert pattern["digests"][16 * index:16 * index + 16] == digest[:16], (offset, count)
            elif "sha256" in pattern:
                assert pattern["sha256"] == digest, (offset, count)
            else:
                assert pattern["plaintext"] == found.hex(), (offset, count)
    return number


def main():
    for path in sys.argv[2 if "--large" in sys.argv else 1:]:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        assert data["schema"] == 1, f"{path}: schema {data['schema']}"
        own[:] = [data["descriptions"]] if "descriptions" in data else []
        described.cache_clear()
        counts = {"groups": 0, "reads": 0}
        for group in data["groups"]:
            try:
                counts["reads"] += check(group)
            except AssertionError as error:
                sys.exit(f"{path}: {group['id']}: {error}")
            assert set(group["flags"]) <= set(data["flags"]), f"{path}: {group['id']}: a flag is not explained"
            counts["groups"] += 1
        for name, count in counts.items():
            assert data["counts"][name] == count, f"{path}: {count} {name}, {data['counts'][name]} in the header"
        print(path.rsplit("/", 1)[-1], counts["groups"], counts["reads"])


main()
