"""What changed between two runs: who is newly odd, who no longer is, who moved, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.errors import RunFolderError
from oddhop.runs import folder as files
from oddhop.runs.drift import NAMED, Drift, drift_of
from oddhop.runs.reasons import Reasons, reasons_of
from oddhop.runs.state import State, read_state

FIRST = 50
NEWLY, NEW, MOVED, NO_LONGER, GONE = "newly odd", "new node", "moved", "no longer odd", "gone"
LISTED = "newly listed"
"""On the list for the first time, though neither the node nor its neighbours changed: nothing to be alarmed at."""
DECIDED = ("cleared", "confirmed")
SCHEMA = {
    "what": pa.string(),
    "rank_then": pa.int64(),
    "rank_now": pa.int64(),
    "score_then": pa.float64(),
    "score_now": pa.float64(),
    "kind_then": pa.string(),
    "kind_now": pa.string(),
    "why": pa.string(),
}
NEEDED = {
    **dict.fromkeys(("rank", "rank_low", "rank_high"), pa.types.is_integer),
    **dict.fromkeys(("judged", "flagged"), pa.types.is_boolean),
    "score": pa.types.is_floating,
}


@dataclass(frozen=True, eq=False)
class Comparison:
    """What changed between two runs.

    Attributes
    ----------
    table : one row a node that changed: ``id``, ``what``, rank, score and kind then and now, and ``why``.
    counts : how many nodes of every sort there are, those that are not listed too.
    drift : how far the data moved, and whether the model should be fitted again.
    sentences : all of it in words.
    flagged : whether one of the runs flagged nodes; else the lists are those of the first ranks.
    """

    table: pa.Table
    counts: Mapping[str, int]
    drift: Drift
    sentences: tuple[str, ...]
    flagged: bool

    @property
    def has_new_anomalies(self) -> bool:
        """Whether the new run flags a node that is new, or that the old run does not flag and that has changed."""
        return self.flagged and self.counts[NEWLY] + self.counts[NEW] > 0


@dataclass(frozen=True, eq=False)
class Side:
    """One of two runs: its folder, its manifest, its results, and what it keeps of its nodes."""

    folder: Path
    manifest: Mapping[str, Any]
    result: pa.Table
    state: State | None

    @property
    def model(self) -> Any:
        """The sha256 of the model that ranked; a budget of its own gives a scored run another model file."""
        return self.manifest.get("model") or self.manifest["files"].get(files.MODEL)

    @property
    def judged(self) -> str | None:
        """The kind of node that was judged, empty where there is one; None where that is not known."""
        return None if self.state is None else self.state.judged

    def listed(self, flagged: bool) -> Bools:
        """Tell who is on the list: the flagged ones, or else the first 50."""
        column = self.result["flagged"] if flagged else pc.less_equal(self.result["rank"], FIRST)
        return np.asarray(pc.and_(column, self.result["judged"]).to_numpy(), dtype=bool)

    def scores(self) -> Floats:
        """Return the scores of the judged nodes."""
        return np.asarray(self.result.filter(self.result["judged"])["score"].to_numpy(), dtype=np.float64)


def compare(old: str | Path, new: str | Path) -> Comparison:
    r"""Return what changed between two runs of ``detect`` or ``score``, from their folders.

    On the list of a run are its flagged nodes; where neither run flagged any, the first 50. A node that is on both
    lists moved if its new rank lies outside its old rank interval. Of the nodes that only one run has, those on its
    list are in the table, and the others are counted.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from oddhop.runs import compare, fit, score
    >>> with tempfile.TemporaryDirectory() as home:
    ...     edges, nodes, model = Path(home, "edges.csv"), Path(home, "nodes.csv"), Path(home, "model.oddhop")
    ...     _ = edges.write_text("from,to\na,b\nb,c\nc,d\na,d\na,c\n")
    ...     _ = nodes.write_text("name,age\na,31\nb,25\nc,40\nd,33\n")
    ...     _ = fit(str(edges), str(nodes), model=model)
    ...     monday = score(model, str(edges), str(nodes), out=Path(home, "monday"))
    ...     _ = nodes.write_text("name,age\na,31\nb,25\nc,40\nd,33\ne,90\n")
    ...     tuesday = score(model, str(edges), str(nodes), out=Path(home, "tuesday"))
    ...     compare(monday.folder, tuesday.folder).counts["new nodes"]
    1
    """
    then, now = open_side(old), open_side(new)
    check_alike(then, now.manifest, now.judged)
    return compare_sides(then, now)


def open_side(folder: str | Path) -> Side:
    """Read a complete run; one that was changed since is refused."""
    folder = Path(folder)
    manifest = files.read_run(folder)
    if not _tells_enough(manifest):
        raise RunFolderError(
            f"the manifest of {folder} has no figures for a comparison", "restore it from a copy or run again"
        )
    result = files.read_results(folder, manifest)
    kept = result.schema
    wrong = [name for name, right in NEEDED.items() if name not in kept.names or not right(kept.field(name).type)]
    if wrong or "id" not in kept.names or not result.num_rows or any(result[name].null_count for name in NEEDED):
        raise RunFolderError(f"the results of {folder} are damaged", "restore it from a copy or run again")
    return Side(folder, manifest, result, read_state(folder, manifest))


def check_alike(old: Side, manifest: Mapping[str, Any], judged: str | None) -> None:
    """Refuse to compare with a run of another detector, another judged kind or other columns."""
    again = "run both with the same detector and kind, or compare two other runs"
    was, now = old.manifest["detector"], manifest["detector"]
    if was != now:
        raise RunFolderError(f"the run in {old.folder} used {was} and the new run used {now}", again)
    if None not in (old.judged, judged) and old.judged != judged:
        raise RunFolderError(
            f"the run in {old.folder} judges {old.judged or 'the only kind'!r} and the new one "
            f"{judged or 'the only kind'!r}",
            again,
        )
    before, after = (_columns(one) for one in (old.manifest, manifest))
    if before != after:
        parts = [("lacks", before - after), ("adds", after - before)]
        said = " and ".join(f"{verb} {', '.join(map(repr, sorted(names)))}" for verb, names in parts if names)
        raise RunFolderError(
            f"the new run has other columns than the run in {old.folder}: it {said}",
            "give both the same columns, or compare with a run that has these",
        )


def compare_sides(old: Side, new: Side) -> Comparison:
    """Compare two runs that were opened and found alike."""
    then, now = _ids(old, new)
    in_old = pc.index_in(now, value_set=then)
    place = np.asarray(pc.fill_null(in_old, -1).to_numpy(), dtype=np.int64)
    gone = np.ones(len(then), dtype=bool)
    gone[place[place >= 0]] = False
    flagged = any(pc.any(one.result["flagged"]).as_py() for one in (old, new))
    was_listed, is_listed = old.listed(flagged), new.listed(flagged)
    known = place >= 0
    was = known & was_listed[place]
    rank = np.asarray(new.result["rank"].to_numpy())
    low, high = (np.asarray(old.result[name].to_numpy())[place] for name in ("rank_low", "rank_high"))
    outside = (rank < low) | (rank > high)
    reasons = reasons_of(old.state, new.state, (then, now), place, same_model=old.model == new.model)
    joined = known & is_listed & ~was
    news = joined.copy()
    news[joined] = reasons.news(np.flatnonzero(joined), (rank < low)[joined])
    sorts: dict[str, Bools] = {
        NEWLY: news,
        NEW: ~known & is_listed,
        LISTED: joined & ~news,
        MOVED: was & is_listed & outside,
        NO_LONGER: was & ~is_listed,
    }
    parts = [_rows(what, now, old, new, place, np.flatnonzero(mask), reasons) for what, mask in sorts.items()]
    left = np.flatnonzero(gone & was_listed)
    nobody, why = old.result.take(pa.nulls(left.size, pa.int64())), ["it is no longer in the tables"] * left.size
    parts.append(_table(then.take(pa.array(left)), GONE, old.result.take(pa.array(left)), nobody, why))
    ranks = (pc.coalesce(part["rank_now"], part["rank_then"]) for part in parts)
    table = pa.concat_tables([part.take(pc.sort_indices(one)) for part, one in zip(parts, ranks, strict=True)])
    counts = {what: int(mask.sum()) for what, mask in sorts.items()} | {GONE: left.size}
    counts |= {
        "stayed": int((was & is_listed & ~outside).sum()),
        "listed then": int(was_listed.sum()),
        "listed now": int(is_listed.sum()),
        "nodes then": len(then),
        "nodes now": len(now),
        "new nodes": int((~known).sum()),
        "gone nodes": int(gone.sum()),
    }
    drift = drift_of(
        new.manifest,
        (old.scores(), new.scores()),
        reasons.column_psi,
        new.judged or "",
        reasons.edges_changed,
        reasons.columns_changed,
    )
    sentences = _sentences(old, new, counts, drift, reasons, flagged=flagged)
    return Comparison(table, counts, drift, sentences, flagged)


def _tells_enough(manifest: Mapping[str, Any]) -> bool:
    """Return whether the parts of a manifest that a comparison reads are there and of their kind."""
    try:
        data = manifest["data"]
        return (
            isinstance(manifest["detector"], str)
            and type(manifest["results"]["rows"]) is int
            and all(isinstance(one["column"], str) and isinstance(one["kind"], str) for one in data["columns"])
            and all(type(one.get(name, 0)) is int for one in data["columns"] for name in ("pooled", "tamed", "missing"))
            and all(isinstance(one[name], str) for one in data["differences"] for name in ("column", "what"))
            and all(type(one["count"]) is int for one in data["differences"])
        )
    except (KeyError, TypeError, AttributeError):
        return False


def _columns(manifest: Mapping[str, Any]) -> set[str]:
    return {one["column"] for one in manifest["data"]["columns"] if one["kind"] != "flow"}


def _ids(old: Side, new: Side) -> tuple[pa.Array, pa.Array]:
    """Return the ids of both runs in one type; numbers in one and texts in the other are compared as texts."""
    then, now = (one.result["id"].combine_chunks() for one in (old, new))
    if then.type == now.type:
        return then, now
    try:
        return then.cast(pa.large_string()), now.cast(pa.large_string())
    except pa.ArrowException:
        raise RunFolderError(
            f"the ids of {old.folder} are {then.type} and those of {new.folder} are {now.type}",
            "give both tables ids of one type, and run again",
        ) from None


def _rows(what: str, ids: pa.Array, old: Side, new: Side, place: Ints, numbers: Ints, reasons: Reasons) -> pa.Table:
    """Return the rows of one sort of nodes of the new run, by their places in its results."""
    mine = ids.take(pa.array(numbers))
    before = pa.array(place[numbers], mask=place[numbers] < 0)
    why = ["it is new in the tables"] * numbers.size if what == NEW else reasons.of(numbers)
    now = new.result.take(pa.array(numbers))
    if what == NO_LONGER and "status" in now.column_names:
        cleared = pc.fill_null(pc.equal(now["status"], "cleared"), False).to_pylist()
        why = ["it was cleared" if one else told for told, one in zip(why, cleared, strict=True)]
    return _table(mine, what, old.result.take(before), now, why)


def _table(ids: pa.Array, what: str, then: pa.Table, now: pa.Table, why: list[str]) -> pa.Table:
    columns: dict[str, Any] = {"what": pa.array([what] * len(ids), pa.string())}
    for name in ("rank", "score", "kind"):
        for side, rows in (("then", then), ("now", now)):
            known = name in rows.column_names  # only some detectors tell kinds
            values = rows[name].combine_chunks() if known else pa.nulls(len(ids))
            columns[f"{name}_{side}"] = values.cast(SCHEMA[f"{name}_{side}"])
    columns["why"] = pa.array(why, pa.string())
    return pa.table({"id": ids, **{name: columns[name] for name in SCHEMA}})


def _sentences(
    old: Side, new: Side, counts: Mapping[str, int], drift: Drift, reasons: Reasons, *, flagged: bool
) -> tuple[str, ...]:
    said = []
    if not flagged:
        said.append(f"neither run flagged nodes: the first {FIRST} nodes of each are compared")
    said.append(", ".join(f"{counts[what]:,} {name}" for what, name in _NAMES.items()))
    if counts[LISTED]:
        said.append(grown(old, new, counts[LISTED]))
    unlisted = counts["new nodes"] - counts[NEW], counts["gone nodes"] - counts[GONE]
    if any(unlisted):
        said.append(f"outside the lists, {unlisted[0]:,} nodes are new and {unlisted[1]:,} nodes are gone")
    if old.model != new.model:
        said.append(
            "the models differ, so ranks can move without a change of the data: score both networks with one model"
        )
    said += reasons.sentences
    said.append(f"population stability index (PSI) of the scores: {drift.score_psi:.3f}")
    most = sorted(drift.column_psi.items(), key=lambda one: -one[1])[:NAMED]
    if most:
        said.append(f"largest PSI of the columns: {', '.join(f'{name} {one:.3f}' for name, one in most)}")
    said += drift.differences
    if drift.fit_again:
        said.append(f"fit the model again: {'; '.join(drift.fit_again)}")
    return tuple(said)


def grown(old: Side, new: Side, count: int) -> str:
    """Say why nodes joined the list that did not change."""
    decided = _decided(new) - _decided(old)
    they = "node is" if count == 1 else "nodes are"
    are = (
        f"{count:,} {they} on the list for the first time without a noticeable change of theirs or of their neighbours"
    )
    # With the threshold of a model the list does not depend on what was decided.
    if decided <= 0 or _lowest(new) >= _lowest(old):
        return are
    cases = "1 decided case no longer counts" if decided == 1 else f"{decided:,} decided cases no longer count"
    return f"the list grew because {cases}: {are}"


def _lowest(side: Side) -> float:
    return float(pc.min(side.result.filter(side.result["flagged"])["score"]).as_py() or 0.0)


def _decided(side: Side) -> int:
    """Count the cases of a run that somebody cleared or confirmed."""
    if not {"status", "case_id"} <= set(side.result.column_names):
        return 0
    return len(side.result.filter(pc.is_in(side.result["status"], value_set=pa.array(DECIDED)))["case_id"].unique())


_NAMES = {
    NEWLY: "newly odd",
    NEW: "new and odd",
    LISTED: "newly listed without a change",
    MOVED: "moved beyond their rank interval",
    "stayed": "stayed",
    NO_LONGER: "no longer odd",
    GONE: "gone and formerly odd",
}
