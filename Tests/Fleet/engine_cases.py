"""Cases with engines other than Slurm."""

import json
import os
import re
import sys

from cluster import Failure
from jobs import Job, Records
from slurm_cases import whole_run


def local(place):
    """--engine local: one shard after the other, merged"""
    job, _ = place.sweep("local", 8, "--engine", "local", "--submit")
    merged = job.require_merged(whole_run(place))
    return f"{merged.cell_count} cells of 8 shards"


def parallel_here(place):
    """GNU parallel on this machine; a shard that failed is run again, and no other"""
    job, script = place.sweep("parallel", 8, "--engine", "parallel")
    # A program that cannot run shard 5, as long as a file is there.
    obstacle, wrapper = place.folder / "obstacle", place.folder / "wrapper"
    obstacle.touch()
    wrapper.write_text(f'#!/bin/sh\ncase "$*" in *"--shard 5") [ ! -e {obstacle} ] || exit 9 ;; esac\n'
                       f'exec {place.chunkwise} "$@"\n')
    wrapper.chmod(0o755)
    script = re.sub(r"'\S+ sweep", f"'{wrapper} sweep", script)
    place.run("sh", "-c", script, expects=1)
    first = job.shards
    if len(first) != 7 or job.merged.exists():
        raise Failure(f"{len(first)} files of shards after one failed: expected 7, and no merge")
    obstacle.unlink()
    place.run("sh", "-c", script)
    job.require_merged(whole_run(place))
    if not set(first) < set(job.shards) or len(job.shards) != 8:
        raise Failure(f"{len(job.shards)} files of shards: expected 8, as only shard 5 was to be run again")
    return "shard 5 failed, 7 were done; the same command again ran shard 5 and merged 8"


def parallel_ssh(place, ssh):
    """GNU parallel over ssh to two hosts"""
    hosts = place.folder / "hosts"
    hosts.write_text("node1\nnode2\n")
    environment = place.environment(PARALLEL_SSH=f"ssh -F {ssh.client_configuration}")
    job, _ = place.sweep("ssh", 8, "--engine", "parallel", "--hosts", hosts, "--submit", environment=environment)
    job.require_merged(whole_run(place))
    (log,) = job.folder.glob("parallel-*.log")
    hosts = {line.split("\t")[1].split()[-1] for line in log.read_text().splitlines()[1:]}
    if hosts != {"node1", "node2"}:
        raise Failure(f"{log.name} has the hosts {hosts}: expected node1 and node2")
    return f"8 shards on {', '.join(sorted(hosts))}"


def kubernetes(place):
    """The Kubernetes manifest is valid, and its command runs each shard"""
    import kubernetes_validate
    import yaml

    job, script = place.sweep("kubernetes", 8, "--engine", "kubernetes")
    text = script.split("<<'EOF'\n")[1].split("\nEOF")[0]
    manifest = yaml.safe_load(text)
    version = kubernetes_validate.latest_version()
    kubernetes_validate.validate(manifest, version, strict=True)
    page = (place.project / "docs" / "fleet.md").read_text()
    for block in re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        kubernetes_validate.validate(yaml.safe_load(block), version, strict=True)
    spec, pod = manifest["spec"], manifest["spec"]["template"]["spec"]
    if (spec["completionMode"], spec["completions"], pod["restartPolicy"]) != ("Indexed", 8, "Never"):
        raise Failure(f"{text}\nexpected an Indexed Job of 8 completions whose pods are replaced")
    names = {volume["name"] for volume in pod["volumes"]}
    (container,) = pod["containers"]
    # Kubernetes makes a dollar sign of two.
    container["command"] = [word.replace("$$", "$") for word in container["command"]]
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    if not set(mounts) <= names or str(job.folder.parent) not in mounts.values():
        raise Failure(f"{mounts} are mounted of {names}: expected {job.folder.parent} among them")
    for index in range(8):
        place.run(*container["command"], environment=place.environment(JOB_COMPLETION_INDEX=str(index), NODE_NAME=f"k{index % 2}"))
    job.merge()
    merged = job.require_merged(whole_run(place))
    if merged.nodes != ["k0", "k1"]:
        raise Failure(f"{job.merged} has the nodes {merged.nodes}: expected k0 and k1")
    return f"valid for Kubernetes {version}; 8 pods' commands run here as {', '.join(merged.nodes)}"


def reframe(slurm, place):
    """ReFrame with the squeue scheduler: verify is its sanity, measure its performance, by references"""
    program = os.path.join(os.path.dirname(sys.executable), "reframe")
    tests = place.project / "contrib" / "reframe"
    vectors = place.project / "data/vectors/sp800-38a.json"
    wrong = place.folder / "wrong.json"
    # Another first byte of plaintext than NIST's.
    wrong.write_text(vectors.read_text().replace('"plaintext": "6bc1bee2', '"plaintext": "7bc1bee2'))

    def run(name, vectors, references, expects):
        report = place.folder / f"{name}.json"
        place.run(program, "-C", tests / "site.py", "-c", tests / "chunkwise_reframe.py", "-r", "--prefix",
                  place.folder / "reframe", "--report-file", report, "-S", f"verify_options=--vectors {vectors}",
                  "-S", "measure_options=--object-size 1MiB --rounds 2 --milliseconds 5",
                  "-S", f"references={references}", expects=expects,
                  environment=place.environment(SLURM_CONF=str(slurm.configuration), HOME=str(place.folder)))
        return json.loads(report.read_text())["runs"][0]["testcases"]

    def phases(cases):
        return sorted(f"{case['result']} {case['fail_phase'] or ''}".strip() for case in cases)

    def references(name, factor):
        """Those of a run, times a factor, for one of the tests."""
        value = found["perfvalues"]["cluster:cpu:throughput"][0] * factor
        path = place.folder / f"references-{name}.json"
        case = f"{found['backend']} {found['window']}"
        path.write_text(json.dumps({"cluster:cpu": {case: {"throughput": [value, -0.99, None, "GiB/s"]}}}))
        return path

    none = place.folder / "references-none.json"
    none.write_text("{}")
    found, *_ = cases = run("first", vectors, none, 0)
    wanted = {"met": ["pass"] * 4, "missed": ["fail performance"] + ["pass"] * 3, "wrong": ["fail sanity"] * 4}
    got = {
        "met": phases(run("met", vectors, references("met", 1), 0)),
        "missed": phases(run("missed", vectors, references("missed", 1000), 1)),
        "wrong": phases(run("wrong", wrong, none, 1)),
    }
    if phases(cases) != ["pass"] * 4 or got != wanted:
        raise Failure(f"ReFrame's results are {phases(cases)} and {got}: expected 4 to pass, and {wanted}")
    return "4 tests passed; a reference that is missed fails one, vectors that are wrong fail all"

