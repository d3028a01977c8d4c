"""Entry of the `healthcheck` command. Import-light; turns any crash of ours into exit 70 with a log to send."""

from __future__ import annotations

import os
import sys


def _report_bug() -> int:
    """Keep the traceback in a private file and ask for it; a user never has to read one."""
    import tempfile
    import traceback
    from pathlib import Path

    from healthcheck.cli.exits import EXIT_BUG, say

    where: Path | str = "what stands above"
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="healthcheck-bug-", suffix=".log", delete=False, encoding="utf-8", errors="backslashreplace"
        ) as log:
            traceback.print_exc(file=log)
        where = Path(log.name)
    except OSError:
        # No place for a log either: then the traceback itself is the log.
        say(traceback.format_exc())
    say(f"error: this is a bug of healthcheck, not of your cluster; please send us {where}")
    return EXIT_BUG


def main() -> None:
    """Run the command line and exit with the code of the contract."""
    # One that takes rights from the owner would have us write files that we cannot read again.
    os.umask(os.umask(0o077) & 0o077)
    sys.exit(run())


def run(arguments: list[str] | None = None) -> int:
    """Run the command line on `arguments` (default: sys.argv) and return the exit code."""
    from healthcheck.errors import HealthcheckError, Interrupted, StoreError

    try:
        from healthcheck.cli.app import app

        app(args=arguments, standalone_mode=True)
    except SystemExit as exit_:
        return exit_.code if isinstance(exit_.code, int) else int(exit_.code is not None)
    except Interrupted as signal_:
        return 128 + signal_.signum
    except HealthcheckError as error:
        from healthcheck.cli.exits import EXIT_INCONCLUSIVE, EXIT_INPUT, say

        say(f"error: {error}")
        # A results folder that fails in the middle of a run leaves something unmeasured or untold.
        return EXIT_INCONCLUSIVE if isinstance(error, StoreError) else EXIT_INPUT
    except OSError as error:
        # Such as a page of help that the disk under stdout has no room for.
        from healthcheck.cli.exits import EXIT_INCONCLUSIVE, drop_unwritten, lacking, say

        if (what := lacking(error)) is None:
            return _report_bug()
        drop_unwritten()
        say(f"error: cannot write what was asked for: {what}")
        return EXIT_INCONCLUSIVE
    except RuntimeError as error:
        from healthcheck.cli.exits import EXIT_INCONCLUSIVE, lacking, say

        if (what := lacking(error)) is None:
            return _report_bug()
        say(f"error: {what}: this machine has a limit on processes that is too low for healthcheck (ulimit -u)")
        return EXIT_INCONCLUSIVE
    except Exception:  # noqa: BLE001 - the last net: whatever is left is a bug of ours
        return _report_bug()
    return 0


if __name__ == "__main__":
    main()
