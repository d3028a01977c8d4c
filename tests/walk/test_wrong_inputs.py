"""What people get wrong, through the real command line: exit 2, one sentence that names file and line, nothing touched.

`tests/fixtures/wrong_inputs/` holds one mistake a file; `expected.txt` there is what is said about each, to be read as
a person would at night. Files named `works_*` look odd and are fine.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from healthcheck.__main__ import run

FOLDER = Path(__file__).parents[1] / "fixtures" / "wrong_inputs"
EXPECTED = (FOLDER / "expected.txt").read_text(encoding="utf-8").splitlines()
FILES = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.glob("*/*.*"))
WRONG = [name for name in FILES if "/works_" not in name]
FINE = [name for name in FILES if "/works_" in name]


def _commands(name: str) -> list[list[str]]:
    """Every command through which a person meets this file."""
    if name.startswith("hostfiles/"):
        return [["plan", "quick", "-H", name], ["run", "quick", "-H", name], ["probe", "-H", name]]
    if name.startswith("baselines/"):
        words = ["-H", "gpu-01", "--baseline", name]
        return [["plan", *words], ["run", *words], ["localise", *words]]
    return [["playbook", "check", name], ["plan", name, "-H", "gpu-01"], ["run", name, "-H", "gpu-01"]]


@pytest.fixture(autouse=True)
def in_the_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)


def _said(capsys: pytest.CaptureFixture[str]) -> str:
    """The one sentence on stderr."""
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: ")
    assert printed.err.count("\n") == 1
    sentence = printed.err.removeprefix("error: ").rstrip("\n")
    assert sentence.isprintable()
    assert len(sentence) < 250
    return sentence


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_file_is_exit_2_and_one_sentence(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    expected = [line for line in EXPECTED if line.startswith(f"{name}:")]
    for command in _commands(name):
        assert run(command) == 2
        assert [_said(capsys)] == expected
    assert not (FOLDER / "reports").exists()


def test_nothing_is_expected_of_files_that_are_gone() -> None:
    assert sorted(line.partition(":")[0] for line in EXPECTED) == WRONG
    assert len(WRONG) >= 50


@pytest.mark.parametrize("name", FINE)
def test_an_odd_file_that_is_fine_works(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(_commands(name)[0]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert printed.out.startswith(
        "playbook quick, 2 hosts" if name.startswith("hostfiles/") else "mine: ok, runs probe"
    )


def test_five_thousand_hosts_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hosts = tmp_path / "many.hosts"
    hosts.write_text("".join(f"node{number:04d} slots=8\r\n" for number in range(5000)), encoding="utf-8")
    assert run(["plan", "quick", "-H", str(hosts)]) == 0
    assert "5000 hosts" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argument", "says"),
    [
        ("gpu[00001-20001]", "-H: 'gpu[00001-20001]' stands for more than 20,000 hosts"),
        ("gpu[1-99999999999999]", "more than 20,000 hosts"),
        ("r[1-99999]s[1-99999]n[1-99999]", "more than 20,000 hosts"),
        ("a;rm -rf", "-H: 'a;rm' is not a host name"),
        ("gpu-01,,gpu-02", "names an empty host"),
        ("gpu-01,gpu-01", "-H: gpu-01 is listed twice"),
        ("", "-H: names no host"),
        ("nowhere.hosts", "nowhere.hosts: there is no such file"),
        ("./nowhere", "nowhere: there is no such file"),
        ("hostfiles/", "is a folder; name a file in it"),
    ],
)
def test_wrong_hosts_on_the_command_line(argument: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    started = time.process_time()
    assert run(["plan", "quick", "-H", argument]) == 2
    assert says in _said(capsys)
    assert time.process_time() - started < 5


def test_one_host_too_many_in_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hosts = tmp_path / "too_many.hosts"
    hosts.write_text("".join(f"node{number:05d}\n" for number in range(20_001)), encoding="utf-8")
    assert run(["plan", "quick", "-H", str(hosts)]) == 2
    assert _said(capsys) == f"{hosts}:20001: this is host 20,001 or more; at most 20,000 are read"


@pytest.mark.parametrize(
    ("argument", "says"),
    [
        ("quik", "did you mean quick?"),
        ("nothing-like-it", "there are full, monthly, preflight, quick, slurm-gate, or name a file"),
        ("nowhere.yaml", "nowhere.yaml: there is no such file"),
        ("playbooks/", "is a folder; name a file in it"),
        ("/dev/zero", "is larger than 1 MB"),
        ("loop.yaml", "cannot be read: Too many levels of symbolic links"),
        ("/proc/self/mem", "cannot be read: "),
    ],
)
def test_wrong_playbooks_on_the_command_line(
    argument: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "playbooks").mkdir()
    Path("loop.yaml").symlink_to("loop.yaml")
    assert run(["playbook", "check", argument]) == 2
    assert says in _said(capsys)


def test_a_playbook_of_more_than_a_megabyte(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "long.yaml"
    file.write_text("name: mine\n" + "# \n" * 400_000, encoding="utf-8")
    assert run(["playbook", "check", str(file)]) == 2
    assert _said(capsys).startswith(f"{file}: is larger than 1 MB")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("rate_gbit_s: 200", "rate_gbit_s: -200"), "nics.rate_gbit_s: must be a number above 0, got -200"),
        (("healthy: 0.70", "healthy: 70"), "thresholds.single_node.healthy: is a fraction of peak, got 70; write 0.70"),
        (("  count: 8", "  cuont: 8"), "gpu.cuont: unknown key cuont; did you mean count?"),
    ],
)
def test_a_wrong_platform_file(
    change: tuple[str, str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import healthcheck

    shipped = Path(healthcheck.__file__).parent / "platforms" / "a100-sxm4-8gpu-4x200.yaml"
    file = tmp_path / "mine.yaml"
    file.write_text(shipped.read_text(encoding="utf-8").replace(*change, 1), encoding="utf-8")
    for command in (["platform", "check", str(file)], ["plan", "quick", "-H", "gpu-01", "--platform", str(file)]):
        assert run(command) == 2
        assert says in _said(capsys)


def test_a_missing_argument_is_exit_2_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["playbook", "check"]) == 2
    assert "NAME|FILE: is missing" in capsys.readouterr().err
