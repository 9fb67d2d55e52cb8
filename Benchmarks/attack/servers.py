"""Servers under attack: how they are started and asked, and what the system says of their processes."""
import hashlib
import importlib
import json
import os
import random
import re
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import time

CLIENTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Tests/IntegrationTests/Server/Clients")
SIZE = 16 << 20
#: What one address may have of the server's connections: a quarter, as for clients that are not of this machine.
CONNECTIONS, OF_ADDRESS = 256, 64


class Wrong(Exception):
    """An answer that is not what was asked for."""


def connect(port, source="127.0.0.1", buffer=None, context=None):
    """A connection from one of this machine's addresses."""
    connection = socket.socket()
    if buffer:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    connection.settimeout(5)
    try:
        connection.bind((source, 0))
        connection.connect(("127.0.0.1", port))
        return context.wrap_socket(connection) if context else connection
    except OSError:
        connection.close()
        raise


def answer(connection, received=b""):
    """Reads one answer: status, fields by their names in lower case, body, and what follows."""
    while (end := received.find(b"\r\n\r\n")) < 0:
        piece = connection.recv(1 << 16)
        if not piece:
            raise ConnectionError("the connection ended before an answer")
        received += piece
    lines = received[:end].decode("latin-1").split("\r\n")
    fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    length, body = int(fields.get("content-length", 0)), bytearray(received[end + 4:])
    while len(body) < length:
        piece = connection.recv(1 << 18)
        if not piece:
            raise ConnectionError("the connection ended within an answer")
        body += piece
    return int(lines[0].split()[1]), fields, bytes(body[:length]), bytes(body[length:])


class Server:
    """The process and its port."""

    def __init__(self, command, folder):
        self.errors = open(os.path.join(folder, "errors"), "wb")
        self.process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        text = ""
        while "http" not in text:
            text = self.process.stdout.readline()
            if not text:
                with open(os.path.join(folder, "errors"), encoding="utf-8") as file:
                    sys.exit(f"attack: the server does not start: {file.read()}")
        self.port = int(re.search(r":(\d+)/", text).group(1))
        self.context = None

    def connect(self, source="127.0.0.1", buffer=None):
        return connect(self.port, source, buffer, self.context)

    def memory(self):
        """Resident memory in MiB."""
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def is_running(self):
        return self.process.poll() is None

    def end(self):
        """SIGTERM; its exit status."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


class Films(Server):
    """`chunkwise serve` with one encrypted file."""
    name, path, method, field = "serve", "/film.enc", "GET", "Range: bytes=0-3\r\n"

    def __init__(self, program, folder, options=()):
        self.plaintext = random.Random(21).randbytes(SIZE)
        key, iv = os.urandom(16).hex(), os.urandom(16).hex()
        with open(os.path.join(folder, "key"), "w", encoding="ascii", opener=private) as file:
            file.write(key + "\n")
        if not shutil.which("openssl"):
            sys.exit("attack: no openssl: expected Debian's package")
        subprocess.run(
            ["openssl", "enc", "-aes-128-cbc", "-K", key, "-iv", iv, "-out", os.path.join(folder, "film.enc")],
            input=self.plaintext, check=True)
        super().__init__(
            [program, "serve", "--key-file", "key", "--iv", iv, "--port", "0", "--no-token", "film.enc",
             "--max-connections", str(CONNECTIONS), "--max-connections-per-address", str(OF_ADDRESS), *options], folder)

    def request(self, fields="", host="localhost"):
        """A request that is all right, for the whole file."""
        return f"GET {self.path} HTTP/1.1\r\nHost: {host}\r\n{fields}\r\n".encode()

    def read(self, connection, generator):
        """Reads a random range and compares it."""
        size = generator.choice((1, 100, 5000, 1 << 16, 1 << 18))
        first = generator.randrange(SIZE - size)
        connection.sendall(self.request(f"Range: bytes={first}-{first + size - 1}\r\n"))
        status, fields, body, rest = answer(connection)
        if status != 206 or fields.get("content-range") != f"bytes {first}-{first + size - 1}/{SIZE}" or rest:
            raise Wrong(f"{first}+{size}: status {status}, {fields}, {len(rest)} bytes follow")
        if body != self.plaintext[first:first + size]:
            raise Wrong(f"{first}+{size}: other bytes")

    def begin(self, connection, generator):
        """Asks for much, reads and compares some of it."""
        first = generator.randrange(SIZE // 2)
        connection.sendall(self.request(f"Range: bytes={first}-\r\n"))
        data, size = b"", generator.randrange(1 << 20)
        while len(data) < size:
            piece = connection.recv(1 << 16)
            if not piece:
                raise ConnectionError("the connection ended within an answer")
            data += piece
        body = data[data.find(b"\r\n\r\n") + 4:] if data else b""
        if body != self.plaintext[first:first + len(body)]:
            raise Wrong(f"{first}+{len(body)}: other bytes")


class Keys(Server):
    """`chunkwise key-server` with one key, and an audit."""
    name, path, method = "key-server", "/v1/keys", "POST"
    field = "Content-Type: application/x-chunkwise-key-request\r\n"
    key = bytes(range(16))

    def __init__(self, program, folder, options=(), tls=False):
        os.mkdir(os.path.join(folder, "keys"), 0o700)
        with open(os.path.join(folder, "keys/a"), "wb", opener=private) as file:
            file.write(self.key)
        if tls:
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                 "-keyout", "tls.key", "-out", "tls.pem", "-days", "2", "-subj", "/CN=localhost"],
                cwd=folder, check=True, capture_output=True)
            options = [*options, "--tls-certificate", "tls.pem", "--tls-key", "tls.key"]
        super().__init__(
            [program, "key-server", "--keys", "keys", "--audit", "audit", "--port", "0", "--no-token",
             "--max-connections", str(CONNECTIONS), "--max-connections-per-address", str(OF_ADDRESS), *options], folder)
        if tls:
            self.context = ssl.create_default_context(cafile=os.path.join(folder, "tls.pem"))
            self.context.check_hostname = False
        self.audit = os.path.join(folder, "audit")
        sys.path.insert(0, CLIENTS)
        try:
            self.hpke = importlib.import_module("hpke")
        except ImportError:
            self.hpke = None

    def request(self, fields="", host="localhost", body=None):
        """A request for the key, as KEY-PROTOCOL.md has it."""
        body = body or self.question(os.urandom(32))
        return (f"POST {self.path} HTTP/1.1\r\nHost: {host}\r\n{self.field}"
                f"Content-Length: {len(body)}\r\n{fields}\r\n").encode() + body

    def question(self, public):
        return (b"CWKQ\x01\x01" + os.urandom(16) + struct.pack(">Q", time.time_ns() // 10**6) + public
                + b"\x05\x00\x01local\x00\x01a")

    def read(self, connection, _):
        """Asks for the key and opens it; without the package cryptography, looks at its surroundings only."""
        private_key = self.hpke.X25519PrivateKey.generate() if self.hpke else None
        question = self.question(self.hpke.public_bytes(private_key) if self.hpke else os.urandom(32))
        connection.sendall(self.request(body=question))
        status, _, body, rest = answer(connection)
        if status != 200 or body[:6] != b"CWKA\x01\x00" or body[6:22] != question[6:22] or len(body) != 122 or rest:
            raise Wrong(f"status {status}, {len(body)} bytes, {len(rest)} follow")
        if self.hpke:
            info = b"chunkwise-keys-1" + hashlib.sha256(question).digest() + body[:34] + body[66:68]
            opening = self.hpke.recipient(private_key, body[34:66], info)
            if opening.open(b"\x00\x00" + body[68:88], body[90:]) != self.key:
                raise Wrong("another key")
        return question[6:22]

    def begin(self, connection, generator):
        """Asks and does not wait for all of the answer."""
        connection.sendall(self.request()[:generator.randrange(400)])

    def lines(self):
        """How often each request's number stands in the audit with a key; fails where a line is none."""
        counts = {}
        with open(self.audit, encoding="utf-8") as file:
            for line in file:
                line = json.loads(line)
                if line["result"] == "key":
                    counts[line["request"]] = counts.get(line["request"], 0) + 1
        return counts


def private(path, flags):
    return os.open(path, flags, 0o600)
