"""Attacks `chunkwise serve` and `chunkwise key-server`, while an honest client reads and compares each byte.

    python3 Benchmarks/attack [--server serve|key-server|key-server-tls] [--seconds S] [--connections N] [ATTACK …]
    python3 Benchmarks/attack soak [--server …] [--seconds 1800]
    python3 Benchmarks/attack smuggling

An attack is one of those that --help lists; all of them by default, each for 20 s, and `sequence` for 100,000
connections. `soak` has all of them in turn beside honest clients that come and go. `smuggling` sends ambiguous requests
through nginx, haproxy and varnish. Environment: CHUNKWISE, the program.

Ends with 1 if a bound is missed: a wrong byte, an honest client that waits too long, a server that ends, or memory or
descriptors that do not come back.
"""
import argparse
import os
import statistics
import sys
import tempfile
import time

from attacks import ATTACKS, BOUNDED, Attack
from honest import Honest, percentile
from servers import Films, Keys
import smuggling

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
#: What an honest client may wait, in seconds; how much memory may grow meanwhile, and stay, in MiB; descriptors.
WAIT, GROWTH, REST, DESCRIPTORS = 5, 64, 16, 4


class Watch:
    """Memory and descriptors of a server: before, at most, after."""

    def __init__(self, server):
        self.server, self.next, self.samples = server, 0, []
        self.look(0)
        self.before = self.samples[0]

    def look(self, pause=0.1):
        if time.monotonic() >= self.next and self.server.is_running():
            self.next = time.monotonic() + pause
            self.samples.append((self.server.memory(), self.server.descriptors()))

    def settle(self):
        """Waits until descriptors have come back, or for as long as a connection may last."""
        end = time.monotonic() + 30
        while self.server.is_running() and time.monotonic() < end and self.server.descriptors() > self.before[1]:
            time.sleep(0.05)
        return (self.server.memory(), self.server.descriptors()) if self.server.is_running() else self.samples[-1]


def report(name, attack, watch, after, results, rest=REST):
    """Prints a line; what is wrong."""
    latencies = [latency for result in results for latency in result[0]]
    wrong = [text for result in results for text in result[1]]
    (memory, descriptors), most = watch.before, [max(column) for column in zip(*watch.samples)]
    counts, peak = attack.counts, percentile(latencies, 1)
    print(f"{name:18} {counts['connections']:11} {counts['requests']:8} {len(latencies):6} {len(wrong):5} "
          f"{sum(len(result[2]) for result in results):6} {percentile(latencies, 0.5):7.1f} "
          f"{percentile(latencies, 0.99):7.1f} {peak:8.1f}  {memory:5.0f} {most[0]:5.0f} {after[0]:5.0f}  "
          f"{descriptors:4} {most[1]:4} {after[1]:4}", flush=True)
    return [text for is_wrong, text in (
        (wrong, f"wrong: {wrong[:3]}"), (attack.broken, f"taken: {attack.broken[:3]}"),
        (not latencies, "the honest client read nothing"), (peak > WAIT * 1000, f"it waited {peak:.0f} ms"),
        (most[0] > memory + GROWTH, f"memory grew to {most[0]:.0f} MiB"),
        (after[0] > memory + rest, f"{after[0]:.0f} MiB stay"),
        (after[1] > descriptors + DESCRIPTORS, f"{after[1]} descriptors stay"),
    ) if is_wrong]


def start(name, program, folder):
    if name == "serve":
        return Films(program, folder)
    return Keys(program, folder, tls=name == "key-server-tls")


def warm_up(server):
    """What is made once and kept is made before anything is counted."""
    honest = [Honest(server, f"127.0.0.{number}", churns=True, pause=0) for number in range(20, 24)]
    Attack(server).run("resets", 20, 2)
    for client in honest:
        client.stop()


def run_attacks(server, names, seconds, connections):
    broken = []
    for name in names:
        watch, attack, honest = Watch(server), Attack(server), Honest(server)
        if name == "sequence":
            attack.run(name, ATTACKS[name], 600, connections, watch.look)
        else:
            attack.run(name, ATTACKS[name], seconds, None, watch.look)
        result = honest.stop()
        broken += [f"{name}: {text}" for text in report(name, attack, watch, watch.settle(), [result])]
        if not server.is_running():
            return broken + [f"{name}: the server has ended"]
    return broken


def soak(server, seconds):
    """All attacks in turn, beside honest clients that read and others that come and go."""
    watch, attack = Watch(server), Attack(server)
    clients = [Honest(server, "127.0.0.2"), Honest(server, "127.0.0.3", churns=True),
               Honest(server, "127.0.0.4", churns=True, pause=0.2)]
    end, turn = time.monotonic() + seconds, 0
    while time.monotonic() < end and server.is_running():
        name = BOUNDED[turn % len(BOUNDED)]
        attack.run(name, ATTACKS[name], min(20, end - time.monotonic()), None, lambda: watch.look(1))
        turn += 1
    results = [client.stop() for client in clients]
    counts = server.lines() if isinstance(server, Keys) else {}
    # The numbers of requests are remembered for ten to twenty minutes, each in some 100 bytes.
    rest = REST + len(counts) * 100 / (1 << 20)
    broken = report("soak", attack, watch, watch.settle(), results, rest)
    sixth = max(1, len(watch.samples) // 6)
    medians = [statistics.median(sample[0] for sample in watch.samples[number * sixth:][:sixth]) for number in range(6)]
    print("memory by sixths of the time, MiB: " + ", ".join(f"{median:.1f}" for median in medians))
    if medians[5] > medians[1] + rest:
        broken.append(f"memory grows: {medians}")
    if isinstance(server, Keys):
        received = [number.hex() for result in results for number in result[3]]
        broken += [f"{number}: {counts.get(number, 0)} lines of the audit" for number in received
                   if counts.get(number) != 1][:5]
        print(f"{len(received)} keys came, {sum(counts.values())} lines of the audit have one")
    return broken if server.is_running() else broken + ["the server has ended"]


def main():
    parser = argparse.ArgumentParser(
        prog="attack", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="ATTACK", choices=[*ATTACKS, "soak", "smuggling", []],
                        help=", ".join(ATTACKS))
    parser.add_argument("--server", choices=("serve", "key-server", "key-server-tls"), default="serve")
    parser.add_argument("--seconds", type=float, default=None)
    parser.add_argument("--connections", type=int, default=100_000)
    options = parser.parse_args()
    program = os.environ.get("CHUNKWISE", os.path.join(ROOT, ".build/release/chunkwise"))
    with tempfile.TemporaryDirectory() as folder:
        server = start(options.server, program, folder)
        warm_up(server)
        if "smuggling" not in options.names:
            print("                                           honest:      tried      milliseconds           "
                  "memory, MiB      descriptors\n"
                  "attack             connections requests  reads wrong  again     p50     p99      max  "
                  "before max after before max after")
        try:
            if "smuggling" in options.names:
                broken = smuggling.main(server, folder)
            elif "soak" in options.names:
                broken = soak(server, options.seconds or 1800)
            else:
                broken = run_attacks(server, options.names or BOUNDED, options.seconds or 20, options.connections)
        finally:
            status = server.end()
        if status != 0:
            broken.append(f"the server ended with {status}")
    for text in broken:
        print(f"attack: {text}", file=sys.stderr)
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
