"""What attackers do: generators, of which each is one attacker that yields the seconds until its next step."""
import heapq
import random
import socket
import ssl
import struct
import time
from collections import Counter

import servers

ATTACKER = "127.0.0.1"
#: Parts of what could be requests, in any order.
SCRAPS = [
    b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"GET /film.enc HTTP/1.1\r\nHost: a\r\nRange: bytes=0-9\r\n\r\n",
    b"\r\n", b"\n",
    b"\0", b"GET", b" ", b"HTTP/1.1", b"Host: a", b":", b"Content-Length: 9\r\n", b"Transfer-Encoding: chunked\r\n\r\n",
    b"0\r\n\r\n", b"ffffffffffffffff\r\n", b"\xff\xfe", b"POST /v1/keys HTTP/1.1\r\n", b"Range: bytes=0-,1-,2-\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x16\x03\x01\x02\x00\x01", b"A: " + b"a" * 3000,
]


def send(connection, data):
    """Sends what the system takes at once; how many bytes that were. Fails if the other side is gone."""
    try:
        return connection.send(data)
    except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
        return 0


def is_open(connection):
    """Whether the other side has not ended the connection; throws away what it sent."""
    try:
        return connection.recv(1 << 16) != b""
    except (BlockingIOError, ssl.SSLWantReadError):
        return True


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


class Attack:
    """What attackers share: whom they attack, chance, and what they count."""

    def __init__(self, server, seed=1):
        self.server, self.random, self.counts, self.broken = server, random.Random(seed), Counter(), []

    def connect(self, source=ATTACKER, buffer=None, is_plain=False):
        """A connection; a plain one is without TLS where the server expects it."""
        context = None if is_plain else self.server.context
        connection = servers.connect(self.server.port, source, buffer, context)
        connection.setblocking(False)
        self.counts["connections"] += 1
        return connection

    def ask(self, connection, data):
        self.counts["requests"] += 1
        return send(connection, data)

    def drip(self, connection, data, pause):
        """Byte by byte, until the server ends it."""
        for byte in data:
            send(connection, bytes([byte]))
            if not is_open(connection):
                return
            yield pause

    def slow_headers(self):
        with self.connect() as connection:
            self.counts["requests"] += 1
            yield from self.drip(connection, self.server.request("A: " + "a" * 10_000), 0.2)

    def slow_bodies(self):
        with self.connect() as connection:
            head = self.server.request(body=b"x" * 1000) if self.server.method == "POST" else self.server.request(
                "Content-Length: 1000\r\n") + b"x" * 1000
            self.ask(connection, head[:-1000])
            yield from self.drip(connection, head[-1000:], 0.2)

    def half_open(self):
        """Nothing, a part of a request, or a part and the end of our direction; then waits."""
        is_plain = self.random.random() < 0.8
        with self.connect(is_plain=is_plain) as connection:
            request, kind = self.server.request(), self.random.randrange(3)
            if is_plain and self.server.context:
                # The start of a handshake.
                request = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + self.random.randbytes(300)
            if kind:
                self.ask(connection, request[:self.random.randrange(1, len(request))])
            if kind == 2:
                connection.shutdown(socket.SHUT_WR)
            while is_open(connection):
                yield 0.2

    def slow_readers(self):
        """Asks for as much as it can, and takes nothing or very little."""
        with self.connect(buffer=4096) as connection:
            for _ in range(1 if self.server.method == "GET" else 200):
                self.ask(connection, self.server.request())
            takes = self.random.random() < 0.5
            for _ in range(1000):
                yield 0.2
                if takes:
                    try:
                        connection.recv(100)
                    except (BlockingIOError, ssl.SSLWantReadError):
                        pass

    def all_connections(self, source=ATTACKER):
        """One connection of very many, kept busy."""
        with self.connect(source) as connection:
            while is_open(connection):
                self.ask(connection, self.server.request("Range: bytes=0-9\r\n"))
                yield 1

    def many_hosts(self):
        yield from self.all_connections(f"127.0.1.{self.random.randrange(1, 9)}")

    def pipelined_garbage(self):
        """Requests and what is none, without a look at the answers."""
        with self.connect() as connection:
            good = self.server.request("Range: bytes=0-9\r\n") * 100
            for _ in range(50):
                scraps = b"".join(self.random.choices(SCRAPS, k=50)) if self.random.random() < 0.5 else good
                self.ask(connection, scraps if self.random.random() < 0.7 else self.random.randbytes(5000))
                yield 0.01
                if self.random.random() < 0.5 and not is_open(connection):
                    return

    def odd_headers(self):
        """Headers that are huge or that nobody writes; each answer has to be a refusal or a normal one."""
        odd = [
            f"A: {'a' * 100_000}\r\n", "".join(f"A{n}: b\r\n" for n in range(5000)), f"{'a' * 60_000}: b\r\n",
            "Range: bytes=" + ",".join(f"{n}-{n}" for n in range(3000)) + "\r\n", "Cookie: a=b\r\n" * 90,
            "If-None-Match: " + '"a",' * 3000 + "\r\n", "Host: localhost\r\n",
            "Connection: " + "close," * 2000 + "\r\n",
            "Range: bytes=-" + "9" * 10_000 + "\r\n", "Accept: " + "\t" * 15_000 + "\r\n", "Expect: 100-continue\r\n",
            "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nConnection: Upgrade, HTTP2-Settings\r\n",
            "Authorization: Bearer " + "x" * 15_000 + "\r\n", "If-Modified-Since: " + "9" * 15_000 + "\r\n",
        ]
        with self.connect() as connection:
            self.ask(connection, self.server.request(self.random.choice(odd)))
            for _ in range(5):
                yield 0.02
                if not is_open(connection):
                    return

    def sequence(self):
        """Connection after connection, most with a request, from many addresses in turn so that ports suffice."""
        number = self.counts["connections"]
        with self.connect(f"127.0.2.{number // 20_000 % 250 + 1}") as connection:
            if number % 4:
                self.ask(connection, self.server.request("Range: bytes=0-9\r\nConnection: close\r\n"))
                if number % 4 > 1:
                    connection.settimeout(30)
                    while connection.recv(1 << 16):
                        pass
            if number % 4 == 2:
                reset(connection)
        yield 0

    def rebinding(self):
        """What a page of another site would send: each has to be refused."""
        site = "attacker.example"
        port = self.server.port
        host, fields = self.random.choice([
            (site, ""), (f"{site}:{port}", ""), (f"127.0.0.1.{site}", ""), (f"localhost.{site}:{port}", ""),
            (f"{site}@127.0.0.1", ""), ("127.0.0.1", f"Origin: http://{site}\r\n"), ("127.0.0.1", "Origin: null\r\n"),
            (f"127.0.0.1:{port}", "Origin: http://127.0.0.1:1\r\n"), ("localhost", "Sec-Fetch-Site: cross-site\r\n"),
            (f"localhost:{port}", f"Origin: https://localhost:{port}\r\n"), ("", ""), ("localhost:", "Origin: \r\n"),
            ("[::1", ""), (f"127.0.0.1,{site}", ""), (f"{site}#127.0.0.1", ""), (f"{site}\\127.0.0.1", ""),
        ])
        with self.connect() as connection:
            connection.settimeout(30)
            connection.sendall(self.server.request(fields + "Connection: close\r\n", host))
            self.counts["requests"] += 1
            status = servers.answer(connection)[0]
            # By its certificate, a page can tell that a name does not lead to its own server.
            if not self.server.context and not 400 <= status < 500:
                self.broken.append(f"Host: {host!r}, {fields!r}: status {status}")
        yield 0.01

    def resets(self):
        """Ends connections at any moment by a reset."""
        with self.connect(buffer=4096) as connection:
            request = self.server.request()
            if self.random.random() < 0.8:
                self.ask(connection, request[:self.random.choice((1, 30, len(request), len(request)))])
            yield self.random.choice((0, 0, 0.01, 0.1))
            if self.random.random() < 0.5:
                is_open(connection)
            reset(connection)

    def run(self, name, count, seconds, limit=None, look=lambda: None):
        """Has `count` attackers at once begin again and again, until the time or the limit of connections is over."""
        make = getattr(self, name.replace("-", "_"))
        end = time.monotonic() + seconds
        waiting = [(time.monotonic() + number * 0.001, number, None) for number in range(count)]
        while time.monotonic() < end and (limit is None or self.counts["connections"] < limit):
            look()
            at, number, attacker = heapq.heappop(waiting)
            time.sleep(max(0, min(at, end) - time.monotonic()))
            try:
                attacker = attacker or make()
                pause = next(attacker)
            except StopIteration:
                attacker, pause = None, 0
            except OSError as error:
                self.counts["ended"] += 1
                attacker, pause = None, 0.02 if isinstance(error, ConnectionError) else 0.1
            heapq.heappush(waiting, (time.monotonic() + pause, number, attacker))
        for _, _, attacker in waiting:
            if attacker:
                attacker.close()


#: How many attackers of each kind there are at once.
ATTACKS = {
    "slow-headers": 200, "slow-bodies": 200, "half-open": 200, "slow-readers": 200, "all-connections": 600,
    "pipelined-garbage": 20, "odd-headers": 10, "sequence": 1, "rebinding": 4, "resets": 20,
    "many-hosts": 600,
}
#: Those that an honest client is to be served beside. Many hosts together can have all connections of a server.
BOUNDED = [name for name in ATTACKS if name != "many-hosts"]
