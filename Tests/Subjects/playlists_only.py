"""A subject that can do nothing but hls-aes128, and answers only what it has to."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Examples/subjects"))

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes  # noqa: E402

from hls_playlist import Playlist  # noqa: E402
from subject_protocol import Failure, serve  # noqa: E402


def decrypt(mode, key, iv, data):
    decryptor = Cipher(algorithms.AES(key), modes.CBC(iv)).decryptor()
    return decryptor.update(data) + decryptor.finalize()


def open_object(request):
    if type(request.get("source")) is not dict or type(request.get("strategy")) is not str:
        raise Failure("invalidRequest")
    if request["strategy"] != "hls-aes128":
        raise Failure("unsupported")
    return Playlist(request, decrypt)


serve(
    open_object, name="playlists-only", version="1", measures=True, strategies=["hls-aes128"], keyByteCounts=[16],
    sources=sys.argv[1:] or ["path", "served"])
