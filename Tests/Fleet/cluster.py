"""Engines on one machine, for tests: a Slurm with two nodes and an sshd, in a temporary folder, on 127.0.0.1 only."""

import ctypes
import os
import pathlib
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import time


class Failure(Exception):
    """A case did not go as it should: what failed, the value, what was expected."""


def become_subreaper():
    """Makes orphans of this process's descendants its own children, so that all can be ended: prctl(2)."""
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_until(what, condition, seconds=240):
    """Waits for a state. The limit is generous: it only ends a test that hangs."""
    limit = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > limit:
            raise Failure(f"{what}: not within {seconds} s")
        time.sleep(0.1)
    return value


def descendants(root):
    """The processes below one, by their ids."""
    children = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
            except OSError:
                continue
            if state != "Z":
                children.setdefault(int(parent), []).append(int(entry.name))
    found, left = [], [root]
    while left:
        below = children.get(left.pop(), [])
        found += below
        left += below
    return found


def kill(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


class Services:
    """Daemons in the foreground, as children of this process."""

    def __init__(self, folder):
        self.folder = folder
        self.running = {}

    def start(self, name, command, **options):
        with open(self.folder / f"{name}.log", "ab") as log:
            self.running[name] = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder, **options)

    def check(self, name):
        process = self.running[name]
        if process.poll() is not None:
            log = (self.folder / f"{name}.log").read_text(errors="replace").splitlines()[-5:]
            raise Failure(f"{name} ended with {process.returncode}: expected it to run\n" + "\n".join(log))
        return True

    def stop(self):
        for process in reversed(self.running.values()):
            process.terminate()
        for process in self.running.values():
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()


class Slurm(Services):
    """A controller and two nodes, as root, without systemd, cgroups or a database."""

    nodes = ["n1", "n2"]

    def __init__(self, folder):
        folder.mkdir()
        super().__init__(folder)
        self.configuration = folder / "slurm.conf"
        self.environment = {**os.environ, "SLURM_CONF": str(self.configuration)}

    @staticmethod
    def missing():
        """Why it cannot be had here; `None` if it can."""
        lacking = [name for name in ("munged", "slurmctld", "slurmd", "sbatch") if not find(name)]
        if lacking:
            return f"no {', '.join(lacking)} here"
        return None if os.geteuid() == 0 else "slurmd runs jobs as root only, and this is another user"

    def configure(self):
        host = socket.gethostname().partition(".")[0]
        ports = {node: free_port() for node in self.nodes}
        here = self.folder
        lines = f"""
            ClusterName=chunkwise
            SlurmctldHost={host}(127.0.0.1)
            SlurmctldPort={free_port()}
            CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
            SlurmUser=root
            SlurmdUser=root
            AuthType=auth/munge
            CredType=cred/munge
            AuthInfo=socket={here}/munge.socket,cred_expire=5
            MpiDefault=none
            ProctrackType=proctrack/linuxproc
            TaskPlugin=task/none
            JobAcctGatherType=jobacct_gather/none
            SwitchType=switch/none
            SelectType=select/cons_tres
            SelectTypeParameters=CR_CPU
            ReturnToService=2
            SlurmdParameters=config_overrides
            SlurmdTimeout=6
            KillWait=20
            PreemptType=preempt/partition_prio
            PreemptMode=REQUEUE
            SchedulerParameters=sched_interval=1,bf_interval=1
            StateSaveLocation={here}/state
            SlurmdSpoolDir={here}/spool/%n
            SlurmdPidFile={here}/slurmd.%n.pid
            SlurmctldPidFile={here}/slurmctld.pid
            JobCompType=jobcomp/none
        """
        lines += "".join(
            f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1 RealMemory=1000\n"
            for node, port in ports.items())
        nodes = ",".join(self.nodes)
        lines += f"PartitionName=batch Nodes={nodes} Default=YES OverSubscribe=EXCLUSIVE PriorityTier=1\n"
        lines += f"PartitionName=urgent Nodes={nodes} OverSubscribe=EXCLUSIVE PriorityTier=2\n"
        self.configuration.write_text("\n".join(line.strip() for line in lines.splitlines()) + "\n")
        for folder in ["state", *(f"spool/{node}" for node in self.nodes)]:
            (here / folder).mkdir(parents=True)
        key = here / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o400)

    def start_all(self):
        self.configure()
        here = self.folder
        self.start("munged", [
            find("munged"), "--foreground", "--force", f"--key-file={here}/munge.key", f"--socket={here}/munge.socket",
            f"--pid-file={here}/munged.pid", f"--log-file={here}/munged.log", f"--seed-file={here}/munge.seed"])
        wait_until("munged's socket", lambda: self.check("munged") and (here / "munge.socket").exists())
        self.start("slurmctld", [find("slurmctld"), "-D", "-f", str(self.configuration)], env=self.environment)
        for node in self.nodes:
            self.start_node(node)
        wait_until("two idle nodes", lambda: all(self.state(node) == "idle" for node in self.nodes))

    def start_node(self, node):
        self.start(node, [find("slurmd"), "-D", "-f", str(self.configuration), "-N", node], env=self.environment)

    def run(self, *command):
        """What a command of Slurm prints; `None` if it fails, as while the controller is busy."""
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=120)
        return done.stdout.strip() if done.returncode == 0 else None

    def state(self, node):
        for service in ("slurmctld", node):
            self.check(service)
        return self.run("sinfo", "-h", "-n", node, "-p", "batch", "-o", "%T")

    def jobs(self, *options):
        """The job ids that are in the queue, one an array task; `None` if Slurm does not say."""
        queue = self.run("squeue", "-h", "-r", "-o", "%A", *options)
        return None if queue is None else queue.split()

    def wait_for_all(self):
        wait_until("an empty queue", lambda: self.check("slurmctld") and self.jobs() == [], 480)

    def lose(self, node):
        """Kills a node once a job runs on it: its daemon, and what runs there."""
        daemon = self.running[node]

        def killed():
            # Until it is known that a job is there, the daemon only stands still.
            daemon.send_signal(signal.SIGSTOP)
            steps = [pid for job in self.jobs("-w", node, "-t", "running") or [] for pid in self.steps(job)]
            if not steps:
                daemon.send_signal(signal.SIGCONT)
                return False
            daemon.kill()
            for step in steps:
                kill([step, *descendants(step)])
            return True

        wait_until(f"a job on {node}", killed)
        daemon.wait()

    @staticmethod
    def steps(job):
        """The processes that Slurm runs a job's steps by."""
        for pid in descendants(os.getpid()):
            try:
                name = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
            except OSError:
                continue
            if name.startswith(f"slurmstepd: [{job}.".encode()):
                yield pid

    def bring_back(self, node):
        self.start_node(node)
        wait_until(f"{node} to be back", lambda: self.state(node) in ("idle", "allocated"))


class SSH(Services):
    """An sshd of this user's, with keys of its own; the hosts node1 and node2 are this machine."""

    def __init__(self, folder):
        folder.mkdir()
        super().__init__(folder)
        self.client_configuration = folder / "ssh_config"

    @staticmethod
    def missing():
        lacking = [name for name in ("sshd", "ssh", "ssh-keygen") if not find(name)]
        return f"no {', '.join(lacking)} here" if lacking else None

    def start_all(self):
        here, port = self.folder, free_port()
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(here / name)], check=True)
        shutil.copy(here / "user.pub", here / "authorized")
        key = (here / "host.pub").read_text().split()
        (here / "known").write_text(f"[127.0.0.1]:{port} {key[0]} {key[1]}\n")
        (here / "sshd_config").write_text(
            f"ListenAddress 127.0.0.1:{port}\nHostKey {here}/host\nAuthorizedKeysFile {here}/authorized\n"
            f"PidFile {here}/sshd.pid\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n"
            "KbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n")
        self.client_configuration.write_text(
            f"Host node1 node2\nHostName 127.0.0.1\nPort {port}\nUser {pwd.getpwuid(os.geteuid()).pw_name}\n"
            f"IdentityFile {here}/user\nIdentitiesOnly yes\nUserKnownHostsFile {here}/known\nBatchMode yes\n")
        if os.geteuid() == 0:
            # What the package's service would make.
            os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
        self.start("sshd", [find("sshd"), "-D", "-e", "-f", str(here / "sshd_config")])
        answers = lambda: subprocess.run(
            ["ssh", "-F", str(self.client_configuration), "node1", "true"], capture_output=True).returncode == 0
        wait_until("sshd to answer", lambda: self.check("sshd") and answers(), 60)


def find(name):
    """A program's path; daemons stand where a user's PATH may not lead."""
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
