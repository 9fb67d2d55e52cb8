"""docs/fleet.md, followed from start to end."""

import os
import re
import shutil
import subprocess
import sys

from cluster import Failure

# What would take long, with what is run instead: fewer vectors, and smaller cells.
SHORTER = [
    ("verify --split 40", "verify --backend openssl --vectors data/vectors/sp800-38a.json --split 6"),
    ("verify search --time 1h", "verify search --backend openssl --time 2s"),
    (" -r ", " -r -S 'verify_options=--vectors {project}/data/vectors/sp800-38a.json' "
             "-S 'measure_options=--object-size 1MiB --rounds 2 --milliseconds 5' "),
]


def blocks(text):
    """The blocks of shell of a page."""
    return re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def fleet_page(slurm, ssh, place):
    """docs/fleet.md, each command from start to end"""
    folder = place.folder / "reader"
    plans = folder / "Benchmarks" / "plans"
    plans.mkdir(parents=True)
    shutil.copy(place.plan(2), plans / "default.yml")
    (folder / "data").symlink_to(place.project / "data")
    shutil.copytree(place.project / "contrib", folder / "contrib")
    environment = place.environment(
        SLURM_CONF=str(slurm.configuration), PARALLEL_SSH=f"ssh -F {ssh.client_configuration}", HOME=str(folder))
    environment["PATH"] = f"{os.path.dirname(sys.executable)}:{environment['PATH']}"
    page = (place.project / "docs" / "fleet.md").read_text()
    found = blocks(page)
    for block in found:
        text = block
        for long, short in SHORTER:
            text = text.replace(long, short.format(project=place.project))
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", text], cwd=folder, env=environment, capture_output=True, text=True,
            timeout=900)
        if done.returncode != 0:
            raise Failure(f"docs/fleet.md:\n{text}ended with {done.returncode}: expected 0\n"
                          + (done.stdout + done.stderr)[-2000:])
        slurm.wait_for_all()
    name, text = re.search(r"^```python\n# (\w+\.py)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL).groups()
    tests = folder / "contrib" / "reframe"
    (tests / name).write_text(text)
    listed = place.run("reframe", "-C", tests / "site.py", "-c", tests / name, "-l", environment=environment)
    if "Found 2 check(s)" not in listed.stdout:
        raise Failure(f"docs/fleet.md: ReFrame lists of {name}:\n{listed.stdout}\nexpected two tests")
    return f"{len(found)} blocks of commands"
