"""Entry of the `healthcheck` command. Import-light; turns any crash of ours into exit 70 with a log to send."""

from __future__ import annotations

import sys


def _report_bug() -> int:
    """Keep the traceback in a private file and ask for it; a user never has to read one."""
    import tempfile
    import traceback
    from pathlib import Path

    with tempfile.NamedTemporaryFile(
        "w", prefix="healthcheck-bug-", suffix=".log", delete=False, encoding="utf-8"
    ) as log:
        traceback.print_exc(file=log)
    name = Path(log.name)
    sys.stderr.write(f"error: this is a bug of healthcheck, not of your cluster; please send us {name}\n")
    return 70


def main() -> None:
    """Run the command line and exit with the code of the contract."""
    sys.exit(run())


def run(arguments: list[str] | None = None) -> int:
    """Run the command line on `arguments` (default: sys.argv) and return the exit code."""
    from healthcheck.errors import HealthcheckError, Interrupted

    try:
        from healthcheck.cli.app import app

        app(args=arguments, standalone_mode=True)
    except SystemExit as exit_:
        return exit_.code if isinstance(exit_.code, int) else int(exit_.code is not None)
    except Interrupted as signal_:
        return 128 + signal_.signum
    except HealthcheckError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    except Exception:  # noqa: BLE001 - the last net: whatever is left is a bug of ours
        return _report_bug()
    return 0


if __name__ == "__main__":
    main()
