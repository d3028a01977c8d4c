"""Texts about reaching hosts, pushing files and ending what was started (edge, simulator)."""

HOST_TEXTS: dict[str, str] = {
    "host.unreachable": "no answer on port {port}: {detail}",
    "host.unresolvable": "the name {address} does not resolve: {detail}",
    "host.login_refused": "login as {user} refused: {detail}",
    "host.key_unknown": "host key not in known_hosts ({fingerprint}); accept it with: {command}",
    "host.key_changed": "host key differs from known_hosts ({fingerprint}); if that is right: {command}",
    "host.connection_lost": "the connection broke after {seconds:.0f} s: {detail}",
    "host.may_still_run": "not reachable to look: processes of this run may still run there",
    "push.refused": "cannot copy files: {detail}",
    "host.no_exit_code": "its session was ended from outside: there is no exit code",
    "host.stop_unanswered": "no end reported within {seconds:.0f} s of being stopped: it may still run there",
    "host.deadline_unanswered": "silent past its deadline of {seconds:.0f} s: it may still run there",
    "host.session_refused": "logged in, but the server refused to run a command: {detail}",
    "host.config": "the ssh configuration for {address} cannot be used: {detail}",
    "host.files_limit": "{wanted} open files are needed for {hosts} hosts, {allowed} are allowed; "
    "raise it with: ulimit -n {wanted}, or use --parallel",
}
