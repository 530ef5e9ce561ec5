"""One cluster for all tests: that of ODDHOP_CLUSTER, or one brought up for them."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from oddhop.base.parallel import Mapper
from oddhop.base.ray import cluster
from tests.cluster.machines import ADDRESS, Machines, brought_up, entered


@pytest.fixture(scope="session")
def machines() -> Iterator[Machines]:
    if importlib.util.find_spec("ray") is None:
        pytest.skip("Ray is not installed: pip install 'oddhop[ray]'")
    if os.name != "posix" or os.geteuid() != 0:
        pytest.skip("only root can make machines of network namespaces")
    if running := os.environ.get("ODDHOP_CLUSTER"):
        yield Machines(Path(running))
        return
    with brought_up() as machines:
        yield machines


@pytest.fixture(scope="session")
def driver(machines: Machines) -> Iterator[Mapper]:
    """Return a mapper on the cluster; this process is the driver, and on the head."""
    with pytest.MonkeyPatch.context() as patch, entered(machines):
        for name, value in machines.environment().items():
            patch.setenv(name, value)
        with cluster(ADDRESS) as run:
            yield run
