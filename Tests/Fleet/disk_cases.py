"""Cases without an engine: what may happen to a job's folder, and to a machine."""

import shutil
import subprocess

from cluster import Failure
from jobs import Job, Records
from slurm_cases import whole_run


def local_job(place, name):
    """A copy of a job whose eight shards are done."""
    done = Job(place, "done")
    if not done.folder.exists():
        place.sweep("done")
        for shard in range(8):
            done.shard(shard)
    job = Job(place, name)
    shutil.copytree(done.folder, job.folder)
    return job


def full_disk(place):
    """A full disk: 74, nothing half written, and what it says to do brings the records, once there is space"""
    job = local_job(place, "full")
    kept = job.shards[1:]
    others = place.folder / "others"
    others.mkdir()
    for path in kept:
        shutil.move(path, others)
    job.shards[0].unlink()
    shards = job.folder / "shards"
    place.run("mount", "-t", "tmpfs", "-o", "size=8k", "none", shards)
    try:
        said = job.shard(0, expects=74).stderr.strip().splitlines()[-1]
        copying = said[said.rindex(": cp ") + 2:]
        for path in job.shards:
            # What was finished before the disk was full, and nothing half.
            if Records(path).is_complete or not path.read_text().splitlines()[-1].startswith('{"seal"'):
                raise Failure(f"{path} is whole or cut on a full disk: expected a sealed part of the shard")
        place.run("mount", "-o", "remount,size=1m", "none", shards)
        for path in others.iterdir():
            shutil.copy(path, shards)
        missing = job.merge(expects=2)
        if "shard 0" not in missing.stdout:
            raise Failure(f"merge says {missing.stdout}: expected it to name shard 0")
        # What is said to do does it.
        place.run("sh", "-c", copying)
        job.merge()
        job.require_merged(whole_run(place))
    finally:
        subprocess.run(["umount", shards])
    return said


def foreign_plan(place):
    """A foreign plan's shard put beside: 65, and the file is named"""
    job = local_job(place, "foreign")
    other, _ = place.sweep("other", 8, rounds=1)
    other.shard(2)
    foreign = other.shards[0]
    shutil.copy(foreign, job.folder / "shards")
    said = job.merge(expects=65).stderr.strip().splitlines()[-1]
    if foreign.name not in said:
        raise Failure(f"merge says {said}: expected it to name {foreign.name}")
    if job.merged.exists():
        raise Failure(f"{job.merged} is there: expected nothing to be merged")
    return said


def two_merges(place):
    """Two merges at once: both end well, and the file is whole"""
    job = local_job(place, "two")
    command = ["chunkwise", "merge", job.folder, "--output", job.folder / "merged"]
    for _ in range(10):
        running = [subprocess.Popen(
            command, env=place.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            for _ in range(2)]
        ended = [(process.communicate()[1], process.returncode) for process in running]
        if any(status for _, status in ended):
            raise Failure(f"two merges ended with {[status for _, status in ended]}: expected 0\n{ended}")
        job.require_merged(whole_run(place))
    left = [path.name for path in job.merged.parent.iterdir() if path != job.merged]
    if left:
        raise Failure(f"{left} are left in {job.merged.parent}: expected one file")
    return "10 pairs"


def wrong_clock(place):
    """A clock that is an hour off changes nothing"""
    job = local_job(place, "clock")
    for path in job.shards[:4]:
        path.unlink()
    for shard, offset in enumerate(["+1h", "-1h", "+1h", "-1h"]):
        job.shard(shard, before=("faketime", "-f", offset))
    # Shards that are there already, too.
    job.shard(4, before=("faketime", "-f", "-1h"))
    job.shard(5, before=("faketime", "-f", "+1h"))
    job.merge()
    job.require_merged(whole_run(place))
    started = sorted(Records(path).headers[0]["startedAt"] for path in job.shards)
    return f"shards were started from {started[0]} to {started[-1]}"


CASES = [foreign_plan, two_merges]
