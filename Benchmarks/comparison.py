"""What the comparisons of this folder share: the program, medians, and lines for the table of Benchmarks/all.

A line has five fields with tabs between them: "goal", what was measured, the figure, the goal, and "met" or "MISSED".
"""
import os
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
verdicts = []


def program(*options):
    """The path of the program: that in CHUNKWISE, or a release build."""
    if "CHUNKWISE" in os.environ:
        return os.path.abspath(os.environ["CHUNKWISE"])
    subprocess.run([f"{ROOT}/scripts/build", *options], check=True, stdout=sys.stderr)
    return f"{ROOT}/.build/release/chunkwise"


def goal(what, figure, text, is_met):
    """Prints a line for the table."""
    verdicts.append(is_met)
    print("goal", what, figure, text, "met" if is_met else "MISSED", sep="\t", flush=True)


def goal_of(what, values, least=None, most=None, unit="", digits=2):
    """The same of the median of values, whose least and greatest stand beside it; returns the median."""
    middle = statistics.median(values)
    figure = f"{middle:.{digits}f}{unit}"
    if len(values) > 1:
        figure += f" ({min(values):.{digits}f} to {max(values):.{digits}f})"
    text = " and ".join(f"{sign} {bound:g}{unit}" for sign, bound in (("≥", least), ("≤", most)) if bound is not None)
    goal(what, figure, text, (least is None or middle >= least) and (most is None or middle <= most))
    return middle


def end():
    """Ends with 1 if a goal was missed, having said so, which tells this end from any other."""
    print(f"goals: {sum(verdicts)} of {len(verdicts)} met", flush=True)
    sys.exit(0 if all(verdicts) else 1)
