"""A command line that cannot be read is one sentence, like every other bad input: which option, and what is right."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from typer.core import TyperGroup

from healthcheck.errors import InputError


class OneSentence(TyperGroup):
    """A group of commands whose usage errors are InputErrors instead of a page of usage."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the command line; ends the process as typer does, but leaves what is wrong to `__main__` to tell."""
        import typer

        try:
            code = super().main(args, prog_name or "healthcheck", complete_var, False, windows_expand_args, **extra)
        except typer.TyperException as error:
            show_help = getattr(error, "show", None)
            if type(error).__name__ == "NoArgsIsHelpError" and show_help is not None:
                show_help()
                sys.exit(2)
            raise _as_input_error(error) from None
        if not standalone_mode:
            return code
        sys.exit(code if isinstance(code, int) else 0)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is named; InputError with the nearest name for one that does not exist."""
        name = args[0]
        if name not in self.commands and not name.startswith("-"):
            known = list(self.commands)
            raise InputError(ctx.command_path, f"there is no command {name!a}{_near(name, known)}")
        return super().resolve_command(ctx, args)


def _as_input_error(error: Exception) -> InputError:
    """What is wrong, under the name of the option or argument where there is one."""
    context = getattr(error, "ctx", None)
    command = getattr(context, "command_path", "") or "healthcheck"
    message = str(getattr(error, "message", "") or "")
    option = _printable(str(getattr(error, "option_name", "")))
    if hasattr(error, "possibilities"):
        return InputError(f"{command} {option}", f"there is no such option{_near(option, _options(context))}")
    if option:
        # "Option '--json' does not take a value."
        said = message.partition(f"'{option}' ")[2] or message
        return InputError(option, f"{_plain(said)}; see {command} --help")
    parameter = getattr(error, "param", None)
    if parameter is not None:
        about = (getattr(parameter, "help", "") or "").rstrip(".")
        if hasattr(error, "param_type"):
            return InputError(_name(parameter, command), f"is missing{f': {about}' if about else ''}")
        return InputError(_name(parameter, command), f"{_plain(message)}{f' ({about})' if about else ''}")
    return InputError(command, f"{_plain(message)}; see {command} --help")


def _name(parameter: Any, command: str) -> str:
    options = [word for word in parameter.opts if word.startswith("-")]
    return " / ".join(options) if options else f"{command} {parameter.metavar or parameter.name}"


def _options(context: Any) -> list[str]:
    parameters = context.command.params if context is not None else []
    return [word for parameter in parameters for word in parameter.opts if word.startswith("--")]


def _plain(message: str) -> str:
    """The words of the parser in the voice of all others."""
    text = (
        _printable(message).strip().rstrip(".").replace("Input should be", "must be").replace("an argument", "a value")
    )
    text = text.partition(", unable to")[0].replace("a valid integer", "a whole number").replace("valid ", "")
    return text[:1].lower() + text[1:]


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def _near(name: str, known: list[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    if near:
        return f"; did you mean {near[0]}?"
    return f"; there are {', '.join(known)}" if known and not name.startswith("-") else "; --help lists what there is"
