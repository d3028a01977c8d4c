"""`healthcheck platform` and `healthcheck playbook`, as a person types them."""

from __future__ import annotations

import json

import pytest

from healthcheck.__main__ import run
from healthcheck.edge.shipped import shipped_platforms


def _out(capsys: pytest.CaptureFixture[str]) -> str:
    printed = capsys.readouterr()
    assert printed.err == ""
    return printed.out


def test_the_platforms_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["platform", "list"]) == 0
    names = [line.split()[0] for line in _out(capsys).splitlines() if line]
    assert names == sorted(names)
    assert {"a100-sxm4-8gpu-1x200", "h100-sxm5-8gpu-8x400", "gb200-4gpu-4x400"} <= set(names)


def test_the_list_is_one_json_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["platform", "list", "--json"]) == 0
    document = json.loads(_out(capsys))
    assert document["schema"] == "healthcheck.platforms/1"
    nics = {entry["name"]: entry["nics"]["count"] for entry in document["platforms"]}
    assert nics["a100-sxm4-8gpu-4x200"] == 4
    assert nics["a100-pcie-2gpu-bridged"] == 0


@pytest.mark.parametrize(
    ("name", "multi"), [("a100-sxm4-8gpu-8x200", 200), ("a100-sxm4-8gpu-4x200", 100), ("a100-sxm4-8gpu-1x200", 25)]
)
def test_a_peak_is_derived_from_its_numbers(name: str, multi: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["platform", "show", name, "--nodes", "32"]) == 0
    text = _out(capsys)
    nics = multi // 25
    assert f"{nics} {'NIC' if nics == 1 else 'NICs'} x 200 Gb/s / 8 = {multi}" in text
    assert f"min(300, {multi}) = {multi}" in text
    assert "healthy at  210 GB/s  (70 % of peak: PASS)" in text
    assert "broken at   150 GB/s  (below 50 %: FAIL)" in text
    assert text.count("https://") >= 6
    assert run(["platform", "show", name, "--nodes", "32", "--json"]) == 0
    single, across = json.loads(_out(capsys))["peaks"]
    assert (single["nodes"], single["peak_busbw_gbyte_s"]) == (1, 300)
    assert (across["nodes"], across["peak_busbw_gbyte_s"]) == (32, multi)


def test_one_node_alone_has_nothing_between_nodes(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["platform", "show", "a100-sxm4-8gpu-8x200", "--nodes", "1"]) == 0
    text = _out(capsys)
    assert "single_node (1 node x 8 GPUs, " in text
    assert "multi_node" not in text
    assert run(["platform", "show", "a100-sxm4-8gpu-8x200", "--nodes", "1", "--json"]) == 0
    assert [entry["stage"] for entry in json.loads(_out(capsys))["peaks"]] == ["single_node"]


@pytest.mark.parametrize(
    ("words", "schema", "holds"),
    [
        ("platform check a100-sxm4-8gpu-8x200", "healthcheck.platform_check/1", ("name", "a100-sxm4-8gpu-8x200")),
        ("playbook check quick", "healthcheck.playbook_check/1", ("stages", ["probe", "single_node", "multi_node"])),
        ("playbook list", "healthcheck.playbooks/1", ("playbooks", None)),
    ],
)
def test_with_json_there_is_one_document_and_nothing_else(
    words: str, schema: str, holds: tuple[str, object], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*words.split(), "--json"]) == 0
    document = json.loads(_out(capsys))
    assert document["schema"] == schema
    key, value = holds
    assert document[key] == value if value is not None else document[key]


def test_an_unknown_platform_is_exit_2_with_the_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["platform", "show", "h100"]) == 2
    told = capsys.readouterr().err
    assert "did you mean h100-nvl-2gpu-bridged or " in told and "healthcheck platform list" in told
    assert run(["platform", "show", "a100-sxm4-8gpu-8x20"]) == 2
    assert "did you mean a100-sxm4-8gpu-8x200? healthcheck platform list has the names" in capsys.readouterr().err
    assert run(["platform", "show", "nothing-like-it"]) == 2
    told = capsys.readouterr().err
    assert "healthcheck platform list has the names, or name a file" in told and "a100" not in told


def test_a_folder_is_no_platform_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["platform", "check", "."]) == 2
    assert "is a folder; name a file in it" in capsys.readouterr().err


def test_one_rank_alone_has_no_peak(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["platform", "show", "a100-sxm4-8gpu-8x200", "--gpus", "1", "--nodes", "1"]
    assert run(words) == 0
    text = _out(capsys)
    assert "peak        one rank alone has no bus bandwidth: nothing is judged" in text
    assert "PASS" not in text
    assert run([*words, "--json"]) == 0
    (alone,) = json.loads(_out(capsys))["peaks"]
    assert (alone["peak_busbw_gbyte_s"], alone["ceiling_gbyte_s"]) == (None, None)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--collective alltoall --algo tree", "alltoall sends from GPU to GPU and has no algorithm; leave --algo out"),
        ("--collective all_gather --algo tree", "all_gather cannot use tree; it can use ring, nvls, sharp"),
        ("--nodes 1 --nics 4", "has no effect on one node"),
    ],
)
def test_what_has_no_effect_is_refused(words: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["platform", "show", "a100-sxm4-8gpu-8x200", *words.split()]) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("name", ["quick", "full", "preflight", "monthly", "slurm-gate"])
def test_a_shipped_playbook_is_right(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["playbook", "check", name]) == 0
    assert _out(capsys).startswith(f"{name}: ok, runs probe, single_node, multi_node")


def test_the_playbooks_are_listed_with_what_they_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["playbook", "list"]) == 0
    lines = _out(capsys).splitlines()
    assert len(lines) == 5
    assert all(len(line.split(maxsplit=1)[1]) > 20 for line in lines)


@pytest.mark.parametrize("what", ["platform", "playbook"])
def test_a_schema_is_a_json_document(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([what, "schema"]) == 0
    assert json.loads(_out(capsys))["$ref"] == f"#/$defs/{what.capitalize()}"


def test_a_peak_says_on_which_basis_it_stands_and_what_healthy_machines_read(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["platform", "show", "a100-pcie-2gpu-bridged", "--nodes", "1"]) == 0
    text = _out(capsys)
    assert "240 GB/s  (effective: what the topology can deliver; the line rate inside a node is 300 GB/s)" in text
    assert "known good  208 GB/s  (87 % of peak), as NCCL chooses; below 187.2 is DEGRADED" in text
    assert run(["platform", "show", "a100-pcie-2gpu-bridged"]) == 0
    assert "no bound is published: such a job is INCONCLUSIVE" in _out(capsys)


def test_a_peak_is_derived_for_the_job_that_was_asked_about(capsys: pytest.CaptureFixture[str]) -> None:
    h100 = ["platform", "show", "h100-sxm5-8gpu-8x400"]
    assert run([*h100, "--algo", "nvls"]) == 0
    text = _out(capsys)
    assert "added up in the switches: 450 x 2 x 7/9 = 700" in text
    assert "judged      against the ring's 450 GB/s, whatever NCCL chooses" in text
    assert "known good  367 GB/s  (82 % of peak), with ring" in text
    assert run([*h100, "--gpus", "4", "--nics", "2", "--collective", "alltoall", "--json"]) == 0
    alone, across = json.loads(_out(capsys))["peaks"]
    assert (alone["gpus"], alone["collective"], alone["peak_busbw_gbyte_s"]) == (4, "alltoall", 450)
    assert across["peak_busbw_gbyte_s"] == pytest.approx(2 * 50 / 4 * 7 / 4)
    assert run([*h100, "--algo", "ring"]) == 0
    assert "330 GB/s  (82 % of peak), with ring; below 297 is DEGRADED" in _out(capsys)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--gpus", "9"], "--gpus: a node of a100-sxm4-8gpu-8x200 has 8, got 9"),
        (["--nics", "9"], "--nics: a node of a100-sxm4-8gpu-8x200 has 8, got 9"),
        (["--algo", "nvls"], "cannot use nvls; it can use ring, tree, sharp"),
    ],
)
def test_what_a_machine_has_not_is_refused(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["platform", "show", "a100-sxm4-8gpu-8x200", *words]) == 2
    assert says in capsys.readouterr().err


def test_the_nodes_are_asked_what_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    detect = ["platform", "detect", "--simulate", "5"]
    assert run([*detect, "--platform", "h100-sxm5-8gpu-8x400", "--fault", "node02:hca=mlx5_3,down"]) == 0
    lines = _out(capsys).splitlines()
    assert lines[0].startswith("h100-sxm5-8gpu-8x400: 8 x H100 SXM5")
    assert lines[0].endswith(", simulated")
    assert "node[01,03-05]: 4 nodes show 8 x NVIDIA H100 80GB HBM3" in lines[1]
    assert "fits h100-sxm5-8gpu-8x400" in lines[1]
    assert "node02: 1 node shows 8 x NVIDIA H100" in lines[2]
    assert "7 x 400 Gb/s InfiniBand; fits no machine type" in lines[2]
    assert run([*detect, "--json"]) == 0
    document = json.loads(_out(capsys))
    assert (document["schema"], document["platform"]) == ("healthcheck.platform_detect/1", "a100-sxm4-8gpu-8x200")
    assert document["simulated"] is True
    assert document["shown"][0]["fits"] == ["a100-sxm4-8gpu-8x200"]


@pytest.mark.parametrize("name", sorted(shipped_platforms()))
def test_simulated_nodes_of_a_type_are_found_to_be_of_it(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["platform", "detect", "--simulate", "2", "--platform", name]) == 0
    assert _out(capsys).startswith(f"{name}: ")


def test_where_no_type_fits_the_exit_code_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["platform", "detect", "--simulate", "1", "--fault", "node01:hca=mlx5_3,down"]) == 3
    text = _out(capsys)
    assert text.startswith("the GPUs are known, but the ports, or what joins the GPUs, fit none")
    assert "a100-sxm4-8gpu-8x200" in text
    assert run(["platform", "detect", "--platform", "l40s-8gpu", "-H", "a"]) == 2
    assert "only for the nodes of --simulate" in capsys.readouterr().err
