"""Serves a folder with a playlist, rightly or wrongly in one way a path: playlists.py FOLDER.

Prints its port. /good/NAME answers ranges. /whole/NAME sends playlists and keys whole, in chunks, whatever is asked for,
and /sized/NAME with their length; /plain/NAME does so with segments too. /packed/NAME sends playlists that gzip packed,
and /moved/NAME sends clients to /good/there/NAME, whose folder is the same. /swapped/NAME sends other bytes of the same length under another entity tag from the
second request for a segment on. /silent/NAME closes the connection where a segment is asked for. /count says how many
requests came for each path, and "bytes" of segments that were sent; /secrets which of them had a token.
"""

import gzip
import http.server
import json
import os
import re
import sys
import threading

FOLDER = sys.argv[1]
counts = {"bytes": 0}
tokens = []
lock = threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers one request after the other on a connection."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Says nothing."""

    def send(self, status, body, fields):
        """Sends an answer with its length."""
        self.send_response(status)
        for name, value in {**fields, "Content-Length": len(body)}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        """Answers."""
        path = self.path.partition("?")[0]
        if path in ("/count", "/secrets"):
            text = json.dumps(counts if path == "/count" else tokens).encode()
            self.send(206, text, {"Content-Range": f"bytes 0-{len(text) - 1}/{len(text)}"})
            return
        with lock:
            counts[path] = counts.get(path, 0) + 1
            before = counts[path]
            if self.headers.get("Authorization"):
                tokens.append(path)
        _, way, name = path.split("/", 2)
        if way == "moved":
            self.send(302, b"", {"Location": f"/good/there/{name}"})
            return
        file = os.path.join(FOLDER, name.removeprefix("there/"))
        if not os.path.isfile(file):
            self.send(404, b"", {})
            return
        with open(file, "rb") as stream:
            body = stream.read()
        tag = '"first"'
        is_segment = name.endswith(".ts")
        if way == "silent" and is_segment:
            self.close_connection = True
            return
        if way == "swapped" and is_segment and before > 1:
            body, tag = bytes(byte ^ 1 for byte in body), '"second"'
        if way == "plain" or way == "sized" and not is_segment:
            self.send(200, body, {})
            return
        fields = {"ETag": tag}
        if way == "packed" and not is_segment:
            body = gzip.compress(body)
            fields["Content-Encoding"] = "gzip"
        if way == "whole" and not is_segment:
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\n\r\n")
            return
        first, last = re.match(r"bytes=(\d*)-(\d+)$", self.headers["Range"]).groups()
        first, last = (int(first), int(last)) if first else (max(0, len(body) - int(last)), len(body) - 1)
        part = body[first:last + 1]
        if is_segment:
            with lock:
                counts["bytes"] += len(part)
        self.send(206, part, {"Content-Range": f"bytes {first}-{first + len(part) - 1}/{len(body)}", **fields})


def main():
    """Listens until it is ended."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    sys.exit(main())
