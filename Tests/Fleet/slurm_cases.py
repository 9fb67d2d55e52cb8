"""Cases with a real Slurm of two nodes."""

import json
import re
import shutil
import time

from cluster import Failure, wait_until
from jobs import Job, Records


def submit(slurm, place, job, *options, rounds=2, shards=8):
    """Splits and submits a sweep as a user does; returns how long that took."""
    begun = time.monotonic()
    place.sweep(job.folder.name, shards, "--engine", "slurm", "--submit", *options, rounds=rounds,
                environment=environment(slurm, place))
    return time.monotonic() - begun


def environment(slurm, place):
    return place.environment(SLURM_CONF=str(slurm.configuration))


def whole_run(place):
    """One run of the plan, in one process: what merged runs are compared with."""
    folder = place.folder / "whole"
    if not folder.exists():
        place.run("chunkwise", "sweep", "--plan", place.plan(2), "--output", folder)
    return Records(folder / "results.jsonl")


def array(slurm, place):
    """An array of 8 over two nodes, merged: the cells of one run"""
    job = Job(place, "array")
    submitted = submit(slurm, place, job)
    begun = time.monotonic()
    slurm.wait_for_all()
    waited = time.monotonic() - begun
    merged = job.require_merged(whole_run(place))
    if merged.nodes != slurm.nodes:
        raise Failure(f"{job.merged} has the nodes {merged.nodes}: expected {slurm.nodes}")
    if len(job.shards) != 8:
        raise Failure(f"{len(job.shards)} files of shards: expected 8, one a shard")
    begun = time.monotonic()
    job.merge()
    took = submitted + time.monotonic() - begun
    # What is waited for is the work and Slurm; the bound is generous, as others may use the machine.
    if took > 60:
        raise Failure(f"split, submit and merge took {took:.1f} s: expected seconds")
    return (f"{merged.cell_count} cells of 8 shards on {', '.join(merged.nodes)}; split, submit and merge {took:.1f} s "
            f"beside {waited:.0f} s of work")


def vectors(slurm, place):
    """Vectors split over two nodes: each is executed exactly once"""
    files = [f"data/vectors/{name}.json" for name in ("sp800-38a", "counter-carries", "chaining")]
    chosen = [word for file in files for word in ("--vectors", str(place.project / file))] + ["--backend", "openssl"]
    job = Job(place, "vectors")
    place.run("chunkwise", "verify", *chosen, "--split", 8, "--output", job.folder, "--engine", "slurm", "--submit",
              environment=environment(slurm, place))
    parts = json.loads((job.folder / "manifest.json").read_text())["parts"]
    members = [member for part in parts for member in part["members"]]
    slurm.wait_for_all()
    whole = json.loads(place.run("chunkwise", "verify", *chosen, "--format", "json").stdout)
    expected = {subject["name"]: (subject["passed"], subject["failed"]) for subject in whole["subjects"]}
    found = job.merged_records().vectors
    if found != expected:
        raise Failure(f"merged outcomes are {found}: expected {expected}, as in one run")
    if len(members) != len(set(members)):
        raise Failure("a group of vectors is in two shards: expected each in one")
    return ", ".join(f"{name} passed {passed} and failed {failed}, as in one run"
                     for name, (passed, failed) in found.items())


def shard_twice(slurm, place):
    """A shard that was run twice counts once"""
    job = copy(place, "twice")
    job.shard(3)
    text = job.merge().stderr
    job.require_merged(whole_run(place))
    if len(job.shards) != 9:
        raise Failure(f"{len(job.shards)} files of shards: expected 9, one an attempt")
    return text.strip().splitlines()[-1]


def one_of_the_array(slurm, place):
    """--array=7 again: the count comes from the manifest"""
    job, script = place.sweep("again", 8, "--engine", "slurm", environment=environment(slurm, place))
    array = Job(place, "array")
    shutil.copy(array.folder / "manifest.json", job.folder)
    for path in array.shards:
        if not path.name.startswith("00007-"):
            shutil.copy(path, job.folder / "shards")
    missing = job.merge(expects=2)
    if "shard 7" not in missing.stdout:
        raise Failure(f"merge says {missing.stdout}: expected it to name shard 7")
    place.run("sh", "-c", script.replace("--array=0-7", "--array=7"), environment=environment(slurm, place))
    slurm.wait_for_all()
    job.require_merged(whole_run(place))
    return missing.stderr.strip().splitlines()[-1]


def failed_shards(slurm, place):
    """Shards that fail cancel the merge, and are named by one that is made by hand"""
    job, script = place.sweep("failing", 2, "--engine", "slurm", environment=environment(slurm, place))
    place.run("sh", "-c", re.sub(r"exec \S+ sweep", "exec false", script), environment=environment(slurm, place))
    slurm.wait_for_all()
    if job.merged.exists():
        raise Failure(f"{job.merged} is there: expected no merge of shards that failed")
    said = job.merge(expects=2)
    if any(f"shard {number}" not in said.stdout for number in range(2)):
        raise Failure(f"merge says {said.stdout}: expected it to name shards 0 and 1")
    return said.stderr.strip().splitlines()[-1]


def preemption(slurm, place):
    """Preempted by SIGTERM, a shard hands over whole records, and is run again"""
    job = Job(place, "preempted")
    submit(slurm, place, job, "--replicate", shards=1, rounds=12)
    wait_until("records of the shard", lambda: records_here(place) > 50)
    node = wait_until("the shard's node", lambda: slurm.run("squeue", "-h", "-t", "running", "-o", "%N"))
    wait_until("an urgent job", lambda: slurm.run(
        "sbatch", "-p", "urgent", "-w", node, "--exclusive", "-o", "/dev/null", "--wrap", "true"))
    wait_until("what was finished", lambda: job.shards)
    part = Records(job.shards[0])
    if part.is_complete or not part.counts:
        raise Failure(f"{job.shards[0]} is {'complete' if part.is_complete else 'empty'}: expected a part of the shard")
    slurm.wait_for_all()
    merged = job.merged_records()
    restarts = [Records(path).headers[0]["shard"].get("restartCount") for path in job.shards]
    if len(job.shards) != 2 or not merged.is_complete:
        log = "\n".join(path.read_text() for path in job.folder.glob("*.log"))
        raise Failure(f"{len(job.shards)} files of the shard, restarts {restarts}: expected it to be run again\n{log}")
    return f"{sum(part.counts.values())} whole records by the first attempt, restarts {restarts}"


def lost_node(slurm, place):
    """Either node is killed in the middle: its shard runs elsewhere, and nothing that was finished is lost"""
    return "; ".join(lose_while_it_works(slurm, place, node) for node in slurm.nodes)


def lose_while_it_works(slurm, place, node):
    """Kills a node. If its shard ended just before, that shows nothing, and it is done again."""
    for attempt in range(4):
        job = Job(place, f"lost-{node}-{attempt}")
        submit(slurm, place, job, rounds=6, shards=4)
        wait_until("two shards to be done", lambda: len(job.whole_shards) >= 2)
        wait_until(f"a shard on {node}", lambda: slurm.jobs("-w", node, "-t", "running"))
        wait_until("its records", lambda: records_here(place) > 0)
        slurm.lose(node)
        done = job.whole_shards
        # The other node does it all, once the controller has noticed.
        slurm.wait_for_all()
        merged = job.merged_records()
        if not merged.is_complete:
            raise Failure(f"{job.merged} is not complete after {node} was lost: expected its shard to be requeued")
        attempts = {path: Records(path) for path in job.shards}
        lost = [path.name for path in done if path not in attempts or not attempts[path].is_complete]
        restarted = [file.nodes[0] for file in attempts.values() if file.headers[0]["shard"].get("restartCount")]
        if lost or node in restarted:
            raise Failure(f"after {node} was lost, shards were restarted on {restarted} and {lost} are gone: expected "
                          "another node, and none gone")
        missing = [cell for file in attempts.values() for _, cell in file.counts if not has(merged, cell)]
        if missing:
            raise Failure(f"{job.merged} lacks {missing[0]}: expected all that was handed over")
        slurm.bring_back(node)
        if restarted:
            return f"{node} lost with {len(done)} of 4 shards done: requeued on {restarted[0]}, all merged"
    raise Failure(f"{node} was lost four times without a shard on it: expected one to be requeued")


def has(records, cell):
    return any(cell == other for _, other in records.counts)


def records_here(place):
    """How many records there are of shards that are running."""
    count = 0
    for path in place.temporary.glob("*/results.jsonl"):
        try:
            count += path.read_bytes().count(b"\n")
        except OSError:
            pass
    return count


def copy(place, name):
    """A copy of the array's job, to go on with."""
    job = Job(place, name)
    shutil.copytree(place.folder / "array", job.folder)
    shutil.rmtree(job.folder / "merged")
    return job


CASES = [array, vectors, shard_twice, one_of_the_array, failed_shards, preemption, lost_node]
