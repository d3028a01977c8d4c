"""What `healthcheck vitals mfu` was given, as one question; contradictions are refused before anything is computed."""

from __future__ import annotations

from msgspec import Struct, structs

from healthcheck.cli.vitals_amounts import amount, only_one
from healthcheck.errors import InputError
from healthcheck.model.vitals_mfu import WARN_ABOVE, Dtype, Formula, MfuQuestion, ModelShape, Recompute
from healthcheck.parsing.amounts import LEAST, count_of, fraction_of, number_of, seconds_of
from healthcheck.vitals.formulas import by_shape, choose, missing
from healthcheck.vitals.mfu_remarks import problem_of

_LONGEST_NAME = 100


class MfuOptions(Struct, frozen=True):
    """Options as they were written, None where they were not. `shape` without --params and --active-params."""

    params: str | None
    active_params: str | None
    peak: str | None
    tokens_per_s: str | None
    tokens_per_s_per_gpu: str | None
    tokens_per_step: str | None
    global_batch: int | None
    step_time: str | None
    tokens_total: str | None
    gpu_hours: str | None
    tflops: str | None
    hardware_tflops: str | None
    flops: str | None
    was_step_time: str | None
    was_mfu: str | None
    claimed_mfu: str | None
    warn_above: str | None
    shape: ModelShape
    formula: Formula | None
    gpu: str | None
    gpus: int | None
    dtype: Dtype
    recompute: Recompute


def question(given: MfuOptions) -> MfuQuestion:
    """The question; InputError naming the option that is missing, wrong, or at odds with another one."""
    shape = structs.replace(
        given.shape,
        params=amount("--params", given.params, _parameters),
        active_params=amount("--active-params", given.active_params, _parameters),
    )
    asked = MfuQuestion(
        shape=shape,
        formula=given.formula,
        gpu=given.gpu,
        gpus=given.gpus,
        dtype=given.dtype,
        recompute=given.recompute,
        peak_tflops=amount("--peak", given.peak, _tflops),
        tokens_per_s=amount("--tokens-per-s", given.tokens_per_s, _rate),
        tokens_per_s_per_gpu=amount("--tokens-per-s-per-gpu", given.tokens_per_s_per_gpu, _rate),
        tokens_per_step=_tokens_per_step(given, shape),
        step_time_s=amount("--step-time", given.step_time, seconds_of),
        tokens_total=amount("--tokens-total", given.tokens_total, _tokens),
        gpu_hours=amount("--gpu-hours", given.gpu_hours, _hours),
        model_tflops=amount("--tflops", given.tflops, _tflops),
        hardware_tflops=amount("--hardware-tflops", given.hardware_tflops, _tflops),
        model_flops=amount("--flops", given.flops, _flops),
        was_step_time_s=amount("--was-step-time", given.was_step_time, seconds_of),
        was_mfu=amount("--was-mfu", given.was_mfu, fraction_of),
        claimed_mfu=amount("--claimed-mfu", given.claimed_mfu, _claim),
        warn_above=amount("--warn-above", given.warn_above, fraction_of) or WARN_ABOVE,
    )
    if given.gpu is not None and not 0 < len(given.gpu.strip()) <= _LONGEST_NAME:
        problem = "is too long for a name" if given.gpu.strip() else "is empty"
        raise InputError("--gpu", f"{problem}; write what nvidia-smi prints, such as A100-SXM4-80GB")
    _check_speed(asked)
    _check_shape(asked)
    return asked


def _parameters(text: str) -> float:
    return count_of(text, 1e18)


def _tokens(text: str) -> float:
    return count_of(text, 1e18)


def _rate(text: str) -> float:
    return count_of(text, 1e18, LEAST)


def _hours(text: str) -> float:
    return count_of(text, 1e15, LEAST)


def _tflops(text: str) -> float:
    return number_of(text, 1e9)


def _flops(text: str) -> float:
    return number_of(text, 1e33)


def _claim(text: str) -> float:
    """What somebody printed may be above 1, too: `1.313`."""
    try:
        return fraction_of(text)
    except ValueError:
        return number_of(text, 100.0) if not text.strip().endswith("%") else number_of(text.strip()[:-1], 1e4) / 100


def _tokens_per_step(given: MfuOptions, shape: ModelShape) -> float | None:
    if given.global_batch is None:
        return amount("--tokens-per-step", given.tokens_per_step, _tokens)
    if given.tokens_per_step is not None:
        raise InputError("--global-batch", "says the tokens of a step a second time, beside --tokens-per-step")
    if shape.seq_len is None:
        raise InputError("--global-batch", "counts sequences; give --seq-len, too, or --tokens-per-step")
    return float(given.global_batch * shape.seq_len)


def _check_speed(asked: MfuQuestion) -> None:
    """Exactly one way of saying how fast it went, and everything that way needs."""
    way = only_one(
        (
            ("--tokens-per-s", asked.tokens_per_s),
            ("--tokens-per-s-per-gpu", asked.tokens_per_s_per_gpu),
            ("--tokens-per-step or --global-batch", asked.tokens_per_step),
            ("--tflops", asked.model_tflops),
            ("--hardware-tflops", asked.hardware_tflops),
            ("--flops", asked.model_flops),
            ("--gpu-hours", asked.gpu_hours),
            ("--was-mfu", asked.was_mfu),
        ),
        "how fast it goes",
    )
    if way is None:
        raise InputError(
            "vitals mfu",
            "how fast does it go? Give --tokens-per-s, or --tokens-per-step with --step-time, or --tflops",
        )
    _need(way, "--step-time", asked.step_time_s, ("--tokens-per-step or --global-batch", "--flops", "--was-mfu"))
    _need(way, "--was-step-time", asked.was_step_time_s, ("--was-mfu",))
    _need(way, "--tokens-total", asked.tokens_total, ("--gpu-hours",))
    _need(way, "--gpus", asked.gpus, ("--tokens-per-s", "--tokens-per-step or --global-batch", "--flops"))
    if asked.hardware_tflops is not None and asked.recompute is Recompute.NONE:
        raise InputError(
            "--hardware-tflops", "counts what is computed again: give --recompute full or selective, or else --tflops"
        )
    if asked.was_step_time_s is not None and asked.step_time_s is None:
        raise InputError("--was-step-time", "is held against the step time of now; give --step-time, too")


def _need(way: str, option: str, value: object, ways: tuple[str, ...]) -> None:
    if way in ways and value is None:
        raise InputError(option, f"is missing: {way} says how fast it goes only together with it")


def _check_shape(asked: MfuQuestion) -> None:
    """A formula that can be counted, unless the FLOPs themselves were given; no contradiction in the shape."""
    shape = asked.shape
    found = asked.formula or choose(shape)
    problem = problem_of(shape, found)
    if problem is not None:
        raise InputError(_option(problem[0]), problem[1])
    if asked.formula is not None and (lacks := missing(shape, asked.formula)):
        raise InputError("--formula", f"{asked.formula} needs {_options(lacks)}, too")
    given = (asked.model_tflops, asked.hardware_tflops, asked.model_flops, asked.was_mfu)
    if found is not None or any(value is not None for value in given):
        return
    if shape.params is not None:
        raise InputError(
            "--active-params",
            "is missing: of a mixture of experts only those parameters count that a token uses, not the "
            f"{shape.params:,.0f} of --params",
        )
    lacks = missing(shape, by_shape(shape))
    hint = f"; from its shape alone, {_options(lacks)} would be needed" if shape.layers or shape.hidden else ""
    raise InputError("--params", f"is missing: how large is the model? Write for example --params 13B{hint}")


def _option(field: str) -> str:
    return f"--{field.replace('_', '-')}"


def _options(fields: tuple[str, ...]) -> str:
    return ", ".join(map(_option, fields))
