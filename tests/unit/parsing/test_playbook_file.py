"""Playbooks: the types say a lot, these say the rest, each mistake with file, line and key path."""

from __future__ import annotations

import pytest

from healthcheck.errors import InputError
from healthcheck.model.collective import Collective
from healthcheck.model.platform import Thresholds
from healthcheck.model.units import Seconds
from healthcheck.parsing.playbook import parse_playbook, playbook_schema

CONTRACT = """\
name: full
platform: auto
thresholds: {healthy: 0.70, broken: 0.50}
nccl_tests: {path: /opt/nccl-tests/build, push: null}
launcher: mpirun
env: {NCCL_DEBUG: INFO}
stages:
  - {name: probe}
  - {name: single_node, collectives: [all_reduce], sizes: {min: 512M, max: 8G, factor: 2}, iterations: 50, repeats: 1, timeout: 5m, on_fail: exclude, on_degraded: exclude}
  - {name: multi_node, collectives: [all_reduce], sizes: {min: 512M, max: 8G, factor: 2}, iterations: 50, timeout: 10m}
  - {name: localise, when: not_pass, budget: 30m}
gate: {degraded: block}
"""  # noqa: E501 - as in the documentation


def test_the_playbook_of_the_documentation() -> None:
    playbook = parse_playbook(CONTRACT, "p")
    assert [stage.name for stage in playbook.stages] == ["probe", "single_node", "multi_node", "localise"]
    single = playbook.stages[1]
    assert single.collectives == (Collective.ALL_REDUCE,)
    assert (single.sizes.min, single.sizes.max) == (512 << 20, 8 << 30)
    assert (float(single.timeout), single.on_degraded, single.iterations) == (300.0, "exclude", 50)
    assert playbook.thresholds == Thresholds(0.7, 0.5)
    assert playbook.stages[3].budget == Seconds(1800)


def _stage(keys: str) -> str:
    return f"name: x\nstages:\n  - name: probe\n  - name: single_node\n    {keys}\n"


def _top(keys: str) -> str:
    return f"name: x\nstages: [{{name: probe}}]\n{keys}\n"


@pytest.mark.parametrize(
    ("text", "where", "says"),
    [
        (_top("thresholds: {healthy: 70, broken: 0.50}"), "p:3: thresholds.healthy: ", "got 70; write 0.70"),
        (_top("thresholds: {healthy: 0.70, broken: 50}"), "p:3: thresholds.broken: ", "write 0.50"),
        (_top("thresholds: {healthy: 1.2, broken: 0.50}"), "p:3: thresholds.healthy: ", "got 1.2; write at most 1.00"),
        (_top("thresholds: {healthy: .nan, broken: 0.5}"), "p:3: thresholds.healthy: ", "got nan"),
        (_top("thresholds: {healthy: .inf, broken: 0.5}"), "p:3: thresholds.healthy: ", "got inf"),
        (_top("thresholds: {healthy: 0, broken: 0}"), "p:3: thresholds.healthy: ", "above 0"),
        (_top("thresholds: {healthy: -0.7, broken: 0.5}"), "p:3: thresholds.healthy: ", "got -0.7"),
        (_top("thresholds: {healthy: 0.4, broken: 0.5}"), "p:3: thresholds.broken: ", "not be above healthy"),
        (
            _top("thresholds: {healthy: 70%, broken: 0.5}"),
            "p:3: thresholds.healthy: ",
            "a number, got '70%'; write 0.70",
        ),
        (_top("thresholds: {healthy: 0.7}"), "p:3: thresholds: ", "the key broken is missing"),
        (_top("thresholds: [0.7, 0.5]"), "p:3: thresholds: ", "expected a mapping or nothing, got a list"),
        (_top("platfrom: auto"), "p:3: platfrom: ", "did you mean platform?"),
        (_top('"plat\\tform": auto'), r"p:3: 'plat\tform': unknown key 'plat\tform'", "did you mean platform?"),
        (_top("caf\u00e9: 1"), r"p:3: 'caf\xe9': unknown key", "known are"),
        (_top("platform: ''"), "p:3: platform: ", "must be auto"),
        (_top("launcher: slurm"), "p:3: launcher: ", "unknown value slurm"),
        (_top("gate: {degraded: pass}"), "p:3: gate.degraded: ", "known are allow, block"),
        (_top("env: {A: x, NCCL_IB_DISABLE: 1}"), "p:3: env.NCCL_IB_DISABLE: ", "got 1; put it in quotes"),
        (_top("env: {A: no}"), "p:3: env.A: ", "put it in quotes"),
        (_top("env: {NCCL-DEBUG: INFO}"), "p:3: env.NCCL-DEBUG: ", "environment variable"),
        (_top("env: {'A=B': x}"), "p:3: env.A=B: ", "environment variable"),
        (_top('env: {A: "x\\ny"}'), "p:3: env.A: ", "one line"),
        (_top('env: {A: "x\\0y"}'), "p:3: env.A: ", "one line"),
        (_top("env: {HF_TOKEN: hf_abc}"), "p:3: env.HF_TOKEN: ", "looks like a secret"),
        (_top("env: {wandb_api_key: abc}"), "p:3: env.wandb_api_key: ", "looks like a secret"),
        (_top("env: {https_proxy: 'http://me:pw@proxy:3128'}"), "p:3: env.https_proxy: ", "looks like a secret"),
        (_top("env: {HEALTHCHECK_TOKEN: x}"), "p:3: env.HEALTHCHECK_TOKEN: ", "set by healthcheck itself"),
        (_top("env: {A: " + "x" * 5000 + "}"), "p:3: env.A: ", "at most 4096"),
        (_top("wrapper: apptainer exec x.sif"), "p:3: wrapper: ", "expected a list"),
        (_top("wrapper: [apptainer exec x.sif]"), "p:3: wrapper[0]: ", "write 'apptainer, exec, x.sif' in it"),
        (_top("wrapper: [--nv, x]"), "p:3: wrapper[0]: ", "must be a program"),
        (_top("wrapper: ['', x]"), "p:3: wrapper[0]: ", "must be a program"),
        (_top('wrapper: [enroot, "a\\nb"]'), "p:3: wrapper[1]: ", "one line"),
        (_top("wrapper: [docker, run, -e, 'P=http://me:pw@proxy:3128']"), "p:3: wrapper[3]: ", "looks like a secret"),
        (_top("wrapper: [a" + ", b" * 64 + "]"), "p:3: wrapper: ", "too long"),
        (_top("nccl_tests: {path: build}"), "p:3: nccl_tests.path: ", "must be absolute"),
        (_top("nccl_tests: {path: /a, push: ./b}"), "p:3: nccl_tests: ", "keep path"),
        (_top("nccl_tests: {push: ''}"), "p:3: nccl_tests.push: ", "must be a folder"),
        ("name: 'a;rm -rf'\nstages: [{name: probe}]\n", "p:1: name: ", "letters, digits"),
        ("name: -x\nstages: [{name: probe}]\n", "p:1: name: ", "letters, digits"),
        ("name: ../../etc\nstages: [{name: probe}]\n", "p:1: name: ", "letters, digits"),
        ("name: 7\nstages: [{name: probe}]\n", "p:1: name: ", "expected text, got 7; put it in quotes"),
        ("stages: [{name: probe}]\n", "p:1: ", "the key name is missing"),
        ("name: x\n", "p:1: ", "the key stages is missing"),
        ("name: x\nstages: []\n", "p:2: stages: ", "is empty"),
        ("name: x\nstages: {name: probe}\n", "p:2: stages: ", "expected a list, got a mapping"),
        ("name: x\nstages: [probe]\n", "p:2: stages[0]: ", "expected a mapping, got 'probe'"),
        ("name: x\nstages:\n- name: probee\n", "p:3: stages[0].name: ", "did you mean probe?"),
        ("name: x\nstages:\n- name: probe\n- name: probe\n", "p:4: stages[1].name: ", "listed twice"),
        ("name: x\nstages:\n- name: multi_node\n- name: probe\n", "p:4: stages[1].name: ", "before multi_node"),
        ("name: x\nstages:\n- name: localise\n- name: multi_node\n", "p:4: stages[1].name: ", "before localise"),
        (
            "name: x\nstages:\n- name: probe\n  sizes: {min: 1G}\n",
            "p:4: stages[0].sizes: ",
            "not used by the stage probe",
        ),
        (
            "name: x\nstages:\n- name: localise\n  iterations: 5\n",
            "p:4: stages[0].iterations: ",
            "it takes budget, name",
        ),
        ("name: x\nstages:\n- name: localise\n  when: not_pass\n", "p:4: stages[0].when: ", "does not run"),
        (_stage("budget: 5m"), "p:5: stages[1].budget: ", "not used by the stage single_node"),
        (_stage("iteration: 5"), "p:5: stages[1].iteration: ", "did you mean iterations?"),
        (_stage("iterations: 0"), "p:5: stages[1].iterations: ", "from 1 to"),
        (_stage("iterations: -1"), "p:5: stages[1].iterations: ", "from 1 to"),
        (_stage("iterations: 1000000000"), "p:5: stages[1].iterations: ", "to 100,000"),
        (_stage("iterations: 1.5"), "p:5: stages[1].iterations: ", "expected a whole number, got 1.5"),
        (_stage("iterations: 010"), "p:5: stages[1].iterations: ", "reads as octal"),
        (_stage("iterations: ten"), "p:5: stages[1].iterations: ", "expected a whole number, got 'ten'"),
        (_stage("repeats: 0"), "p:5: stages[1].repeats: ", "from 1 to 100"),
        (_stage("repeats: yes"), "p:5: stages[1].repeats: ", "expected a whole number"),
        (_top("pins: {drivr: '550.*'}"), "p:3: pins.drivr: ", "cannot be pinned; what can is driver"),
        (_top("pins: {driver: 550.1}"), "p:3: pins.driver: ", "put it in quotes"),
        (_top("pins: {driver: '>=550'}"), "p:3: pins.driver: ", 'a pattern such as "550.*"'),
        (_top("pins: {driver: '=550.1'}"), "p:3: pins.driver: ", "compares"),
        (_top("pins: {driver: ' ~550'}"), "p:3: pins.driver: ", "compares"),
        (_top("pins: {driver: ''}"), "p:3: pins.driver: ", "a version or a pattern"),
        (_stage("warmup: -1"), "p:5: stages[1].warmup: ", "from 0 to"),
        (_stage("check: 1"), "p:5: stages[1].check: ", "expected true or false"),
        (_stage("timeout: 300"), "p:5: stages[1].timeout: ", "write for example 90s"),
        (_stage("timeout: -5m"), "p:5: stages[1].timeout: ", "not a duration"),
        (_stage("timeout: 0s"), "p:5: stages[1].timeout: ", "not a duration"),
        (_stage("timeout: 1ms"), "p:5: stages[1].timeout: ", "between 1s and 7d"),
        (_stage("timeout: 99999d"), "p:5: stages[1].timeout: ", "between 1s and 7d"),
        (_stage("timeout: 1:30"), "p:5: stages[1].timeout: ", "not a duration"),
        (_stage("sizes: {min: 8G, max: 1G}"), "p:5: stages[1].sizes.min: ", "8G is above max 1G"),
        (_stage("sizes: {min: 16G}"), "p:5: stages[1].sizes.min: ", "16G is above max 8G"),
        (_stage("sizes: {max: 1T}"), "p:5: stages[1].sizes.max: ", "128G or less"),
        (_stage("sizes: {factor: 1}"), "p:5: stages[1].sizes.factor: ", "from 2"),
        (_stage("sizes: {min: 8Q}"), "p:5: stages[1].sizes.min: ", "not a size"),
        (_stage("sizes: {min: 0}"), "p:5: stages[1].sizes.min: ", "above zero"),
        (_stage("sizes: {min: '" + "9" * 400 + "G'}"), "p:5: stages[1].sizes.min: ", "is no size"),
        (_stage("sizes: {mim: 1G}"), "p:5: stages[1].sizes.mim: ", "did you mean min?"),
        (_stage("sizes: 8G"), "p:5: stages[1].sizes: ", "expected a mapping, got '8G'"),
        (_stage("collectives: []"), "p:5: stages[1].collectives: ", "is empty"),
        (_stage("collectives: all_reduce"), "p:5: stages[1].collectives: ", "expected a list"),
        (_stage("collectives: [allreduce]"), "p:5: stages[1].collectives[0]: ", "did you mean all_reduce?"),
        (_stage("collectives: [all_reduce, all_reduce]"), "p:5: stages[1].collectives[1]: ", "listed twice"),
        (_stage("thresholds: {healthy: 70, broken: 50}"), "p:5: stages[1].thresholds.healthy: ", "write 0.70"),
        (_stage("on_fail: ignore"), "p:5: stages[1].on_fail: ", "known are continue, exclude, stop"),
        (_stage("env: {A: 1}"), "p:5: stages[1].env.A: ", "put it in quotes"),
        (_stage("env: {1A: x}"), "p:5: stages[1].env.1A: ", "environment variable"),
    ],
)
def test_what_is_wrong_is_said_with_file_line_and_key(text: str, where: str, says: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_playbook(text, "p")
    assert str(caught.value).startswith(where)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_schema_knows_the_keys_and_how_units_are_written() -> None:
    schema = playbook_schema()
    definitions = schema["$defs"]
    assert isinstance(definitions, dict)
    stage, sizes = definitions["Stage"], definitions["Sizes"]
    assert stage["additionalProperties"] is False
    assert stage["required"] == ["name"]
    assert stage["properties"]["timeout"]["default"] == "10m"
    assert stage["properties"]["timeout"]["type"] == "string"
    assert sizes["properties"]["max"]["default"] == "8G"
