"""Accepts connections and misbehaves: rude.py silent|close|half|ssh. Prints its port."""

import socket
import sys
import threading
import time

HALF = (b"HTTP/1.1 206 X\r\nContent-Range: bytes 0-65535/65536\r\nContent-Length: 65536\r\nETag: \"v\"\r\n\r\n"
        + bytes(1000))


def serve(connection, kind):
    """Does what its kind does."""
    with connection:
        if kind == "ssh":
            connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
        if kind == "silent":
            time.sleep(60)
            return
        connection.recv(65536)
        if kind == "half":
            connection.sendall(HALF)
        if kind == "ssh":
            time.sleep(60)


def main(kind):
    """Listens until it is ended."""
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection, kind), daemon=True).start()


main(sys.argv[1])
