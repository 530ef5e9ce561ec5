"""What scikit-learn expects of a detector, and that nobody waits for scikit-learn to be imported."""

import inspect
import subprocess
import sys

import pytest
from sklearn.base import clone, is_outlier_detector
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted

from oddhop import Graph, Odd
from oddhop.base.settings import options_of
from oddhop.detector.registry import detector_named, settings_named
from oddhop.errors import SettingsError

FIT = """
import sys
import numpy as np
from oddhop import Graph, Odd
import oddhop.runs
rng = np.random.default_rng(0)
group = np.arange(400) % 2
left = np.repeat(np.arange(400), 6)
right = 2 * rng.integers(0, 200, left.size) + group[left]
Odd(random_state=0, top_k=1).fit(Graph.from_arrays([left, right], rng.normal(size=(400, 3)))).audit()
print(*[name for name in ("sklearn", "scipy.stats", "torch") if name in sys.modules])
"""


def test_a_fit_imports_neither_scikit_learn_nor_scipy_stats() -> None:
    told = subprocess.run([sys.executable, "-c", FIT], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == ""


def test_scikit_learn_takes_it_for_an_outlier_detector(small: Graph) -> None:
    detector = clone(Odd(top_k=3, random_state=0))
    assert is_outlier_detector(detector)
    assert make_pipeline(detector).get_params()["odd__top_k"] == 3
    with pytest.raises(NotFittedError, match="call fit first"):
        detector.predict(small)
    check_is_fitted(detector.fit(small), "threshold_")
    check_is_fitted(detector)


@pytest.mark.parametrize("name", ["odd", "hcm"])
def test_the_parameters_are_the_fields_of_the_settings(name: str) -> None:
    if name == "hcm":
        pytest.importorskip("torch")
    detector, settings = detector_named(name), settings_named(name)
    fields = options_of(settings)
    assert list(inspect.signature(detector).parameters) == [one.name for one in fields]
    assert detector().get_params() == {one.name: one.default for one in fields}
    assert detector().settings() == settings()
    assert detector.of(settings(top_k=3, max_memory="1GiB")).settings() == settings(top_k=3, max_memory=2**30)
    for one in fields:
        assert f"\n{one.name} : {one.sentence[:30]}" in (detector.__doc__ or "")
    with pytest.raises(TypeError, match="too many positional arguments"):
        detector(3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=rf"{detector.__name__}.__init__\(\) got an unexpected .* 'topk'"):
        detector(topk=3)  # type: ignore[call-arg]


@pytest.mark.parametrize("size", ["4x", "0", 0, -1, 1.5])
def test_a_limit_of_memory_that_is_none_is_refused(size: object, small: Graph) -> None:
    with pytest.raises(SettingsError, match=r"a size must be|must be a number of bytes"):
        Odd(max_memory=size).fit(small)  # type: ignore[arg-type]


def test_unknown_parameters_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"Odd has no parameter 'topk'; it has .*top_k"):
        Odd().set_params(topk=3)
