"""What the cases share: a job of chunkwise in a folder, and what its files say."""

import collections
import json
import os
import pathlib
import subprocess

from cluster import Failure

# Eight groups of cells that are compared with each other, of a few seconds each.
PLAN = """
rounds: ROUNDS
time: 2ms
object-size: 1MiB
cells:
- {backend: [openssl, libgcrypt], key-size: 128, window: [64KiB, 1MiB]}
- {backend: [openssl, libgcrypt], key-size: 192, window: 64KiB}
- {backend: [openssl, libgcrypt], key-size: 256, window: 64KiB}
- {backend: [openssl, libgcrypt], key-size: 128, window: 64KiB, object-size: 256KiB}
- {backend: [openssl, libgcrypt], key-size: 256, window: 64KiB, object-size: 256KiB}
- {backend: [openssl, libgcrypt], key-size: 128, window: 64KiB, source: generated}
- {backend: [openssl, libgcrypt], workload: "random:4KiB", reads: 8}
- {backend: [openssl, libgcrypt], workload: "random:64KiB", reads: 8}
"""


class Place:
    """Where the cases work, and with which program."""

    def __init__(self, folder, chunkwise):
        self.folder = folder
        self.chunkwise = chunkwise
        self.project = pathlib.Path(__file__).resolve().parents[2]
        # Shards work here, so that what they leave goes with the folder.
        self.temporary = folder / "tmp"
        self.temporary.mkdir()

    def environment(self, **more):
        path = f"{self.chunkwise.parent}:{os.environ.get('PATH', '')}"
        return {**os.environ, "PATH": path, "TMPDIR": str(self.temporary), **more}

    def run(self, *command, expects=0, environment=None, **options):
        """Runs a command, and fails unless it ends with the code that is expected."""
        done = subprocess.run(
            [str(word) for word in command], capture_output=True, text=True, timeout=900, cwd=self.folder,
            env=environment or self.environment(), **options)
        if done.returncode != expects:
            text = (done.stdout + done.stderr).strip().splitlines()[-6:]
            raise Failure(f"{' '.join(map(str, command))} ended with {done.returncode}: expected {expects}\n"
                          + "\n".join(text))
        return done

    def plan(self, rounds):
        path = self.folder / f"plan-{rounds}.yml"
        path.write_text(PLAN.replace("ROUNDS", str(rounds)))
        return path

    def sweep(self, name, shards=8, *options, rounds=2, environment=None):
        """Splits a sweep, and returns its job and what was printed."""
        job = Job(self, name)
        done = self.run("chunkwise", "sweep", "--plan", self.plan(rounds), "--split", shards, "--output", job.folder,
                        *options, environment=environment)
        return job, done.stdout


class Job:
    """A job's folder."""

    def __init__(self, place, name):
        self.place = place
        self.folder = place.folder / name
        self.merged = self.folder / "merged" / "results.jsonl"

    @property
    def shards(self):
        return sorted((self.folder / "shards").glob("*.jsonl"))

    @property
    def whole_shards(self):
        """Those that are done; of running ones, what is finished is there as well."""
        return [path for path in self.shards if Records(path).is_complete]

    def shard(self, number, expects=0, before=()):
        return self.place.run(
            *before, "chunkwise", "sweep", "--manifest", self.folder / "manifest.json", "--shard", number, expects=expects)

    def merge(self, expects=0):
        return self.place.run("chunkwise", "merge", self.folder, "--output", self.folder / "merged", expects=expects)

    def merged_records(self):
        """What was merged. If nothing was, the engine's logs say why."""
        if not self.merged.exists():
            logs = "\n".join(path.read_text(errors="replace") for path in sorted(self.folder.glob("*.log")))
            raise Failure(f"{self.merged} is missing: expected a merge\n{logs}")
        return Records(self.merged)

    def require_merged(self, whole):
        """Fails unless the merged file has the records of one run, each once.

        Of the cell that every shard measures, there is at least as much.
        """
        merged = self.merged_records()
        shared = {whole.first_cell, json.loads((self.folder / "manifest.json").read_text())["work"]["sweep"]["reference"]}
        if not merged.is_complete:
            raise Failure(f"{self.merged} has no end: expected one, as all shards are there")
        for key in sorted(set(merged.counts) | set(whole.counts)):
            expected, found = whole.counts[key], merged.counts[key]
            if found != expected and not (key[1] in shared and found > expected > 0):
                raise Failure(f"{self.merged} has {found} {key[0]} records of {key[1]}: expected {expected}, as in one run")
        for key, count in merged.processes.items():
            if count > 1 and key[2] not in shared:
                raise Failure(f"{self.merged} has {count} {key[1]} records of {key[2]}, round {key[3]}: expected one")
        return merged


class Records:
    """A result file: how many records of each kind each cell has."""

    def __init__(self, path):
        self.headers, self.vectors, self.is_complete, self.first_cell = [], {}, False, None
        self.counts, self.processes = collections.Counter(), collections.Counter()
        for line in path.read_text().splitlines():
            (kind, value), = json.loads(line).items()
            if kind == "header":
                self.headers.append(value)
            elif kind == "end":
                self.is_complete = True
            elif kind == "conformance":
                passed, failed = self.vectors.get(value["subject"], (0, 0))
                self.vectors[value["subject"]] = (passed + value["passed"], failed + value["failed"])
            elif kind != "seal":
                cell = value.get("cellID") or json.dumps(value["cell"], sort_keys=True)
                self.first_cell = self.first_cell or cell
                self.counts[kind, cell] += 1
                self.processes[len(self.headers), kind, cell, value.get("round")] += 1

    @property
    def cell_count(self):
        return sum(kind == "check" for kind, _ in self.counts)

    @property
    def nodes(self):
        return sorted({header["host"].get("nodeName") or header["host"]["name"] for header in self.headers})
