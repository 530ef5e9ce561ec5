"""A view that is named in the list of views is learned, joined, simulated, explained, kept and given as a feature."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import sys
import numpy as np
from oddhop.odd import all_views
from oddhop.odd.view import NodeView

def squares(nodes):
    wiring, judged = nodes.source.wiring, nodes.source.rows
    return wiring.around(wiring.given(wiring.degrees.all().astype(float)[:, None])).all()[judged, 0]

busy = NodeView("busy", weight=lambda apart: 2.0, figure=squares, has_bulk=True)
all_views.VIEWS += (busy,)
all_views.NODE_VIEWS += (busy,)
all_views.BULKS = (*all_views.BULKS[:-1], "busy", all_views.BULKS[-1])

from oddhop import Graph, Odd
from oddhop.odd.views import fit_views

rng = np.random.default_rng(0)
hub = np.stack([np.zeros(60, dtype=int), rng.permutation(np.arange(1, 400))[:60]])
graph = Graph.from_arrays(np.concatenate([rng.integers(0, 400, (2, 1_000)), hub], axis=1), rng.normal(size=(400, 3)))
evidence = fit_views(graph)[1]
assert evidence.log_p.shape == (6, 400)
assert evidence.log_p[5].argmin() == 0
np.testing.assert_array_equal(evidence.parts[5], -2.0 * evidence.log_p[5])
fitted = Odd(random_state=0, simulate=True, n_resamples=2).fit(graph)
assert "p_busy" in fitted.result_.column_names
assert fitted.result_["kind"][0].as_py() == "busy"
assert "busy score" in fitted.features().column_names
assert "busy" in [view.name for view in fitted.explain(0).views]
fitted.save(sys.argv[1])
again = Odd.load(sys.argv[1])
assert again.rank(graph).equals(fitted.result_)
assert fitted.model_.learned.chance is not None
print("done")
"""


def test_a_view_is_added_in_its_file_and_in_the_list(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT, str(tmp_path / "model.oddhop")]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr[-2_000:]
    assert "done" in ended.stdout
