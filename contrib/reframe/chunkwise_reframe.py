"""Chunkwise as ReFrame tests: a backend is right by `verify` and as fast as it was by `measure`.

    reframe -C site.py -c chunkwise_reframe.py -r --performance-report

A test of your own is a subclass with other parameters.
"""

import json
import os

import reframe as rfm
import reframe.utility.sanity as sn


class ChunkwiseTest(rfm.RunOnlyRegressionTest):
    """One backend and window: all vectors must pass, and the figures must be as the references say."""

    #: The program: a name in the PATH of the jobs, or a path that all nodes have.
    chunkwise = variable(str, value="chunkwise")
    #: Further options of `chunkwise verify`, such as `--threads 8`.
    verify_options = variable(str, value="")
    #: Further options of `chunkwise measure`, such as `--strategy ctr --object-size 1GiB`.
    measure_options = variable(str, value="")
    #: A file with references; a relative path starts at the folder of the test.
    references = variable(str, value="references.json")

    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    time_limit = "1h"

    @run_before("run")
    def prepare(self):
        self.prerun_cmds = [f"{self.chunkwise} verify --backend {self.backend} --format json {self.verify_options} > verify.json"]
        self.executable = self.chunkwise
        self.executable_opts = [
            "measure", "--backend", self.backend, "--window", self.window, "--format json", self.measure_options,
            "> measure.json"]
        # Slurm does not always name the node of a short job.
        self.postrun_cmds = ['echo "node: ${SLURMD_NODENAME:-$(uname -n)}"']

    @run_before("performance")
    def refer(self):
        """Takes the references of this backend and window, by system and partition."""
        path = os.path.join(self.prefix, self.references)
        if self.references == "references.json" and not os.path.exists(path):
            return
        with open(path) as file:
            systems = json.load(file)
        self.reference = {
            system: {figure: tuple(reference) for figure, reference in tests[self.case].items()}
            for system, tests in systems.items() if self.case in tests}

    @property
    def case(self):
        """The name under which references stand."""
        return f"{self.backend} {self.window}"

    @sanity_function
    def is_right(self):
        verified, measured = read("verify.json"), read("measure.json")
        return sn.all([
            sn.assert_eq(verified["failed"], 0, "{0} vectors failed: expected none"),
            sn.assert_gt(verified["passed"], 0, "{0} vectors passed: expected some"),
            sn.assert_eq(measured["status"], "measured", "the cell is {0}: expected it to be {1}")])

    @performance_function("GiB/s")
    def throughput(self):
        return read("measure.json")["bytesPerSecond"] / 2**30

    @performance_function("MiB")
    def memory(self):
        """How far the process's memory grows while it reads."""
        memory = read("measure.json")["memory"]
        return (memory["peakByteCount"] - memory["baselineByteCount"]) / 2**20

    @performance_function("us")
    def first_byte(self):
        """The median time to the first window."""
        return read("measure.json")["firstByte"]["p50"] / 1000


def read(name):
    """What a command of the job printed."""
    with open(name) as file:
        text = file.read()
    sn.evaluate(sn.assert_true(text, f"{name} is empty: expected JSON; the job's error output says why"))
    return json.loads(text)


@rfm.simple_test
class ChunkwiseWindows(ChunkwiseTest):
    """Whole files in small and large windows."""

    backend = parameter(["openssl", "libgcrypt"])
    window = parameter(["256KiB", "4MiB"])
