#!/usr/bin/env python3
"""gocryptfs as a subject: a file system through FUSE, mounted with the master key and read with `pread`.

    apt-get install gocryptfs
    chunkwise verify --strategy gocryptfs --subject 'python3 Examples/subjects/real_gocryptfs.py'

Each key has a mount. An object is copied into its folder of ciphertexts, under a name in plain text, so that nothing is
said about what is fetched. The length is what `fstat` says. `EIO` is all that a reader gets of any fault: it becomes
`authenticationFailed`, and at opening the error that gocryptfs logs of the header, if there is one.
"""
import atexit
import os
import shutil
import subprocess
import tempfile
import time

from subject_protocol import Failure, Opening, choice, hexadecimal, serve

PROGRAM = os.environ.get("GOCRYPTFS", "gocryptfs")
UNTIL_THE_END = """"$@" & cat > /dev/null
fusermount -uz "$0.plaintexts"; wait; rm -rf "$0.ciphertexts" "$0.log"; rmdir "$0.plaintexts" "${0%/*}" """


class Mount:
    """A mounted file system of one key."""

    mounts = {}

    def __init__(self, key, mode):
        self.count = 0
        name = os.path.join(tempfile.mkdtemp(prefix="gocryptfs-subject-"), mode)
        self.ciphertexts, self.plaintexts = name + ".ciphertexts", name + ".plaintexts"
        os.mkdir(self.ciphertexts)
        os.mkdir(self.plaintexts)
        self.log = open(name + ".log", "w+b", buffering=0)
        # The pipe closes when this program ends, however that comes.
        self.process = subprocess.Popen(
            ["sh", "-c", UNTIL_THE_END, name, PROGRAM, "-fg", "-masterkey", key.hex(), "-plaintextnames",
             *["-xchacha"] * (mode == "xchacha"), self.ciphertexts, self.plaintexts],
            stdin=subprocess.PIPE, stdout=self.log, stderr=self.log, start_new_session=True)
        end = time.monotonic() + 5
        while not os.path.ismount(self.plaintexts):
            if time.monotonic() > end:
                raise Failure("internal")
            time.sleep(0.01)

    @classmethod
    def of(cls, key, mode):
        if (key, mode) not in cls.mounts:
            cls.mounts[key, mode] = cls(key, mode)
        return cls.mounts[key, mode]


class Object(Opening):
    def __init__(self, request):
        super().__init__(request)
        key, mode = hexadecimal(request.get("key")), choice(request.get("mode"), ["gcm", "xchacha"])
        if len(key) != 32:
            raise Failure("invalidKey")
        self.opened()
        mount = Mount.of(key, mode)
        name = str(mount.count)
        mount.count += 1
        self.copy = os.path.join(mount.ciphertexts, name)
        shutil.copyfile(self.description["path"], self.copy)
        self.file = os.open(os.path.join(mount.plaintexts, name), os.O_RDONLY)
        self.length = os.fstat(self.file).st_size
        logged = os.fstat(mount.log.fileno()).st_size
        try:
            os.pread(self.file, 1, 0)
        except OSError:
            log = os.pread(mount.log.fileno(), 1 << 16, logged)
            if b"corrupt header" in log:
                raise Failure("unsupported" if b"invalid version" in log else "invalidHeader")

    def __del__(self):
        if hasattr(self, "file"):
            os.close(self.file)
            os.unlink(self.copy)

    def read(self, offset, count):
        if offset > self.length:
            raise Failure("rangeOutOfBounds")
        parts, end = [], min(offset + count, self.length)
        while offset < end:
            try:
                part = os.pread(self.file, end - offset, offset)
            except OSError:
                raise Failure("authenticationFailed")
            if not part:
                break
            parts.append(part)
            offset += len(part)
        return b"".join(parts)


@atexit.register
def unmount():
    for mount in Mount.mounts.values():
        mount.process.stdin.close()
        mount.process.wait()


serve(
    Object, name="gocryptfs", version=subprocess.run([PROGRAM, "-version"], capture_output=True, text=True).stdout[:60],
    strategies=["gocryptfs"], keyByteCounts=[32], sources=["path"], granularity="chunk")
