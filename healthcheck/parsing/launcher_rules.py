"""The sentences that prove why a launch failed, most telling first. Data for `launcher_output`."""

from __future__ import annotations

import re

from msgspec import Struct


class Rule(Struct, frozen=True):
    """One way to fail. Group `host` is the culprit; other groups and `args` fill the message."""

    kind: str
    pattern: re.Pattern[str]
    args: tuple[str, ...] = ()
    host_patterns: tuple[re.Pattern[str], ...] = ()


NO_PMI = "no_pmi"
"""The ranks were not started in a way that their MPI understands, so that they did not find each other."""


def _sentence(pattern: str) -> re.Pattern[str]:
    """Launchers wrap their boxes at about 76 columns: every blank of the pattern matches any white space."""
    return re.compile(pattern.replace(" ", r"\s+"), re.MULTILINE)


def _ssh(kind: str, reason: str) -> Rule:
    return Rule(kind, _sentence(rf"connect to (?:host|address) (?P<host>\S+) port (?P<port>\d+): {reason}"), ("port",))


_MPIRUN = r"(?:mpirun|mpiexec(?:\.hydra)?|prterun|orterun)"
_DAEMON = r"(?:orted|prted|hydra_pmi_proxy|hydra_bstrap_proxy)"
# dash, bash and busybox begin a complaint each in its own way; ours is the shell in front of a rank.
_OUR_SHELL = r"^\S*healthcheck-rank: (?:exec: )?(?:line )?(?:\d+: )?(?:exec: )?"
_FATAL_SIGNALS = r"(?:Segmentation fault|Aborted|Bus error|Floating point exception|Illegal instruction|Killed)"

RULES: tuple[Rule, ...] = (
    Rule(
        "mpirun_missing",
        _sentence(rf"(?:^|[/ '‘`]){_MPIRUN}['’]?: (?:command not found|not found|No such file or directory)"),
    ),
    Rule(
        "daemon_missing",
        _sentence(
            rf"(?<![^\s'‘`])(?P<daemon>[^\s'‘`]*{_DAEMON})['’]?: "
            r"(?:No such file or directory|command not found|not found)"
        ),
    ),
    Rule("unresolvable", _sentence(r"Could not resolve hostname (?P<host>[^\s:]+):")),
    Rule("unresolvable", _sentence(r"(?:getaddrinfo|gethostbyname)\S* .*?(?:for|host) (?P<host>[\w.-]+)")),
    Rule(
        "host_key_changed",
        re.compile(r"REMOTE HOST IDENTIFICATION HAS CHANGED|Host key for \S+ has changed"),
        host_patterns=(re.compile(r"Host key for (\S+) has changed"), re.compile(r'ssh-keygen .*-R "?([^"\s]+)')),
    ),
    Rule("host_key_unknown", _sentence(r"No \S+ host key is known for (?P<host>\S+) and you have requested strict")),
    Rule("host_key_unknown", re.compile(r"Host key verification failed")),
    Rule("login_refused", re.compile(r"(?<!\S)(?P<user>[^\s@]+)@(?P<host>\S+): Permission denied"), ("user",)),
    Rule(
        "login_refused",
        re.compile(r"Received disconnect from (?P<host>\S+) .*Too many authentication failures"),
        ("user",),
    ),
    Rule("login_refused", re.compile(r"^Permission denied(?:, please| \()", re.MULTILINE), ("user",)),
    _ssh("connection_refused", "Connection refused"),
    _ssh("no_route", "(?:No route to host|Network is unreachable)"),
    _ssh("connect_timeout", "(?:Connection|Operation) timed out"),
    Rule("connect_timeout", re.compile(r"Connection timed out during banner exchange"), ("port",)),
    Rule("connection_refused", re.compile(r"(?:kex|ssh)_exchange_identification: .*(?:closed|reset)"), ("port",)),
    Rule("as_root", _sentence("has detected an attempt to run as root")),
    Rule("hostfile_missing", _sentence(r"unable to open (?:the )?(?:host file|hostfile): (?P<path>\S+)"), ("path",)),
    Rule(
        "too_few_slots",
        _sentence(r"There are not enough slots available in the system to satisfy the (?P<slots>\d+)"),
        ("slots",),
    ),
    Rule("too_few_slots", _sentence("All nodes which are allocated for this job are already filled"), ("slots",)),
    Rule(
        "library_missing",
        re.compile(r"(?<!\S)(?P<binary>\S+): error while loading shared libraries: (?P<library>[^\s:]+)"),
    ),
    # What the ranks were started with is none of the PMIs their MPI knows: MPICH, Open MPI 4, Open MPI 5, Intel MPI.
    # The last two go on, each rank by itself.
    Rule(NO_PMI, re.compile(r"Runtime environment uses unsupported PMI version \w+")),
    Rule(NO_PMI, _sentence("but OMPI was not built with SLURM's PMI support")),
    Rule(NO_PMI, re.compile(r"No PMIx server was reachable, but a PMI1/2 was detected|^\s*no-pmix-but$", re.MULTILINE)),
    Rule(NO_PMI, _sentence(r"PMI server not found\. Please set I_MPI_PMI_LIBRARY variable")),
    # The banner of the launcher may blame a survivor; the process that dies says so itself, with its host.
    Rule(
        "rank_signalled",
        re.compile(rf"^\[(?P<host>[^\s:\]]+):\d+\] Signal: (?P<signal>{_FATAL_SIGNALS}.*)$", re.MULTILINE),
    ),
    Rule(
        "rank_signalled",
        _sentence(
            r"noticed that process rank \d+ with PID \d+ on node (?P<host>\S+) "
            r"exited on signal (?P<signal>\d+(?: \([^)]*\))?)"
        ),
    ),
    Rule(
        "rank_signalled",
        _sentence(r"srun: error: (?P<host>[^\s:]+): tasks? \S+: (?P<signal>Killed|Segmentation fault|Aborted)"),
    ),
    Rule(
        "rank_signalled",
        _sentence(r"KILLED BY SIGNAL: (?P<signal>\d+(?: \([^)]*\))?)"),
        host_patterns=(re.compile(r"RUNNING AT (\S+)"),),
    ),
    Rule(
        "rank_signalled",
        _sentence(r"TERMINATED WITH THE EXIT STRING: (?P<signal>\w.*\(signal \d+\))"),
        host_patterns=(re.compile(r"RUNNING AT (\S+)"),),
    ),
    Rule("rank_signalled", _sentence(rf"^\S+: line \d+: \d+ (?P<signal>{_FATAL_SIGNALS})")),
    Rule(
        "not_executable",
        _sentence(
            r"(?:@(?P<host>[^\]\s]+)\] .*)?execvp error on file (?P<path>\S+) "
            r"\((?:Permission denied|Exec format error)\)"
        ),
        ("path",),
    ),
    Rule(
        "not_executable",
        _sentence(
            r"^\S*(?:sh|env|exec): (?:line )?(?:\d+: )?(?:exec: )?(?P<path>/\S+): (?:Permission denied|cannot exec)"
        ),
    ),
    Rule("not_executable", _sentence(rf"{_OUR_SHELL}(?P<path>/\S+): (?:Permission denied|cannot execute: Perm)")),
    Rule(
        "binary_missing",
        _sentence(
            r"unable to launch the specified application as it could not access(?: or execute)? an executable: "
            r"Executable: (?P<path>\S+) Node: (?P<host>\S+)"
        ),
        ("path",),
    ),
    Rule(
        "binary_missing",
        _sentence(r"(?:@(?P<host>[^\]\s]+)\] .*)?execvp error on file (?P<path>\S+) \(No such file or directory\)"),
        ("path",),
    ),
    Rule(
        "binary_missing",
        _sentence(
            r"unable to find the specified executable file(?s:.*?)Executable: (?P<path>\S+) Node: (?P<host>\S+)|"
            r"execve\(\): (?P<file>\S+): No such file or directory"
        ),
        ("path",),
    ),
    Rule(
        "binary_missing",
        _sentence(
            rf"{_OUR_SHELL}(?P<path>/\S+): "
            r"(?:not found|cannot execute: required file not found|No such file or directory)"
        ),
        ("path",),
    ),
    Rule(
        "mpi_abort",
        _sentence(
            r"MPI_ABORT was invoked on rank (?P<rank>\d+) in communicator (?s:.*?)"
            r"(?:with errorcode|Errorcode:) (?P<code>-?\d+)"
        ),
        ("rank", "code"),
        (_sentence(r'process rank \d+ with PID \d+ on node (\S+) calling "abort"'),),
    ),
    Rule(
        "mpi_abort",
        re.compile(r"application called MPI_Abort\(.*, (?P<code>-?\d+)\) - process (?P<rank>\d+)"),
        ("rank", "code"),
    ),
    Rule(
        "bad_interface",
        _sentence(
            r"An invalid value was given for \S+_if_(?:in|ex)clude\.(?s:.*?)Local host: (?P<host>\S+) "
            r"Value: (?P<interface>\S+)(?s:.*?)unable to reach each other"
        ),
    ),
    Rule("bad_interface", _sentence("processes are unable to reach each other for MPI communications"), ("interface",)),
    Rule("bad_interface", _sentence("No network interfaces were found for out-of-band communications"), ("interface",)),
    Rule("timeout", _sentence("The user-provided time limit for job execution has been reached")),
    Rule("timeout", re.compile(r"CANCELLED AT \S+ DUE TO TIME LIMIT")),
    Rule(
        "daemon_lost",
        re.compile(
            r"(?:ORTE|PRTE|PRRTE)\s+has\s+lost\s+communication\s+with\s+a\s+remote\s+daemon"
            r"(?:.*?Remote\s+daemon\s*:[^\n]*?on\s+node\s+(?P<host>\S+))?",
            re.DOTALL,
        ),
    ),
    Rule("daemon_lost", _sentence("A daemon failed to report back after being spawned")),
    Rule("daemon_lost", re.compile(r"control_cb \(.*\): assert \(!closed\) failed")),
    Rule(
        "rank_exited",
        _sentence(r"srun: error: (?P<host>[^\s:]+): tasks? (?P<rank>\S+): Exited with exit code (?P<code>\d+)"),
    ),
    Rule(
        "rank_exited",
        re.compile(
            r"detected\s+that\s+one\s+or\s+more\s+processes\s+exited\s+with\s+non-zero\s+status,"
            r".*?Process\s+name:\s+\[\S*?,(?P<rank>\d+)\]\s+Exit\s+code:\s+(?P<code>\d+)",
            re.DOTALL,
        ),
    ),
    Rule(
        "rank_exited",
        re.compile(
            r"BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES"
            r"(?:.*?RANK\s+(?P<rank>\d+))?.*?RUNNING AT (?P<host>\S+).*?EXIT CODE:\s+(?P<code>\d+)",
            re.DOTALL,
        ),
        ("rank",),
    ),
    Rule("daemon_lost", _sentence("ORTE was unable to reliably start one or more daemons")),
)
