"""Where a rank writes its NCCL log, and how that log is taken from its node. Pure: scripts and the reader of an answer.

Writer and taker are one convention, so they stand in one file. Every rank is started through a few words of shell that
make a folder of its own, `/tmp/healthcheck-TOKEN.JOB.XXXXXXXX` (mktemp, 0700), and tell NCCL to write there: stdout
stays a clean table. After the job one command a node prints the files of that job and deletes every folder of the run.

The place is /tmp, whatever TMPDIR says: ranks and our login may have different ones (a Slurm job has its own, hydra
hands on that of the launch host), and a folder nobody looks for would stay for ever. Ours is what is a folder, no link,
and belongs to our user: in a sticky /tmp nobody else can have made that.

What taking prints; NONCE is new for every command, so no log can hold such a line:

    @@NONCE file SIZE NAME    then the content, whole where it fits its share, else its beginning,
    @@NONCE middle            the WARN lines of the middle,
    @@NONCE tail              and its end, at most 64 KB of each
    @@NONCE end
    @@NONCE left COUNT        the last line: folders that could not be deleted
"""

from __future__ import annotations

import hashlib

from msgspec import Struct

RANK_MARK = "healthcheck-rank"
TAKE_MARK = "healthcheck-take-logs"
PLACE = "/tmp/healthcheck-"  # noqa: S108 - mktemp makes the folder there
ALL, LOWEST_PID, NONE = "all", "lowest", "none"
"""Which files of a job are wanted; deleting is done in any case."""

SUBSYSTEMS = "INIT,ENV,NET,GRAPH,TUNING"
"""What NCCL tells about in its INFO log: the devices it found, the paths it took, what the environment changed."""

END_BYTES = 64 << 10
"""Most that is kept of the end of a file that is too long, and of the WARN lines in its middle."""
MOST_FILES = 128

# $1 names the folder. Without a place to write to, NCCL says what went wrong on stdout, as ever. A log file that the
# playbook or the login asks for is theirs. `exec` leaves pid, signals and exit code to the program.
RANK_SCRIPT = " ".join(
    (
        "p=$1; shift;",
        'if [ -z "${NCCL_DEBUG_FILE+set}" ]; then',
        'if d=$(umask 077; mktemp -d "$p.XXXXXXXX" 2>/dev/null); then',
        "NCCL_DEBUG_FILE=$d/nccl.%h.%p; NCCL_DEBUG=${NCCL_DEBUG:-INFO};",
        f"NCCL_DEBUG_SUBSYS=${{NCCL_DEBUG_SUBSYS:-{SUBSYSTEMS}}};",
        "export NCCL_DEBUG_FILE NCCL_DEBUG_SUBSYS; fi;",
        "NCCL_DEBUG=${NCCL_DEBUG:-WARN}; export NCCL_DEBUG; fi;",
        'exec "$@"',
    )
)

# $1 nonce, $2 folders of the run, $3 folders of the job, $4 bytes in all, $5 which files. Each rank may have several
# folders of an earlier try, so files are counted first and share the bytes. The line that a cut runs through is put
# together again: sed prints the first and the last line of the middle, too.
TAKE_SCRIPT = " ".join(
    (
        "LC_ALL=C; export LC_ALL; nonce=$1 run=$2 job=$3 limit=$4 which=$5;",
        'ours() { if [ -L "$1" ]; then return 1; fi; [ -d "$1" ] && [ -O "$1" ]; };',
        'file() { if [ -L "$1" ]; then return 1; fi; [ -f "$1" ] && [ -O "$1" ]; };',
        'show() { size=$(wc -c <"$1") && size=$((size)) || return;',
        'name=$(printf %s "${1##*/}" | head -c 200 | tr -c A-Za-z0-9._- _);',
        r'printf "\n@@%s file %s %s\n" "$nonce" "$size" "$name";',
        'if [ "$size" -le "$share" ]; then head -c "$share" <"$1"; else',
        f'part=$((share / 4)); if [ "$part" -gt {END_BYTES} ]; then part={END_BYTES}; fi;',
        'first=$((share - 2 * part)); head -c "$first" <"$1";',
        r'printf "\n@@%s middle\n" "$nonce";',
        'tail -c "+$((first + 1))" <"$1" | head -c "$((size - first - part))" |',
        "sed -n -e '1{p;d;}' -e '${p;d;}' -e '/NCCL WARN/p' | head -c \"$part\";",
        r'printf "\n@@%s tail\n" "$nonce"; tail -c "$part" <"$1"; fi;',
        r'printf "\n@@%s end\n" "$nonce"; };',
        # the files: how many, and which has the lowest pid (the end of its name)
        "n=0 low= of=;",
        f'if [ {NONE} = "$which" ]; then :; else for d in "$job".*; do ours "$d" || continue;',
        f'for f in "$d"/nccl.*; do file "$f" && [ "$n" -lt {MOST_FILES} ] || continue; n=$((n + 1)); pid=${{f##*.}};',
        'if [ -z "$of" ] || [ "$pid" -lt "$low" ] 2>/dev/null; then low=$pid of=$f; fi; done; done; fi;',
        f'if [ {LOWEST_PID} = "$which" ] && [ "$n" -gt 0 ]; then share=$limit; show "$of";',
        'elif [ "$n" -gt 0 ]; then share=$((limit / n)); for d in "$job".*; do ours "$d" || continue;',
        'for f in "$d"/nccl.*; do file "$f" && [ "$n" -gt 0 ] || continue; n=$((n - 1)); show "$f"; done; done; fi;',
        # gone or not: said of what is there afterwards
        'left=0; for d in "$run".*; do ours "$d" || continue; rm -rf -- "$d";',
        'if [ -d "$d" ]; then left=$((left + 1)); fi; done 2>/dev/null;',
        r'printf "\n@@%s left %s\n" "$nonce" "$left"',
    )
)


class LogFile(Struct, frozen=True):
    """One log as it was taken. `size` in bytes on the node, `bytes_cut` of it are not in `text`; never trust `name`."""

    name: str
    size: int
    text: str
    bytes_cut: int = 0


class Taken(Struct, frozen=True):
    """What one node gave. `left` is the number of folders that are still there; None when the answer broke off."""

    files: tuple[LogFile, ...]
    left: int | None


# A marker line in words, and what stands behind it.
_Piece = tuple[str, list[str], str]


def folders_of_run(token: str) -> str:
    """What the names of all log folders of a run begin with; a dot and more follows."""
    return f"{PLACE}{token}"


def folders_of_job(token: str, job_id: str) -> str:
    """What the names of the log folders of one job begin with: logs that an earlier job left are not taken for its."""
    return f"{PLACE}{token}.{hashlib.sha256(job_id.encode()).hexdigest()[:8]}"


def rank_words(token: str, job_id: str) -> tuple[str, ...]:
    """What stands in front of the program of a rank."""
    return ("sh", "-c", RANK_SCRIPT, RANK_MARK, folders_of_job(token, job_id))


def take_argv(token: str, job_id: str, nonce: str, limit_bytes: int, which: str) -> tuple[str, ...]:
    """Print files of a job (`which`: ALL, LOWEST_PID or NONE), `limit_bytes` at most; delete all folders of the run."""
    run, job = folders_of_run(token), folders_of_job(token, job_id)
    return ("sh", "-c", TAKE_SCRIPT, TAKE_MARK, nonce, run, job, str(limit_bytes), which)


def frame(nonce: str, files: tuple[tuple[str, str], ...] = (), left: int = 0) -> str:
    """The answer of a node with these (name, text), all of them whole."""
    shown = [f"\n@@{nonce} file {len(text.encode())} {name}\n{text}\n@@{nonce} end\n" for name, text in files]
    return f"{''.join(shown)}\n@@{nonce} left {left}\n"


def read_taken(stdout: str, nonce: str) -> Taken:
    """The files in what a node printed; whatever stands outside the frames is dropped."""
    pieces: list[_Piece] = []
    for piece in stdout.split(f"\n@@{nonce} ")[1:]:
        head, line_end, text = piece.partition("\n")
        # A line that the end of the stream cuts in two says nothing.
        if line_end and head:
            what, *words = head.split(" ")
            pieces.append((what, words, text))
    files = []
    left: int | None = None
    for index, (what, words, text) in enumerate(pieces):
        number = int(words[0]) if words and words[0].isdecimal() else None
        if what == "file" and number is not None and len(words) == 2:
            more = {key: behind for key, _, behind in _until_end(pieces, index)}
            files.append(_file(words[1], number, text, more))
        elif what == "left":
            left = number
    return Taken(tuple(files), left)


def _until_end(pieces: list[_Piece], index: int) -> list[_Piece]:
    more = []
    for piece in pieces[index + 1 : index + 4]:
        if piece[0] in ("file", "left"):
            break
        more.append(piece)
    return more


def _file(name: str, size: int, text: str, more: dict[str, str]) -> LogFile:
    if "middle" not in more:
        cut = 0 if "end" in more else max(1, size - len(text.encode()))
        return LogFile(name, size, text if not cut else f"{text}\n{_note(cut)}\n", cut)
    middle, tail = more["middle"], more.get("tail", "")
    cut = max(1, size - len(text.encode()) - len(middle.encode()) - len(tail.encode()))
    straddling, _, warnings = middle.partition("\n")
    # What fills its share was cut itself: its last line has nothing to do with the first of the end.
    joint = "\n" if len(middle) >= len(tail) else ""
    return LogFile(name, size, f"{text}{straddling}\n{_note(cut)}\n{warnings}{joint}{tail}", cut)


def _note(cut: int) -> str:
    return f"[healthcheck: {cut} bytes are left out here; of those only WARN lines follow]"
