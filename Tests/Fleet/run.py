"""Runs jobs of chunkwise on real engines. Prints a line a case, and ends with `N passed, N failed, N skipped`."""

import argparse
import importlib.util
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

import cluster
import disk_cases
import documents
import engine_cases
import slurm_cases
from cluster import Failure
from jobs import Place


class Run:
    """The cases that were run."""

    def __init__(self, only):
        self.only = only
        self.counts = {"passed": 0, "failed": 0, "skipped": 0}

    def note(self, outcome, case, text, seconds=None):
        self.counts[outcome] += 1
        took = "" if seconds is None else f" ({seconds:.0f} s)"
        print(f"{outcome:8}{case.__doc__}{took}\n        " + text.replace("\n", "\n        "), flush=True)

    def cases(self, cases, *arguments, missing=None):
        for case in cases:
            if self.only and case.__name__ not in self.only:
                continue
            if missing:
                self.note("skipped", case, missing)
                continue
            begun = time.monotonic()
            try:
                self.note("passed", case, case(*arguments), time.monotonic() - begun)
            except Failure as failure:
                self.note("failed", case, str(failure), time.monotonic() - begun)
            except (Exception, subprocess.TimeoutExpired):
                self.note("failed", case, traceback.format_exc(), time.monotonic() - begun)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunkwise", type=pathlib.Path, required=True, help="the program to test")
    parser.add_argument("--keep", action="store_true", help="keep the folder of the jobs and the engines' logs")
    parser.add_argument("cases", nargs="*", help="the cases to run, by their functions' names (default: all)")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    cluster.become_subreaper()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="chunkwise-fleet-"))
    folder.chmod(0o755)
    place = Place(folder, options.chunkwise.resolve())
    run = Run(options.cases)
    engines = []

    def start(engine, missing):
        """Starts an engine; returns why it cannot be had."""
        if missing:
            return missing
        engines.append(engine)
        try:
            engine.start_all()
        except Failure as failure:
            run.note("failed", type(engine), str(failure))
            return "its engine did not start"

    def lacking(*names):
        names = [name for name in names if not cluster.find(name)]
        return f"no {', '.join(names)} here" if names else None

    try:
        slurm, ssh = cluster.Slurm(folder / "slurm"), cluster.SSH(folder / "ssh")
        no_slurm = start(slurm, cluster.Slurm.missing())
        run.cases(slurm_cases.CASES, slurm, place, missing=no_slurm)
        no_reframe = None if importlib.util.find_spec("reframe") else "no ReFrame here"
        run.cases([engine_cases.reframe], slurm, place, missing=no_slurm or no_reframe)
        run.cases([engine_cases.local], place)
        run.cases([engine_cases.parallel_here], place, missing=lacking("parallel"))
        no_ssh = lacking("parallel") or start(ssh, cluster.SSH.missing())
        run.cases([engine_cases.parallel_ssh], place, ssh, missing=no_ssh)
        no_schemas = None if importlib.util.find_spec("kubernetes_validate") else "no kubernetes-validate here"
        run.cases([engine_cases.kubernetes], place, missing=no_schemas)
        run.cases(disk_cases.CASES, place)
        run.cases([disk_cases.wrong_clock], place, missing=lacking("faketime"))
        no_mount = None if os.geteuid() == 0 else "only root mounts a small file system, and this is another user"
        run.cases([disk_cases.full_disk], place, missing=no_mount)
        run.cases([documents.fleet_page], slurm, ssh, place, missing=no_slurm or no_ssh or no_reframe)
    finally:
        for engine in reversed(engines):
            engine.stop()
        cluster.kill(cluster.descendants(os.getpid()))
        if options.keep:
            print(f"fleet: kept {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    counts = ", ".join(f"{count} {outcome}" for outcome, count in run.counts.items() if count or outcome != "skipped")
    print(counts)
    return 1 if run.counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
