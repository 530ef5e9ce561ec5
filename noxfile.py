"""The long form of the fault and fuzz harness: ``nox -s soak``, or a part: ``nox -s soak -- fuzz --minutes 20``."""

import nox

nox.options.default_venv_backend = "none"  # the environment that oddhop is installed in


@nox.session
def soak(session: nox.Session) -> None:
    """Kill, starve and mislead oddhop for hours; benchmarks/reliability.md has what came of it."""
    session.run("python", "-W", "ignore", "-m", "tests.soak", *session.posargs, external=True)


@nox.session
def mutate(session: nox.Session) -> None:
    """Put faults into changed lines, one at a time, and list those that no test sees."""
    session.run("python", "-W", "ignore", "-m", "tests.soak.mutate", *session.posargs, external=True)
