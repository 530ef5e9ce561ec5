import numpy as np

from oddhop import HCM, Graph


def test_a_small_network_gets_a_score_for_every_node():
    rng = np.random.default_rng(0)
    graph = Graph.from_arrays(rng.integers(0, 50, (2, 150)), rng.normal(size=(50, 4)))
    scores = HCM(burn_in=20, samples=2, thin=2, chains=2, random_state=0).fit(graph).anomaly_scores_
    assert scores.shape == (50,)
    assert np.isfinite(scores).all()
