"""Which peak is that of a printed name: never another one's, never a sparse one."""

from __future__ import annotations

import pytest

from healthcheck.edge.gpu_peaks import shipped_peaks
from healthcheck.errors import InputError
from healthcheck.model.vitals_mfu import Dtype
from healthcheck.parsing.gpu_peaks import parse_peaks
from healthcheck.vitals.peaks import near, peak_of, row_of


@pytest.mark.parametrize(
    ("printed", "gpu", "bf16"),
    [
        ("NVIDIA A100-SXM4-80GB", "A100", 312),
        ("NVIDIA A100-PCIE-40GB", "A100", 312),
        ("A800", "A800", 312),
        ("NVIDIA A800-SXM4-80GB", "A800", 312),
        ("NVIDIA H100 80GB HBM3", "H100 SXM", 989),
        ("NVIDIA H100 PCIe", "H100 PCIe", 756),
        ("NVIDIA H100 NVL", "H100 NVL", 835),
        ("NVIDIA H800", "H800 SXM", 989),
        ("NVIDIA H200", "H200 SXM", 989),
        ("NVIDIA H20", "H20", 148),
        ("NVIDIA H20-3e", "H20", 148),
        ("NVIDIA GH200 480GB", "GH200", 989),
        ("NVIDIA L40S", "L40S", 362),
        ("NVIDIA B200", "B200", 2250),
        ("NVIDIA GB200", "GB200", 2500),
        ("AMD Instinct MI300X", "MI300X", 1307),
        ("h100", "H100 SXM", 989),
    ],
)
def test_names_as_they_are_printed(printed: str, gpu: str, bf16: float) -> None:
    peak = peak_of(printed, Dtype.BF16, shipped_peaks())
    assert peak is not None
    assert (peak.gpu, peak.dense_tflops) == (gpu, bf16)
    assert peak.source.startswith("https://")


@pytest.mark.parametrize(
    "printed",
    [
        "NVIDIA L40",
        "NVIDIA H200 NVL",
        "NVIDIA H800 PCIe",
        "NVIDIA A100-SXM-64GB",
        "NVIDIA A100-SXM4-40GB MIG 1g.5gb",
        "GRID A100-40C",
        "NVIDIA A100X",
        "V100",
        "A100 and H100",
        "NVIDIA GeForce RTX 4090",
        "H2000",
        "",
        "---",
    ],
)
def test_what_is_not_known_has_no_peak(printed: str) -> None:
    assert peak_of(printed, Dtype.BF16, shipped_peaks()) is None
    assert near(printed, shipped_peaks())


def test_no_peak_in_a_dtype_the_gpu_has_not() -> None:
    for name in ("A100", "A800", "V100-SXM2-32GB"):
        assert peak_of(name, Dtype.FP8, shipped_peaks()) is None
    assert peak_of("V100-SXM2-32GB", Dtype.BF16, shipped_peaks()) is None
    v100 = peak_of("Tesla V100-SXM2-32GB", Dtype.FP16, shipped_peaks())
    assert v100 is not None and v100.dense_tflops == 125


def test_every_peak_is_dense() -> None:
    """The half-precision peaks printed with sparsity are twice the dense ones: none of them is in the table."""
    sparse = {624, 1979, 1513, 1671, 4500, 5000, 2610}
    for row in shipped_peaks():
        assert not sparse.intersection((row.dense_tflops.get(Dtype.BF16), row.dense_tflops.get(Dtype.FP16)))
        fp8, fp16 = row.dense_tflops.get(Dtype.FP8), row.dense_tflops[Dtype.FP16]
        assert fp8 is None or fp8 == pytest.approx(2 * fp16, rel=0.02)


def test_near_names_come_first_to_mind() -> None:
    assert near("NVIDIA L40", shipped_peaks()) == ("L40S",)
    assert "H200 SXM" in near("NVIDIA H200 NVL", shipped_peaks())
    assert row_of("L40", shipped_peaks()) is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("gpus: [{gpu: X, names: [X], dense_tflops: {bf16: 0}, source: 'https://a'}]", "above 0"),
        ("gpus: [{gpu: X, names: [X], dense_tflops: {bf16: .nan}, source: 'https://a'}]", "above 0"),
        ("gpus: [{gpu: X, names: [X], dense_tflops: {fp8: 1}, lacks: [fp8], source: 'https://a'}]", "lacks"),
        ("gpus: [{gpu: X, names: [X], dense_tflops: {bf16: 1}, source: somewhere}]", "address"),
        ("gpus: [{gpu: X, names: [X], dense_tflops: {bf16: 1}}]", "source"),
        ("gpus: [{gpu: X, names: [''], dense_tflops: {bf16: 1}, source: 'https://a'}]", "names"),
    ],
)
def test_a_wrong_table_is_told(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        parse_peaks(text, "peaks.yaml")
