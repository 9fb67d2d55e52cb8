"""Answers requests for ranges rightly, or wrongly in one way a path: answers.py.

Prints its port. The object of every path has 300,000 bytes, of which byte i is (31 * i + i // 251) % 256. The path
/count says how many requests came so far for each path, how many connections, and how many bytes right answers had.
"""

import json
import re
import socket
import struct
import sys
import threading
import time

SIZE = 300_000
OBJECT = bytes((31 * i + i // 251) % 256 for i in range(SIZE))
counts = {"connections": 0, "bytes": 0}
lock = threading.Lock()


def count(name):
    """Counts, and says how often it came before."""
    with lock:
        counts[name] = counts.get(name, 0) + 1
        return counts[name] - 1


def head(status, fields, tag='"v1"'):
    """The head of an answer."""
    lines = [f"HTTP/1.1 {status} X"] + [f"{name}: {value}" for name, value in fields.items()]
    if tag:
        lines.append(f"ETag: {tag}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def part(first, end, tag='"v1"', size=SIZE, **others):
    """The head of an answer with a range."""
    fields = {"Content-Range": f"bytes {first}-{end - 1}/{size}", "Content-Length": end - first}
    fields.update({name.replace("_", "-"): value for name, value in others.items()})
    return head(206, {name: value for name, value in fields.items() if value is not None}, tag)


def reset(connection):
    """Ends a connection without a goodbye."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return False


def answer(connection, path, first, end, request):
    """Sends an answer; says whether the connection stays."""
    last = request.get("range", "").startswith("bytes=-")
    body = OBJECT[first:end]
    half = len(body) // 2
    before = count(path)
    if last:
        count("last " + path)
    if path == "/count":
        text = json.dumps(counts).encode()
        connection.sendall(part(0, len(text), size=len(text)) + text)
    elif path == "/whole":
        connection.sendall(head(200, {"Content-Length": SIZE}) + OBJECT)
    elif path == "/short":
        connection.sendall(part(first, end) + body[:half])
        return False
    elif path == "/reset":
        connection.sendall(part(first, end) + body[:half])
        time.sleep(0.05)
        return reset(connection)
    elif path == "/long":
        size = f"{len(body):x}\r\n".encode()
        connection.sendall(part(first, end, Content_Length=None, Transfer_Encoding="chunked")
                           + size + body + b"\r\n5\r\nextra\r\n0\r\n\r\n")
    elif path == "/longer-length":
        connection.sendall(part(first, end, Content_Length=len(body) + 5) + body + b"extra")
    elif path == "/shorter-length":
        connection.sendall(part(first, end, Content_Length=half) + body[:half])
    elif path == "/elsewhere":
        connection.sendall(part(first + 1, end + 1) + OBJECT[first + 1:end + 1])
    elif path == "/more":
        connection.sendall(part(first, end + 1) + OBJECT[first:end + 1])
    elif path == "/unnamed":
        connection.sendall(part(first, end, Content_Range=None) + body)
    elif path == "/nonsense":
        connection.sendall(part(first, end, Content_Range="bytes 5-3/x") + body)
    elif path == "/unknown-length":
        connection.sendall(part(first, end, size="*") + body)
    elif path == "/huge":
        connection.sendall(part(first, end, size=2 ** 64 - 1) + body)
    elif path == "/multipart":
        text = b"--x\r\nContent-Range: bytes 0-0/300000\r\n\r\nA\r\n--x--\r\n"
        connection.sendall(head(206, {
            "Content-Type": "multipart/byteranges; boundary=x", "Content-Length": len(text)}) + text)
    elif path == "/encoded":
        connection.sendall(part(first, end, Content_Encoding="gzip") + body)
    elif path == "/moved":
        connection.sendall(head(302, {"Location": "http://u:secret@h/there?token=secret", "Content-Length": 0}))
    elif path == "/moved-nearby":
        connection.sendall(head(307, {"Location": "../elsewhere/there?token=secret", "Content-Length": 0}))
    elif path == "/moved-round":
        connection.sendall(head(302, {"Location": "/moved-round?token=secret", "Content-Length": 0}))
    elif path.startswith("/moved-on-"):
        number = int(path.removeprefix("/moved-on-"))
        target = f"/moved-on-{number - 1}" if number else "/good?token=secret"
        connection.sendall(head(301 + number, {"Location": target, "Content-Length": 0}))
    elif path.startswith("/moved-to-"):
        target = f"http://127.0.0.1:{path.removeprefix('/moved-to-')}/token"
        connection.sendall(head(307, {"Location": target, "Content-Length": 0}))
    elif path == "/moved-nowhere":
        connection.sendall(head(302, {"Content-Length": 0}))
    elif path == "/moved-later" and before > 0:
        connection.sendall(head(302, {"Location": "/good", "Content-Length": 0}))
    elif path == "/cuts":
        connection.sendall(part(first, end) + body[:3000])
        return len(body) <= 3000
    elif path == "/missing":
        connection.sendall(head(404, {"Content-Length": 4}) + b"none")
    elif path == "/garbage":
        connection.sendall(b"\x00\x01\x02 this is no answer\r\n\r\n")
    elif path == "/silent":
        time.sleep(30)
        return False
    elif path == "/closed":
        return False
    elif path == "/stalls":
        connection.sendall(part(first, end) + body[:half])
        time.sleep(30)
        return False
    elif path == "/trickles" and before > 0:
        connection.sendall(part(first, end))
        for place in range(60):
            connection.sendall(body[place:place + 1])
            time.sleep(0.5)
        return False
    elif path == "/unended":
        size = f"{len(body):x}\r\n".encode()
        connection.sendall(part(first, end, Content_Length=None, Transfer_Encoding="chunked") + size + body)
        time.sleep(30)
        return False
    elif path == "/changed-tag" and before > 0:
        connection.sendall(part(first, end, tag='"v2"') + body)
    elif path == "/changed-length" and before > 0:
        connection.sendall(part(first, end, size=SIZE + 1) + body)
    elif path == "/changed-whole" and before > 0:
        connection.sendall(head(200, {"Content-Length": SIZE}, tag='"v2"') + OBJECT)
    elif path == "/tag-lost" and before > 0:
        connection.sendall(part(first, end, tag=None) + body)
    elif path == "/changes-after-cut" and before > 0:
        if before == 1:
            connection.sendall(part(first, end) + body[:half])
            return False
        connection.sendall(part(first, end, tag='"v2"') + body)
    elif path == "/late" and before in (1, 2):
        connection.sendall(head(503, {"Content-Length": 0}))
    elif path == "/cut-once" and before == 1:
        connection.sendall(part(first, end) + body[:half])
        return False
    elif path == "/cut-once-unnamed":
        connection.sendall(part(first, end, tag=None) + (body[:half] if before == 1 else body))
        return before != 1
    elif path == "/subset":
        fewer = max(1, half)
        connection.sendall(part(first, first + fewer) + body[:fewer])
    elif path == "/last-refused" and last:
        connection.sendall(head(400, {"Content-Length": 0}))
    elif path == "/last-ignored" and last:
        connection.sendall(head(200, {"Content-Length": SIZE}) + OBJECT)
    elif path == "/last-closed" and last:
        return reset(connection)
    elif path == "/last-as-first" and last:
        connection.sendall(part(0, len(body)) + OBJECT[:len(body)])
    elif path == "/last-short" and last:
        connection.sendall(part(first, end) + body[:half])
        return False
    elif path == "/last-changed" and last:
        connection.sendall(part(first, end, tag='"v2"') + bytes(len(body)))
    elif path == "/empty":
        connection.sendall(head(416, {"Content-Range": "bytes */0", "Content-Length": 0}))
    elif path == "/if-range" and first > 0 and '"v1"' not in request.get("if-range", ""):
        connection.sendall(head(400, {"Content-Length": 0}))
    elif path == "/token" and request.get("authorization") != "Bearer secret":
        connection.sendall(head(403, {"Content-Length": 0}))
    else:
        with lock:
            counts["bytes"] += len(body)
        connection.sendall(part(first, end) + body)
    return True


def serve(connection):
    """Answers what comes on a connection."""
    count("connections")
    received = b""
    with connection:
        while True:
            while b"\r\n\r\n" not in received:
                more = connection.recv(65536)
                if not more:
                    return
                received += more
            text, _, received = received.partition(b"\r\n\r\n")
            lines = text.decode("latin-1").split("\r\n")
            path = lines[0].split(" ")[1].partition("?")[0]
            request = {}
            for line in lines[1:]:
                name, _, value = line.partition(":")
                request[name.lower()] = value.strip()
            match = re.match(r"bytes=(\d+)-(\d+)$", request.get("range", ""))
            first, last = (int(match[1]), int(match[2])) if match else (0, SIZE - 1)
            if match := re.match(r"bytes=-(\d+)$", request.get("range", "")):
                first = max(0, SIZE - int(match[1]))
            try:
                if not answer(connection, path, first, min(last + 1, SIZE), request):
                    return
            except OSError:
                return


def main():
    """Listens until it is ended."""
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection,), daemon=True).start()


if __name__ == "__main__":
    sys.exit(main())
