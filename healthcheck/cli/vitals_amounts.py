"""Options of `healthcheck vitals` that are written as people write amounts, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def amount(option: str, text: str | None, read: Callable[[str], float]) -> float | None:
    """The value of an option, None where it was not given; InputError with its name for what cannot be read."""
    from healthcheck.errors import InputError

    if text is None:
        return None
    try:
        return read(text)
    except ValueError as error:
        raise InputError(option, str(error)) from None


def only_one(given: Sequence[tuple[str, object]], what: str) -> str | None:
    """The one option of `given` (name, value) that was given, None for none; InputError for several."""
    from healthcheck.errors import InputError

    names = [name for name, value in given if value is not None]
    if len(names) > 1:
        raise InputError(names[1], f"says {what} a second time, beside {names[0]}; give one of them")
    return names[0] if names else None
