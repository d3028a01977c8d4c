"""Finds the equations of a page, `8 x 25 = 200`, and computes them again."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct

PAGE = Path(__file__).parents[2] / "docs" / "bandwidth.md"
_SPAN = re.compile(r"`([^`\n]+)`")
_RESULT = re.compile(r"(?P<number>\d+(?:\.\d+)?(?:e\d+)?)(?P<percent> %)?")
_BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


class Equation(Struct, frozen=True):
    """`left` = `right`, both as written."""

    left: str
    right: str

    @property
    def holds(self) -> bool:
        """Within half of the last digit that is written."""
        result = _RESULT.fullmatch(self.right)
        assert result is not None, f"no number: {self.right}"
        scale = 100 if result["percent"] else 1
        mantissa, _, exponent = result["number"].partition("e")
        _, _, decimals = mantissa.partition(".")
        step = 10.0 ** (int(exponent or 0) - len(decimals))
        return abs(scale * value(self.left) - float(result["number"])) <= step / 2 * (1 + 1e-9)


def value(text: str) -> float:
    """Numbers, + - x /, brackets and min( , ); ValueError for anything else."""

    def of(part: ast.expr) -> float:
        if isinstance(part, ast.Constant) and isinstance(part.value, int | float):
            return float(part.value)
        if isinstance(part, ast.BinOp) and type(part.op) in _BINARY:
            return _BINARY[type(part.op)](of(part.left), of(part.right))
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id == "min":
            return min(of(one) for one in part.args)
        raise ValueError(f"cannot be computed: {text}")

    found = of(ast.parse(re.sub(r" x ", " * ", text), mode="eval").body)
    assert math.isfinite(found)
    return found


def equations(text: str) -> Iterator[Equation]:
    """Every span with a sum, a product or a ratio that has a result."""
    for span in _SPAN.findall(text):
        if re.search(r"\d\)? = \d", span):
            left, _, right = span.rpartition(" = ")
            yield Equation(left, right)
