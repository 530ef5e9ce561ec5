"""What all detectors have. Names that scikit-learn owns mean what scikit-learn means by them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, Unpack, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from oddhop.base.arrays import Floats, Ints
from oddhop.base.notebook import shown_progress
from oddhop.base.parallel import Progress, available_workers, silent
from oddhop.base.settings import checked, described, takes
from oddhop.detector.cases import HasCases
from oddhop.detector.contract import FitRun
from oddhop.detector.cost import Cost, Size, check_memory
from oddhop.detector.estimator import Estimator, check_is_fitted
from oddhop.detector.fit_folder import begun, check_judged
from oddhop.detector.fit_partitions import FitsPartitions
from oddhop.detector.flagging import budget, threshold
from oddhop.detector.frames import AsFrames
from oddhop.detector.model_file import Model, load_model, save_model
from oddhop.detector.ranking import check_finite
from oddhop.detector.result_table import Judgement, result_table
from oddhop.detector.settings import DetectorSettings
from oddhop.detector.shown import fitted_html, loaded_html, new_html
from oddhop.errors import GraphError, NothingToLearnError
from oddhop.explain.audit import Finding, audit_ranking
from oddhop.explain.explanation import Baseline, Explanation, alert_line
from oddhop.graph.graph import Graph
from oddhop.tables.encode import Encoding
from oddhop.tables.network import Network, as_network, network_of_tables
from oddhop.tables.settings import PLAIN, EncodeSettings, ReadOptions, ReadSettings, TableOptions
from oddhop.version import __version__

OF_THE_FIT = ("anomaly_scores_", "anomaly_std_", "result_", "network_", "diagnostics_")


class GraphDetector(Estimator, AsFrames, FitsPartitions, HasCases):
    """Base class of the detectors; a detector adds :class:`~oddhop.detector.contract.DetectorParts`.

    Attributes
    ----------
    anomaly_scores_ : one score a judged node, high is odd; ``anomaly_std_`` is how far a fresh run's may lie from it.
    result_ : a pyarrow table with one row a node, the highest score first, by the ids of the network.
    threshold_, offset_ : nodes that score above ``threshold_`` are flagged; ``offset_`` is its negative.
    seed_, network_, model_ : the seed that was used, the network that was fitted, what ``save`` writes.
    """

    threshold_: float
    offset_: float
    seed_: int
    anomaly_scores_: Floats
    anomaly_std_: Floats
    result_: pa.Table
    network_: Network
    flags_anew_: bool = False

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "{settings}" in (cls.__doc__ or ""):
            cls.__doc__ = described(cls.__doc__, cls.settings_type)

    @classmethod
    def of(cls, settings: DetectorSettings) -> Self:
        """Return a detector with these settings."""
        return cls(**dict(settings))

    def settings(self) -> Any:
        """Return the settings, checked."""
        return checked(self.settings_type, self.get_params())

    @takes(ReadSettings, EncodeSettings)
    def fit(
        self,
        network: Any,
        y: Any = None,  # noqa: ARG002 - scikit-learn's signature
        *,
        nodes: Any = None,
        run_folder: str | os.PathLike[str] | None = None,
        resume: bool = False,
        progress: Progress | None = None,
        **options: Unpack[TableOptions],
    ) -> Self:
        """Learn from a network and score its nodes.

        Parameters
        ----------
        network : a :class:`~oddhop.Graph`, a :class:`~oddhop.Network`, a NetworkX graph or a ``Data`` of PyTorch
            Geometric; or with ``nodes`` an edge table.
        y : ignored.
        nodes : the node table. Both tables may be paths, or pandas, Polars or Arrow frames, see
            :func:`oddhop.read_network`.
        run_folder : where checkpoints are kept; a killed fit goes on with ``resume=True`` to the same bits.
        progress : called with (stage, done, total). Left out, a fit of more than two seconds shows a bar in a
            notebook, and nothing elsewhere.
        {settings}
        """
        with shown_progress(progress) as tell:
            taken = as_network(network, nodes, max_memory=self.settings().memory, progress=tell, **options)
            return self._fit(taken, run_folder, resume, tell)

    def _fit(self, taken: Network, run_folder: str | os.PathLike[str] | None, resume: bool, progress: Progress) -> Self:
        settings = self.settings()
        graph = taken.graph
        if graph.edge_count == 0:
            raise NothingToLearnError(f"{graph!r} has no edges", "give at least one edge")
        check_judged(graph.kinds, graph.indptr)
        self._check_memory(graph, settings, in_folder=run_folder is not None)
        workers = settings.workers or available_workers()
        with begun(settings, {"data": graph.fingerprint}, run_folder, resume=resume) as (settings, seed, folder):
            run = FitRun(settings, seed, workers, folder, progress, taken.folder)
            learned, judgement = self._learn(replace(graph, keys=taken.keys), run)
        degrees = graph.degrees[graph.judged]
        known = graph.fingerprint, settings, seed
        self._take(taken.judged_ids, degrees, *known, learned, judgement, taken.encoding, taken.read)
        self.network_ = taken
        return self

    def flagging(self, *, top_k: int | None = None, max_chance: float | None = None) -> Self:
        """Return a fitted copy that flags this many nodes of each network, instead of using its threshold.

        The threshold of the copy is then that of the network that it ranked last. ``result_`` stays as it was at the
        fit: call ``rank`` for a table with the new flags.

        Examples
        --------
        >>> import numpy as np
        >>> from oddhop import Graph, Odd
        >>> rng = np.random.default_rng(0)
        >>> one, two = (Graph.from_arrays(rng.integers(0, 60, (2, 200)), rng.normal(size=(60, 3))) for _ in range(2))
        >>> fitted = Odd(random_state=0).fit(one)
        >>> int(np.sum(fitted.flagging(top_k=5).rank(two)["flagged"]))
        5
        """
        check_is_fitted(self, "threshold_")
        unset = {name: None for name in ("top_k", "max_chance") if name in self.settings_type.model_fields}
        asked = {name: value for name, value in (("top_k", top_k), ("max_chance", max_chance)) if value is not None}
        settings = {**self.model_.settings.model_dump(), **unset, "contamination": "auto", **asked}
        other = copy(self)
        other.model_ = replace(self.model_, settings=checked(self.settings_type, settings))
        other.flags_anew_ = True
        return other

    def flag_above(self, line: float) -> None:
        """Set the threshold to ``line``; it is saved with the model."""
        check_is_fitted(self, "threshold_")
        self.threshold_, self.offset_ = line, -line
        self.model_ = replace(self.model_, threshold=line)

    @takes(ReadSettings)
    def rank(
        self, network: Any, *, nodes: Any = None, progress: Progress = silent, **options: Unpack[ReadOptions]
    ) -> pa.Table:
        """Score another network with the same attributes; return a table like ``result_``.

        With ``nodes``, both are tables, and the options of reading are those of :meth:`fit`.
        """
        check_is_fitted(self, "threshold_")
        taken = self.read(network, nodes, progress, **options)
        check_judged(taken.graph.kinds, taken.graph.indptr)
        self._check_memory(taken.graph, self.settings(), in_folder=False, fitting=False)
        judgement = self._judge(replace(taken.graph, keys=taken.keys), progress)
        if self.flags_anew_:
            self.model_ = replace(self.model_, threshold=self._flag(judgement, self.model_.settings))
        return result_table(taken.judged_ids, taken.graph.degrees[taken.graph.judged], judgement, self.threshold_)

    def score_samples(self, network: Any, *, nodes: Any = None) -> Floats:
        """Return the negative anomaly score of every node: as in scikit-learn, low is anomalous.

        With ``nodes``, both are tables, as in :meth:`rank`. Scores are in the order of the ids of the network, which
        are sorted, and not in that of the rows. :meth:`rank` returns scores with their ids.
        """
        check_is_fitted(self, "threshold_")
        graph = self.read(network, nodes, silent).graph
        self._check_memory(graph, self.settings(), in_folder=False, fitting=False)
        scores = self._scores(graph)
        check_finite(scores)
        return -scores

    def decision_function(self, network: Any, *, nodes: Any = None) -> Floats:
        """Return ``score_samples(network) - offset_``: negative for flagged nodes.

        With no threshold (contamination="auto" and no top_k) every node is infinitely far from it.
        """
        check_is_fitted(self, "threshold_")
        taken = self.read(network, nodes, silent)
        if self.flags_anew_:
            self.rank(taken)  # which sets the threshold for this network
        return self.score_samples(taken) - self.offset_

    def predict(self, network: Any, *, nodes: Any = None) -> Ints:
        """Return -1 for flagged nodes and +1 for the others, in the order of :meth:`score_samples`."""
        return np.where(self.decision_function(network, nodes=nodes) < 0, -1, 1)

    def fit_predict(self, network: Any, y: Any = None, *, nodes: Any = None) -> Ints:  # noqa: ARG002 - scikit-learn's
        """Fit, and return -1 for flagged nodes and +1 for the others, in the order of :meth:`score_samples`."""
        return self.fit(network, nodes=nodes).predict(self.network_)

    if TYPE_CHECKING:  # typing keeps overloads to the end, and with torch all that they refer to, DuckDB's types too

        @overload
        def explain(
            self, ids: str | int, network: Any = ..., *, result: pa.Table | None = ..., progress: Progress = ...
        ) -> Explanation: ...

        @overload
        def explain(
            self, ids: Any, network: Any = ..., *, result: pa.Table | None = ..., progress: Progress = ...
        ) -> Any: ...

    def explain(
        self,
        ids: Any,
        network: Any = None,
        *,
        result: pa.Table | None = None,
        progress: Progress = silent,
    ) -> Any:
        """Return why a node has its score: one :class:`~oddhop.explain.explanation.Explanation`, or a list of them.

        Parameters
        ----------
        ids : the id of a node, or several.
        network : the network; left out, the one that was fitted.
        result : the table that ranks it. By default ``result_``, or a new table for another network.
        """
        network, result = self._ranked(network, result)
        several = isinstance(ids, Sequence | np.ndarray | pa.Array | pa.ChunkedArray) or hasattr(ids, "to_numpy")
        one = isinstance(ids, str | bytes) or not several
        found = list(self.explain_nodes(network, result, network.numbers([ids] if one else ids), progress=progress))
        return found[0] if one else found

    def explain_nodes(
        self, network: Network, result: pa.Table, nodes: Ints, *, progress: Progress = silent
    ) -> Iterator[Explanation]:
        """Explain nodes by their numbers, one after the other, to save memory."""
        workers = self.get_params().get("workers") or self.model_.settings.workers or available_workers()
        return self._explain(network, nodes, self.baseline(result), workers, progress)

    def explain_again(
        self,
        network: Network,
        result: pa.Table,
        nodes: Ints,
        before: Sequence[Explanation],
        *,
        progress: Progress = silent,
    ) -> list[Explanation]:
        """Explain nodes that were explained with another threshold: again if it makes them alerts, or did."""
        line = self.baseline(result)
        changed = [k for k, why in enumerate(before) if line.alerts(why.score) or why.baseline.alerts(why.score)]
        fresh = dict(zip(changed, self.explain_nodes(network, result, nodes[changed], progress=progress), strict=True))
        return [fresh.get(k, replace(why, baseline=line)) for k, why in enumerate(before)]

    def baseline(self, result: pa.Table) -> Baseline:
        """Return what is typical in a result of this detector, and the alert threshold."""
        judged = result.filter(result["judged"])
        line = alert_line(judged["score"].to_numpy(), self.threshold_, self._top(result))
        return self._baseline(judged, line)

    def audit(self, network: Any = None, result: pa.Table | None = None) -> tuple[Finding, ...]:
        """Compare a ranking with trivial ones, and return how far it can be trusted."""
        network, result = self._ranked(network, result)
        graph, order = network.graph, np.argsort(network.numbers(result["id"]))
        score, judged = (result[name].to_numpy(zero_copy_only=False)[order] for name in ("score", "judged"))
        ending = self._ending(result)
        own = (*self._audit(result, self._top(result)), *([] if ending is None else [ending]))
        return audit_ranking(graph, self._prepared(graph), score, judged, own)

    def ending(self, result: pa.Table | None = None) -> Finding | None:
        """Return how many nodes of a result stand out; None if the detector does not know.

        Examples
        --------
        >>> import numpy as np
        >>> from oddhop import Graph, Odd
        >>> rng = np.random.default_rng(0)
        >>> graph = Graph.from_arrays(rng.integers(0, 400, (2, 1200)), rng.normal(size=(400, 3)))
        >>> Odd(random_state=0).fit(graph).ending().figure
        0.0
        """
        check_is_fitted(self, "threshold_")
        return self._ending(self.result_ if result is None else result)

    def features(self, network: Any = None) -> pa.Table:
        """Return the features of every node for a learner: a table with ``id`` and one column for each feature.

        Examples
        --------
        >>> import numpy as np
        >>> from oddhop import Graph, Odd
        >>> rng = np.random.default_rng(0)
        >>> graph = Graph.from_arrays(rng.integers(0, 60, (2, 200)), rng.normal(size=(60, 3)))
        >>> Odd(random_state=0).fit(graph).features().column_names[:6]
        ['id', 'stranger score', 'outlier score', 'clique score, adjusted for degree', 'clique score', 'triangles']
        """
        check_is_fitted(self, "threshold_")
        taken = self.network_ if network is None else self.read(network, None, silent)
        degrees = taken.graph.degrees[taken.graph.judged].astype(np.float64)
        return pa.table({"id": taken.judged_ids, **self._features(taken.graph), "degree": degrees})

    def cost(self, network: Network | Graph | Size) -> Cost:
        """Estimate the memory of a fit on a network, or on one of that size."""
        settings = self.settings()
        size = network if isinstance(network, Size) else Size.of(as_network(network).graph)
        workers = settings.workers or available_workers()
        return self._memory(size, settings, workers, in_folder=size.mapped)

    def save(self, path: str | os.PathLike[str], *, encoding: Encoding | None = None) -> None:
        """Write the fitted model to a file. The file has no code, and every part has a checksum.

        The file says how the columns of a table become the attributes, where the network came from tables, so that
        later tables are read alike. ``encoding`` says so for a network made of arrays.
        """
        check_is_fitted(self, "threshold_")
        model = self.model_ if encoding is None else replace(self.model_, encoding=encoding)
        save_model(path, self.name, self.schema, model, self._to_parts(model.learned))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model file. It scores networks; the scores of the network that was fitted are not in it.

        Examples
        --------
        >>> import numpy as np, tempfile
        >>> from oddhop import Graph, Odd
        >>> rng = np.random.default_rng(0)
        >>> graph = Graph.from_arrays(rng.integers(0, 60, (2, 200)), rng.normal(size=(60, 3)))
        >>> fitted = Odd(random_state=0).fit(graph)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     fitted.save(f"{folder}/model.oddhop")
        ...     loaded = Odd.load(f"{folder}/model.oddhop")
        >>> bool((loaded.score_samples(graph) == -fitted.anomaly_scores_).all())
        True
        """
        model = load_model(path, cls.name, cls.schema, cls.settings_type, cls._from_parts)
        detector = cls.of(model.settings)
        detector.model_ = model
        detector.seed_ = model.seed
        detector.threshold_, detector.offset_ = model.threshold, -model.threshold
        return detector

    def _repr_html_(self) -> str:
        if "model_" not in vars(self):
            return new_html(repr(self))
        if "result_" not in vars(self):
            return loaded_html(repr(self), self.model_)
        line, top = self.baseline(self.result_).threshold, self._top(self.result_)
        return fitted_html(repr(self), self.model_, self.result_, self.ending(), alert_threshold=line, top=top)

    def __getattr__(self, name: str) -> Any:
        if name in OF_THE_FIT and "model_" in vars(self):
            raise AttributeError(
                f"this {type(self).__name__} was loaded from a file and has no {name}, because a model file has no "
                "network; call rank(network) for the results of a network, or explain(id, network=network)"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _take(
        self,
        ids: pa.Array,
        degrees: Ints,
        fingerprint: str,
        settings: Any,
        seed: int,
        learned: Any,
        judgement: Judgement,
        encoding: Encoding | None,
        read: ReadSettings = PLAIN,
    ) -> None:
        """Take over what a fit came to: flag the nodes, make the table, and be fitted."""
        ranking = judgement.ranking
        line = self._flag(judgement, settings)
        self.seed_ = seed
        self.anomaly_scores_, self.anomaly_std_ = ranking.score, ranking.std
        self.result_ = result_table(ids, degrees, judgement, line)
        self.model_ = Model(settings, seed, learned, line, fingerprint, __version__, encoding, PLAIN.like(read))

    def _flag(self, judgement: Judgement, settings: Any) -> float:
        """Set the threshold so that as many nodes are flagged as the settings say."""
        head = judgement.ranking.top if judgement.head is None else judgement.head
        line = threshold(judgement.ranking.score, judgement.judged, head) if settings.flags else float("inf")
        self.threshold_, self.offset_ = line, -line
        return line

    @takes(ReadSettings)
    def read(
        self, network: Any, nodes: Any = None, progress: Progress = silent, **options: Unpack[ReadOptions]
    ) -> Network:
        """Return a network to score. Tables, which come with ``nodes``, are read with the encoding of the model.

        The options of reading are those of the fit where the model keeps them, such as the names of columns.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from oddhop import Odd
        >>> edges = pa.table({"from": ["a", "b", "c"], "to": ["b", "c", "d"]})
        >>> people = pa.table({"id": ["a", "b", "c", "d"], "age": [30, 40, 50, 60]})
        >>> Odd(random_state=0).fit(edges, nodes=people).read(edges, people).judged_ids.to_pylist()
        ['a', 'b', 'c', 'd']
        """
        if nodes is None:
            return self._encoded_alike(as_network(network, **options))
        alike = checked(ReadSettings, options).like(self.model_.read)
        known, limit = self.model_.encoding, self.settings().memory
        how = alike, EncodeSettings()
        return network_of_tables(network, nodes, *how, encoding=known, max_memory=limit, progress=progress)

    def _ranked(self, network: Any, result: pa.Table | None) -> tuple[Network, pa.Table]:
        check_is_fitted(self, "threshold_")
        if network is None:
            return self.network_, self.result_ if result is None else result
        taken = self._encoded_alike(network)
        return taken, self.rank(taken) if result is None else result

    def _encoded_alike(self, network: Any) -> Network:
        """Take a network to score; its columns must mean what those of the fitted network meant."""
        taken, own = as_network(network), self.model_.encoding
        if own is not None and taken.encoding is not None and taken.encoding.columns != own.columns:
            raise GraphError(
                "the columns of this network are encoded in another way than those of the network that was fitted",
                "read the tables with read_network(..., encoding=detector.model_.encoding), or give them to rank, "
                "score_samples or predict as (edges, nodes=...)",
            )
        return taken

    def _result_with_kept(self) -> pa.Table:
        check_is_fitted(self, "threshold_")
        # A fit over partitions holds no network.
        return self.network_.with_kept(self.result_) if "network_" in vars(self) else self.result_

    def _top(self, result: pa.Table) -> int:
        return budget(self.model_.settings, pc.sum(result["judged"]).as_py() or 0)

    def _check_memory(self, graph: Graph, settings: Any, *, in_folder: bool, fitting: bool = True) -> None:
        workers = settings.workers or available_workers()
        cost = self._memory(Size.of(graph), settings, workers, in_folder=in_folder)
        if not fitting:  # networks are not trained on again, nor simulated
            scoring = {name: need for name, need in cost.memory.items() if name == "scoring"}
            cost = replace(cost, memory=scoring or {k: need for k, need in cost.memory.items() if k != "simulations"})
        check_memory(cost, settings.memory, f"{type(self).__name__} on {graph!r}")
