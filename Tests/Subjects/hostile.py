#!/usr/bin/env python3
"""A good subject that does one bad thing, named by its argument: mostly to the read of 7 bytes at 5, and to no other."""
import os
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Examples/subjects"))
import subject_protocol as protocol  # noqa: E402
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes  # noqa: E402

MODE = sys.argv[1]
out = sys.stdout.buffer
good_answer, held = protocol.answer, []


def decrypt(mode, key, iv, data):
    decryptor = Cipher(algorithms.AES(key), modes.CTR(iv) if mode == "ctr" else modes.CBC(iv)).decryptor()
    return decryptor.update(data) + decryptor.finalize()


def say(data):
    out.write(data)
    out.flush()


def sleep():
    while True:
        time.sleep(60)


def forever(data, stream):
    while True:
        stream.write(data)


def misbehave():
    if MODE == "hangs":
        sleep()
    if MODE == "exits":
        print("something is wrong here", file=sys.stderr, flush=True)
        os._exit(3)
    if MODE == "is-killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if MODE == "floods-stdout":
        forever(b"x" * 65536, out)
    if MODE == "floods-answers":
        forever(b'{"ok":true}\n' * 4096, out)
    if MODE == "floods-stderr":
        forever(b"y" * 65536, sys.stderr.buffer)
    if MODE == "no-json":
        say(b"Traceback (most recent call last):\n")
        sleep()
    if MODE == "half-a-line":
        say(b'{"ok":tr')
        os._exit(0)
    if MODE == "huge":
        say(b'{"ok":true,"payload":9223372036854775808}\n')
        sleep()
    if MODE == "negative":
        say(b'{"ok":true,"payload":-1}\n')
        sleep()
    if MODE == "short-payload":
        say(b'{"ok":true,"payload":7}\nabc')
        sleep()
    if MODE == "need-outside":
        say(b'{"need":{"offset":0,"count":4611686018427387904}}\n')
        sleep()
    if MODE == "need-forever":
        while True:
            protocol.Source({"byteCount": 16}).part(0, 16)
    if MODE == "closes-stdout":
        os.close(1)
        sleep()
    if MODE == "leaves-a-child":
        if os.fork() == 0:
            sleep()
        os._exit(0)
    if MODE == "wrong-error":
        raise protocol.Failure("EINVAL")
    if MODE == "unsupported":
        raise protocol.Failure("unsupported")


def answer(request, objects, hello, open_object):
    op = request.get("op")
    if op == "read" and request.get("offset") == 5 and request.get("count") == 7:
        misbehave()
        if MODE == "twice":
            good = good_answer(request, objects, hello, open_object)
            # Leaves with the answer behind it, in one piece: in two, the next request may come between.
            out.write(b'{"ok":true,"payload":%d}\n' % len(good[1]) + good[1])
            return good
    if MODE == "logs-much" and op == "read":
        sys.stderr.write("z" * 300000)
    if MODE == "dies-at-80" and op == "read" and request.get("offset") == 80:
        os._exit(3)
    if MODE == "stays" and op == "bye":
        protocol.send({"ok": True})
        sleep()
    if MODE == "exits-5" and op == "bye":
        protocol.send({"ok": True})
        os._exit(5)
    if MODE == "unsupported-to-all" and op != "hello":
        raise protocol.Failure("unsupported")
    if MODE == "one-behind" and op == "read":
        held.append(good_answer(request, objects, hello, open_object))
        return held.pop(0) if len(held) > 1 else ({"payload": 0}, b"")
    return good_answer(request, objects, hello, open_object)


protocol.answer = answer
lists = {"strategies": [], "keyByteCounts": []} if MODE == "lists-nothing" else {}
sources = ["path"] if MODE == "path-only" else ["served"]
if MODE == "mute":
    sleep()
protocol.serve(
    lambda request: protocol.Reader(request, decrypt), name=f"hostile {MODE}", version="1", sources=sources, **lists)
if MODE == "stays":
    sleep()
