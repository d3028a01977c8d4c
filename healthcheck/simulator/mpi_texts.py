"""What Open MPI 4.1 prints when a launch goes wrong (texts as its true outputs have them)."""

from __future__ import annotations

_RULE = "-" * 74 + "\n"

_NO_DAEMON = f"""{_RULE}ORTE was unable to reliably start one or more daemons.
This usually is caused by:

* not finding the required libraries and/or binaries on
  one or more nodes. Please check your PATH and LD_LIBRARY_PATH
  settings, or configure OMPI with --enable-orterun-prefix-by-default

* lack of authority to execute on one or more specified nodes.
  Please verify your allocation and authorities.

* an inability to create a connection back to mpirun due to a
  lack of common network interfaces and/or no route found between
  them. Please check network connectivity (including firewalls
  and network routing requirements).
{_RULE}"""


def refused(host: str) -> str:
    """ssh of mpirun to a node whose sshd does not answer; exit code 255."""
    return f"ssh: connect to host {host} port 22: Connection refused\n{_NO_DAEMON}"


def unresolvable(host: str) -> str:
    """A host name nobody knows; exit code 255."""
    return f"ssh: Could not resolve hostname {host}: Temporary failure in name resolution\n{_NO_DAEMON}"


def too_few_slots(processes: int, program: str) -> str:
    """More ranks than slots; exit code 1."""
    return (
        f"{_RULE}There are not enough slots available in the system to satisfy the {processes}\n"
        f"slots that were requested by the application:\n\n  {program}\n\n"
        "Either request fewer slots for your application, or make more slots\navailable for use.\n"
        f"{_RULE}"
    )


def no_hostfile(path: str) -> str:
    """The hostfile is not where the command line says; exit code 1."""
    return (
        f"{_RULE}Open RTE was unable to open the hostfile:\n    {path}\n"
        f"Check to make sure the path and filename are correct.\n{_RULE}"
    )


def no_executable(host: str, program: str) -> str:
    """The program is missing on a node; exit code 132."""
    return (
        f"{_RULE}mpirun was unable to launch the specified application as it could not access\n"
        f"or execute an executable:\n\nExecutable: {program}\nNode: {host}\n\n"
        f"while attempting to start process rank 0.\n{_RULE}"
    )


def nonzero_exit(rank: int, exit_code: int) -> str:
    """A rank ended with an error; the exit code is that of the rank."""
    return (
        f"{_RULE}Primary job  terminated normally, but 1 process returned\n"
        f"a non-zero exit code. Per user-direction, the job has been aborted.\n{_RULE}"
        f"{_RULE}mpirun detected that one or more processes exited with non-zero status, thus causing\n"
        f"the job to be terminated. The first process to do so was:\n\n"
        f"  Process name: [[48126,1],{rank}]\n  Exit code:    {exit_code}\n{_RULE}"
    )
