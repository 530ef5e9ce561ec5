"""What every detector must hold to: checks for any of them, and HCM beside a second implementation.

A detector here is an object with scikit-learn's parameters, ``fit(graph)``, and ``anomaly_scores_`` afterwards, one a
node, high is odd. What else it may offer (``predict``, ``score_samples``, ``save`` and ``load``, ``random_state``,
``contamination``, ``workers``) is checked where it is there. A plain function from graph and seed to scores is taken
with ``FunctionDetector``.
"""
