"""What the comparisons of this folder share: programs, servers, medians, and lines for the table of Benchmarks/all.

A line has five fields with tabs between them: "goal", what was measured, the figure, the goal, and "met" or "MISSED".
"""
import os
import shutil
import socket
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
verdicts = []


def fail(code, message):
    print(f"{os.path.basename(sys.argv[0])}: {message}", file=sys.stderr)
    sys.exit(code)


def program(*options):
    """The path of the program: that in CHUNKWISE, or a release build."""
    if "CHUNKWISE" in os.environ:
        return os.path.abspath(os.environ["CHUNKWISE"])
    subprocess.run([f"{ROOT}/scripts/build", *options], check=True, stdout=sys.stderr)
    return f"{ROOT}/.build/release/chunkwise"


def run(*command, folder=None, codes=(0,)):
    """Seconds and peak bytes of a process; an exit code other than those expected ends the script."""
    start = time.perf_counter()
    child = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    message = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in codes:
        fail(1, f"{' '.join(command)}: exit code {child.returncode}: {message[-500:]}")
    return time.perf_counter() - start, usage.ru_maxrss << 10


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def start_server(command, port, **options):
    """The process, once it listens."""
    server = subprocess.Popen(command, **options)
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return server
        except OSError:
            time.sleep(0.05)
            if server.poll() is not None:
                break
    server.kill()
    return fail(2, f"{' '.join(command)}: does not listen")


def start_nginx(folder, options, server=""):
    """Serves a folder over HTTP: the process and its port. The texts are for the configuration's http and server."""
    port = free_port()
    paths = " ".join(f"{name}_temp_path {folder}/{name};" for name in
                     ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    with open(f"{folder}/nginx.conf", "w", encoding="ascii") as file:
        file.write(
            f"daemon off; worker_processes auto; pid {folder}/nginx.pid; error_log {folder}/nginx.log;\n"
            f"events {{ worker_connections 1024; }} http {{ access_log off; {paths} {options}\n"
            f"server {{ listen 127.0.0.1:{port}; root {folder}; {server} }} }}\n")
    # The workers may run as another user.
    os.chmod(folder, 0o755)
    command = [shutil.which("nginx") or "/usr/sbin/nginx", "-e", f"{folder}/nginx.log", "-p", folder, "-c", file.name]
    return start_server(command, port), port


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
