"""What comes with the package loads, and what a user names is found or missed with a clear word."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from healthcheck.edge.shipped import (
    load_hosts,
    load_platform,
    load_playbook,
    shipped_platforms,
    shipped_playbook,
    shipped_playbooks,
)
from healthcheck.errors import InputError
from healthcheck.model.playbook import BENCHMARK_STAGES

ROOT = Path(__file__).parents[3]


def test_the_playbooks_of_the_contract_are_there() -> None:
    assert shipped_playbooks() == ("full", "monthly", "preflight", "quick", "slurm-gate")


@pytest.mark.parametrize("name", shipped_playbooks())
def test_every_playbook_can_judge_what_it_measures(name: str) -> None:
    playbook, text = load_playbook(name)
    assert playbook.name == name
    assert text == shipped_playbook(name) == (ROOT / "playbooks" / f"{name}.yaml").read_text(encoding="utf-8")
    assert playbook.stages[0].name == "probe"
    measured = [stage for stage in playbook.stages if stage.name in BENCHMARK_STAGES]
    assert len(measured) == 2
    for stage in measured:
        # Below 1 GiB a healthy node does not reach its plateau, and above 8 GiB smaller GPUs run out of memory.
        assert 1 << 30 <= stage.sizes.max <= 8 << 30
        assert stage.stall < stage.timeout
        assert stage.check


@pytest.mark.parametrize(("name", "count"), [("example.hosts", 10), ("rails.hosts", 32)])
def test_the_hostfiles_to_copy_from_load(name: str, count: int) -> None:
    hosts, text = load_hosts(str(ROOT / "hostfiles" / name))
    assert len(hosts) == count
    assert {host.slots for host in hosts} == {8}
    assert text.startswith("#")


def test_the_rails_hostfile_places_every_host() -> None:
    hosts, _ = load_hosts(str(ROOT / "hostfiles" / "rails.hosts"))
    assert {host.label("leaf") for host in hosts} == {"l1", "l2", "l3", "l4"}
    assert all(host.label("rack") and host.label("pod") for host in hosts)


def test_the_template_is_no_machine_type() -> None:
    assert "_template" not in shipped_platforms()
    assert all(name == platform.name for name, platform in shipped_platforms().items())


def test_a_platform_by_name_and_by_file_is_the_same(tmp_path: Path) -> None:
    platform, text = load_platform("a100-sxm4-8gpu-8x200")
    file = tmp_path / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    assert load_platform(str(file)) == (platform, text)


def test_a_file_is_found_under_any_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cluster").write_text("a\nb\n", encoding="utf-8")
    (tmp_path / "mine").write_text("name: mine\nstages: [{name: probe}]\n", encoding="utf-8")
    assert [host.name for host in load_hosts("cluster")[0]] == ["a", "b"]
    assert load_playbook("mine")[0].name == "mine"


def test_a_folder_named_like_a_host_is_not_in_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gpu01").mkdir()
    assert [host.name for host in load_hosts("gpu01")[0]] == ["gpu01"]


def test_hosts_come_through_a_pipe_as_from_a_shell_substitution() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"gpu01\ngpu02\n")
    os.close(writing)
    assert [host.name for host in load_hosts(f"/dev/fd/{reading}")[0]] == ["gpu01", "gpu02"]
    os.close(reading)


def test_a_node_set_is_kept_as_it_was_given() -> None:
    hosts, text = load_hosts("gpu[1-3]")
    assert len(hosts) == 3
    assert text == "gpu[1-3]\n"


@pytest.mark.parametrize("name", ["a100", "A100-sxm4-8gpu-8x200", "../platforms/nope", "_template", ""])
def test_a_platform_that_is_not_there(name: str) -> None:
    with pytest.raises(InputError, match="there is no "):
        load_platform(name)


def test_the_wheel_takes_playbooks_and_platforms_along() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    taken = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert taken["force-include"]["playbooks"] == "healthcheck/shipped/playbooks"
    assert taken["packages"] == ["healthcheck"]
