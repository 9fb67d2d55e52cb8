"""A subject that can do nothing but film, and decrypts each film as a whole when it is opened.

With the word boxes, it reads no list of samples, which PROTOCOL.md allows.
"""
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, "../../Examples/subjects"), os.path.join(here, "../VectorsTests/Portable")]

from films import FilmObject  # noqa: E402
from subject_protocol import Failure, Opening, hexadecimal, serve  # noqa: E402


class Film(Opening):
    def __init__(self, request):
        super().__init__(request)
        if "boxes" in sys.argv and "samples" in request:
            raise Failure("unsupported")
        hexadecimal(request.get("key"))
        source = self.opened()
        self.film = FilmObject({**request, "ciphertext": source.read(0, source.length).hex()})
        self.length = self.film.length
        if type(self.length) is str:
            raise Failure(self.length)

    def read(self, offset, count):
        if offset > self.length:
            raise Failure("rangeOutOfBounds")
        return self.film.read(offset, count)


serve(
    Film, name="films-only", version="1", measures=False, strategies=["film"], keyByteCounts=[16],
    sources=[word for word in sys.argv[1:] if word != "boxes"] or ["path", "served"])
