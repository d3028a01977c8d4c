"""256 SSH hosts probed from one machine: ours beside bare paramiko, clush and xargs ssh, against the same sshd.

    sudo .venv/bin/python benchmarks/fanout.py [--hosts 256] [--rounds 5] [--width 64]

Starts one sshd that answers as many addresses (`loopsshd.sh`, in a network namespace of its own), runs each contestant
as a process of its own in interleaved rounds, and prints medians: wall and CPU seconds of the client with its
children, start of the interpreter included, and the ratio to bare paramiko. Needs root, iproute2, openssh-server and,
for its row, clustershell. Exit code 1 when a bar is missed: at most 1.3 times bare paramiko, 0.4 of clush.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

LAB = Path(__file__).with_name("loopsshd.sh")
BAR_PARAMIKO = 1.3
BAR_CLUSH = 0.4


def ours(state: Path, hosts: list[str], width: int) -> None:
    """The workflow's own fan-out; each host: a TCP look, the login, the host key check, `true` in the wrapper."""
    from healthcheck.edge.clock import SystemClock
    from healthcheck.edge.ssh import SshSettings, SshTransport
    from healthcheck.model.command import Command
    from healthcheck.model.host import Host
    from healthcheck.workflows.engine import Cancel
    from healthcheck.workflows.fanout import run_short, visit

    transport = SshTransport(SshSettings(config_file=state / "ssh_config"), SystemClock())
    command = Command(("true",), deadline_s=60, token="benchmark")
    work = [Host(address, address) for address in hosts]
    results = [
        result for _, (result, _) in visit(work, lambda host: run_short(transport, host, command), Cancel(), width)
    ]
    transport.close()
    failed = [str(result.reason or result.exit_code) for result in results if not result.ok]
    assert not failed, failed[0]


def paramiko_bare(state: Path, hosts: list[str], width: int) -> None:
    """What a careful short script does: known_hosts and key read once, a thread a host out of `width`."""
    import paramiko

    known = paramiko.HostKeys(str(state / "known_hosts"))
    key = paramiko.PKey.from_path(state / "id_ed25519")

    def probe(address: str) -> tuple[int, paramiko.SSHClient]:
        client = paramiko.SSHClient()
        client._host_keys = known  # type: ignore[attr-defined] # read once for all
        client.set_missing_host_key_policy(paramiko.RejectPolicy())
        client.connect(address, 2222, "root", pkey=key, allow_agent=False, look_for_keys=False, timeout=30)
        _, stdout, _ = client.exec_command("true")
        return stdout.channel.recv_exit_status(), client

    with ThreadPoolExecutor(width) as pool:
        results = list(pool.map(probe, hosts))
    for _, client in results:
        client.close()
    assert not any(code for code, _ in results)


def clush(state: Path, hosts: list[str], width: int) -> None:
    """ClusterShell with OpenSSH's client."""
    options = f"-F {state}/ssh_config"
    subprocess.run(["clush", "-q", f"-f{width}", "-o", options, "-w", ",".join(hosts), "true"], check=True)


def xargs_ssh(state: Path, hosts: list[str], width: int) -> None:
    """OpenSSH's client alone."""
    ssh = ["xargs", f"-P{width}", "-I{}", "ssh", "-n", "-F", f"{state}/ssh_config", "{}", "true"]
    subprocess.run(ssh, input="\n".join(hosts), text=True, check=True)


CONTESTANTS: dict[str, Callable[[Path, list[str], int], None]] = {
    "bare paramiko": paramiko_bare,
    "healthcheck": ours,
    "clush": clush,
    "xargs ssh": xargs_ssh,
}


def measure(name: str, state: Path, width: int) -> tuple[float, float]:
    """(wall, CPU) seconds of one contestant in a process of its own inside the namespace."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    me = [sys.executable, __file__, "--contestant", name, "--state", str(state), "--width", str(width)]
    subprocess.run([str(LAB), "exec", *me], check=True)
    wall, after = time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare(n_hosts: int, rounds: int, width: int, names: list[str]) -> bool:
    """Print the table; whether the bars are held."""
    with tempfile.TemporaryDirectory(prefix="fanout-") as folder:
        state = Path(folder) / "lab"
        os.environ.update(LOOP=str(state), LOOP_NS=f"fanout-{os.getpid()}")
        subprocess.run([str(LAB), "up", str(n_hosts)], check=True)
        try:
            taken: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
            for _ in range(rounds):
                for name in names:
                    taken[name].append(measure(name, state, width))
        finally:
            subprocess.run([str(LAB), "down"], check=True)
    wall = {name: statistics.median(run[0] for run in runs) for name, runs in taken.items()}
    cpu = {name: statistics.median(run[1] for run in runs) for name, runs in taken.items()}
    print(f"{n_hosts} hosts, width {width}, {os.cpu_count()} CPUs, median of {rounds} interleaved rounds")
    print(f"{'':16}{'wall s':>8}{'min':>8}{'max':>8}{'CPU s':>8}{'wall/paramiko':>15}")
    for name, runs in taken.items():
        spread = [run[0] for run in runs]
        ratio = wall[name] / wall["bare paramiko"]
        print(f"{name:16}{wall[name]:8.2f}{min(spread):8.2f}{max(spread):8.2f}{cpu[name]:8.2f}{ratio:15.2f}")
    held = wall["healthcheck"] <= BAR_PARAMIKO * wall["bare paramiko"]
    if "clush" in wall:
        held = held and wall["healthcheck"] <= BAR_CLUSH * wall["clush"]
        print(f"healthcheck / clush {wall['healthcheck'] / wall['clush']:.2f} (bar {BAR_CLUSH})", end=", ")
    print(f"healthcheck / paramiko {wall['healthcheck'] / wall['bare paramiko']:.2f} (bar {BAR_PARAMIKO})")
    return held


def main() -> int:
    """Compare, or be one contestant."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--only", action="append", choices=CONTESTANTS)
    parser.add_argument("--contestant", choices=CONTESTANTS, help=argparse.SUPPRESS)
    parser.add_argument("--state", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.contestant:
        hosts = (options.state / "hosts.txt").read_text().split()
        CONTESTANTS[options.contestant](options.state, hosts, options.width)
        return 0
    names = [name for name in options.only or CONTESTANTS if name != "clush" or shutil.which("clush")]
    return 0 if compare(options.hosts, options.rounds, options.width, names) else 1


if __name__ == "__main__":
    sys.exit(main())
