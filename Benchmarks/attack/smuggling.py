"""Ambiguous requests through proxies: does the server ever answer one that the proxy did not count as one?"""
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import threading
import time

import servers
from payloads import payloads

NGINX = """daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/nginx.log crit;
events {{ worker_connections 256; }}
http {{ access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
upstream server {{ server 127.0.0.1:{server}; keepalive 1; }}
server {{ listen 127.0.0.1:{port}; ignore_invalid_headers off; underscores_in_headers on;
location / {{ proxy_pass http://server; proxy_http_version 1.1; proxy_set_header Connection "";
proxy_set_header Host $http_host; proxy_request_buffering off; proxy_next_upstream off; }} }} }}
"""
HAPROXY = """global
  maxconn 200
defaults
  mode http
  timeout connect 5s
  timeout client 5s
  timeout server 5s
  http-reuse always
frontend front
  bind 127.0.0.1:{port}
  {option}
  default_backend back
backend back
  retries 0
  server server 127.0.0.1:{server} pool-max-conn 1
"""
VARNISH = """vcl 4.1;
backend server {{ .host = "127.0.0.1"; .port = "{server}"; }}
sub vcl_recv {{ return ({action}); }}
"""


class Tap:
    """Stands before the server and counts the answers that it sends."""

    def __init__(self, port):
        self.server, self.listener, self.lock = port, socket.create_server(("127.0.0.1", 0)), threading.Lock()
        self.port, self.answers, self.requested = self.listener.getsockname()[1], b"", b""
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client = self.listener.accept()[0]
            server = socket.create_connection(("127.0.0.1", self.server))
            threading.Thread(target=self.relay, args=(client, server, False), daemon=True).start()
            threading.Thread(target=self.relay, args=(server, client, True), daemon=True).start()

    def relay(self, source, target, answers):
        try:
            while data := source.recv(1 << 16):
                with self.lock:
                    if answers:
                        self.answers += data
                    else:
                        self.requested += data
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            # One end is gone, and so the other one goes.
            for end in (source, target):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def take(self):
        with self.lock:
            taken = self.requested, self.answers
            self.requested = self.answers = b""
        return taken


def statuses(answers):
    """Those of final answers. No body of theirs looks like one."""
    return [int(status) for status in re.findall(rb"HTTP/1\.[01] ([2-5]\d\d) ", answers)]


def start(name, folder, server, port):
    """A proxy that forwards as much as it can be made to, over connections that it uses again; `None` without it."""
    folder = os.path.join(folder, name)
    os.mkdir(folder, 0o755)
    path = os.path.join(folder, "configuration")
    program, text, command = {
        "nginx": ("nginx", NGINX, ["-e", f"{folder}/nginx.log", "-p", folder, "-c", path]),
        "haproxy": ("haproxy", HAPROXY, ["-q", "-db", "-f", path]),
        "haproxy-lax": ("haproxy", HAPROXY, ["-q", "-db", "-f", path]),
        "varnish": ("varnishd", VARNISH, ["-F", "-j", "none", "-n", folder, "-a", f"127.0.0.1:{port}", "-f", path,
                                          "-s", "malloc,16m", "-p", "thread_pool_min=5"]),
        "varnish-pipe": ("varnishd", VARNISH, ["-F", "-j", "none", "-n", folder, "-a", f"127.0.0.1:{port}", "-f", path,
                                               "-s", "malloc,16m", "-p", "thread_pool_min=5"]),
    }[name]
    program = shutil.which(program) or shutil.which(program, path="/usr/sbin")
    if not program:
        return None
    with open(path, "w", encoding="ascii") as file:
        file.write(text.format(
            folder=folder, server=server, port=port, action="pipe" if name == "varnish-pipe" else "pass",
            option="option accept-invalid-http-request" if name == "haproxy-lax" else ""))
    log = open(os.path.join(folder, "log"), "wb")
    process = subprocess.Popen([program, *command], stdout=log, stderr=log)
    for _ in range(200):
        time.sleep(0.05)
        try:
            servers.connect(port).close()
            return process
        except OSError:
            pass
    process.terminate()
    sys.exit(f"attack: {name} does not listen; see {folder}/log")


def send(port, payload):
    """Sends a payload, and returns all that comes until nothing more does."""
    received = b""
    with servers.connect(port) as connection:
        connection.settimeout(0.25)
        try:
            connection.sendall(payload)
            while piece := connection.recv(1 << 16):
                received += piece
        except OSError:
            pass
    return received


def victim(port, server, generator):
    """What somebody else gets that was not asked for; `None` for nothing."""
    try:
        with servers.connect(port) as connection:
            connection.settimeout(10)
            server.read(connection, generator)
    except (OSError, servers.Wrong) as error:
        return repr(error)
    return None


def outcome(requested, answers, received):
    """What the table says, and whether the server sent more answers than the client got."""
    from_server, taken = statuses(answers), statuses(received)
    if not requested:
        return f"proxy: {' '.join(map(str, taken)) or 'closed'}", False
    # What was forwarded counts as one at least: an answer of HTTP/0.9 is a body alone, and may be empty.
    return f"server: {' '.join(map(str, from_server)) or 'closed'}", len(from_server) > max(len(taken), 1)


class Careless:
    """A server that knows no bodies: what it does behind a proxy has to be found, or nothing would be."""
    port = 0

    def __init__(self):
        listener = socket.create_server(("127.0.0.1", 0))
        self.port = listener.getsockname()[1]
        threading.Thread(target=self.accept, args=(listener,), daemon=True).start()

    def accept(self, listener):
        while True:
            threading.Thread(target=self.answer, args=(listener.accept()[0],), daemon=True).start()

    @staticmethod
    def answer(connection):
        data = b""
        while piece := connection.recv(1 << 16):
            *heads, data = (data + piece).split(b"\r\n\r\n")
            for _ in heads:
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


def attack(name, server, listed, folder, look):
    """Sends payloads through a proxy: what came of each, and what differs; `None` without the proxy."""
    tap, process, column, broken = Tap(server.port), None, {}, []
    port = tap.port
    if name != "direct":
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        process = start(name, folder, tap.port, port)
        if not process:
            print(f"{name} is not installed: skipped", file=sys.stderr)
            return None
    for payload, data in listed.items():
        tap.take()
        received = send(port, data)
        column[payload], differs = outcome(*tap.take(), received)
        problems = [text for text in (look(port) for _ in range(2)) if text]
        if name != "direct" and (differs or problems):
            column[payload] += " DIFFERS"
            broken.append(f"{name}, {payload}: {column[payload]}, {problems}")
    if process:
        process.terminate()
        process.wait()
    return column, broken


def main(server, folder):
    """Prints the table; what differs."""
    broken, columns, generator = [], {}, random.Random(1)
    listed = payloads(server)
    for name in ("direct", "nginx", "haproxy", "haproxy-lax", "varnish", "varnish-pipe"):
        result = attack(name, server, listed, folder, lambda port: victim(port, server, generator))
        if result:
            columns[name] = result[0]
            broken += result[1]
    os.mkdir(control_folder := os.path.join(folder, "control"))
    control = attack("nginx", Careless(), {"plain body": listed["plain body"]}, control_folder,
                     lambda port: None)
    if control and not control[1]:
        broken.append("a server that knows no bodies was not found")
    print("| request | " + " | ".join(columns) + " |\n| --- |" + " --- |" * len(columns))
    for payload in listed:
        print(f"| {payload} | " + " | ".join(column[payload] for column in columns.values()) + " |")
    return broken
