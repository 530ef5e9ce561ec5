"""Two runs are compared by their folders: who is newly odd, who no longer is, who moved, and why."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

from oddhop import Graph, Network, read_network
from oddhop.casebook import NewVerdict, open_book
from oddhop.casebook.changes import changes
from oddhop.casebook.fingerprint import records
from oddhop.cli import app
from oddhop.errors import RunFolderError
from oddhop.graph.disk import file_entry
from oddhop.runs import checked_run_settings, compare, detect, fit, score
from oddhop.runs.compare import Comparison, Side, check_alike, grown, open_side
from oddhop.runs.drift import column_indexes, stability_index, unseen_shares
from oddhop.runs.folder import read_manifest
from oddhop.runs.reasons import Reasons, reasons_of
from oddhop.runs.state import State, read_state, write_state

PAIRS = checked_run_settings({"read": {"flows": False}, "odd": {"random_state": 0}})
Tables = dict[str, pa.Table]


def column(table: pa.Table, name: str, values: list) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, pa.array(values, table[name].type))


def with_edge(tables: Tables, source: str, target: str) -> Tables:
    edge = pa.table({"from": [source], "to": [target], "amount": [1.0]}, schema=tables["edges"].schema)
    return {**tables, "edges": pa.concat_tables([tables["edges"], edge])}


def with_clique(tables: Tables, size: int) -> Tables:
    members = ["p3", *(f"p{k}" for k in range(45, 44 + size))]
    for k, source in enumerate(members):
        for target in members[k + 1 :]:
            tables = with_edge(tables, source, target)
    return tables


@pytest.fixture(scope="module")
def home(tables: Tables, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model, and a run that it ranked."""
    home = tmp_path_factory.mktemp("runs")
    fit(tables["edges"], tables["nodes"], model=home / "model.oddhop", settings=PAIRS)
    scored(home, tables, home / "old")
    return home


def scored(home: Path, tables: Tables, out: Path, top: int | None = 79, **options: object) -> Path:
    # 79 of 80 on the list, so that whoever is changed is on it.
    model, settings = home / "model.oddhop", PAIRS
    return score(model, **tables, out=out, settings=settings, top=top, **{"explain": 0, **options}).folder


def reasons(found: Comparison) -> dict[str, tuple[str, str]]:
    return {row["id"]: (row["what"], row["why"]) for row in found.table.to_pylist()}


def why(old: Path, new: Path, *ids: str) -> list[str]:
    """Say the reasons of nodes whether or not they are listed."""
    found, known = reasons_between(open_side(old), open_side(new))
    return found.of(known.numbers(*ids))


@dataclass(frozen=True)
class Known:
    """The ids of a run, in the order of its results."""

    ids: list

    def numbers(self, *ids: object) -> np.ndarray:
        return np.array([self.ids.index(one) for one in ids])


def reasons_between(old: Side | State, new: Side | State) -> tuple[Reasons, Known]:
    """Compare what two runs keep of their nodes."""
    then, now = ((one.result if isinstance(one, Side) else one.records())["id"].combine_chunks() for one in (old, new))
    place = pc.fill_null(pc.index_in(now, value_set=then), -1).to_numpy()
    states = (one.state if isinstance(one, Side) else one for one in (old, new))
    return reasons_of(*states, (then, now), place, same_model=True), Known(now.to_pylist())


def test_where_nothing_changed_nothing_is_listed(home: Path, tables: Tables, tmp_path: Path) -> None:
    order = np.random.default_rng(1).permutation
    shuffled = {name: table.take(order(table.num_rows)) for name, table in tables.items()}
    found = compare(home / "old", scored(home, shuffled, tmp_path / "new"))
    assert found.table.num_rows == 0
    assert found.counts["stayed"] == found.counts["listed now"] == 79
    assert not any(found.counts[what] for what in ("newly odd", "moved", "no longer odd", "new nodes", "gone nodes"))
    assert found.drift.score_psi == 0.0
    assert found.drift.edges_changed == 0.0
    assert set(found.drift.columns_changed) == {"age", "town", "note"}
    assert not any(found.drift.columns_changed.values())
    assert not found.drift.fit_again
    assert file_entry(home / "old/state.parquet").sha256 == file_entry(tmp_path / "new/state.parquet").sha256


def test_an_edge_and_columns_that_changed_are_the_reasons(home: Path, tables: Tables, tmp_path: Path) -> None:
    changed = with_edge(tables, "p3", "p77")
    ages, towns = (tables["nodes"][name].to_pylist() for name in ("age", "town"))
    ages[5], ages[3], towns[5] = 79, 20, "Cork"
    changed["nodes"] = column(column(changed["nodes"], "age", ages), "town", towns)
    new = scored(home, changed, tmp_path / "new")
    degree = {row["id"]: row["degree"] for row in pq.read_table(home / "old/results.parquet").to_pylist()}
    ties = [set(row.values()) for row in changed["edges"].select(["from", "to"]).to_pylist()]
    far = next(f"p{k}" for k in range(6, 80) if not any({f"p{k}", one} in ties for one in ("p3", "p5")))
    near = next(f"p{k}" for k in range(6, 77) if {f"p{k}", "p5"} in ties and {f"p{k}", "p3"} not in ties)
    told = why(home / "old", new, "p3", "p5", "p77", far, near)
    edges = [f"1 of {degree[one] + 1} neighbours is new" for one in ("p3", "p77")]
    assert told == [
        f"{edges[0]}; age changed",
        "age changed; town changed",
        edges[1],
        "only other nodes changed",
        "1 of its neighbours changed",
    ]
    found = compare(home / "old", new)
    assert found.drift.edges_changed == 2 / 80
    assert found.drift.columns_changed["age"] == 2 / 80
    assert all(row["why"] == why(home / "old", new, row["id"])[0] for row in found.table.to_pylist())


def test_newly_odd_and_no_longer_odd_nodes_are_listed(home: Path, tables: Tables, tmp_path: Path) -> None:
    old = scored(home, tables, tmp_path / "old", top=5)
    changed = with_clique(tables, 8)
    found = compare(old, scored(home, changed, tmp_path / "new", top=5))
    then, now = (set(pq.read_table(tmp_path / one / "results.parquet")["id"].to_pylist()[:5]) for one in ("old", "new"))
    listed = {what: {one for one, (is_what, _) in reasons(found).items() if is_what == what} for what in found.counts}
    assert listed["newly odd"] == now - then
    for words, code in ((["old", "new"], 11), (["old", "old"], 0), (["old", "new", "--json"], 11)):
        folders = [str(tmp_path / word) if word in ("old", "new") else word for word in words]
        assert CliRunner().invoke(app, ["compare", *folders, "--exit-code"]).exit_code == code
        assert CliRunner().invoke(app, ["compare", *folders]).exit_code == 0
    assert listed["no longer odd"] == then - now
    assert any("neighbours are new" in reason for _, reason in reasons(found).values())
    assert any(reason == "only other nodes changed" for _, reason in reasons(found).values())
    assert found.table.column_names[:4] == ["id", "what", "rank_then", "rank_now"]
    for row in found.table.to_pylist():
        assert (row["rank_now"] <= 5) == (row["what"] != "no longer odd")
        assert row["kind_then"] is not None


def test_a_longer_list_is_no_news_and_says_why_it_grew(home: Path, tables: Tables, tmp_path: Path) -> None:
    options = {"explain": 20, "report": False, "cases": tmp_path / "cases.db"}

    def night(name: str, data: Tables, *, top: int | None = 5) -> Path:
        return scored(home, data, tmp_path / name, top, **options)

    first = night("first", tables)
    with open_book(tmp_path / "cases.db") as book:
        names = sorted(book.current())[:3]
        book.judge([NewVerdict(one, "cleared" if k else "confirmed", who="ann") for k, one in enumerate(names)])
    second = compare(first, night("second", tables))
    assert second.counts["newly odd"] == 0
    assert second.counts["newly listed"] >= 3
    assert not second.has_new_anomalies
    told = f"the list grew because 3 decided cases no longer count: {second.counts['newly listed']} nodes"
    assert any(one.startswith(told) for one in second.sentences)
    assert {reason for what, reason in reasons(second).values() if what == "newly listed"} == {
        "only other nodes changed"
    }
    third = compare(tmp_path / "second", night("third", with_clique(tables, 8)))
    odd = {name: reason for name, (what, reason) in reasons(third).items() if what == "newly odd"}
    assert odd
    assert all("new" in reason or "neighbours changed" in reason for reason in odd.values())
    assert third.has_new_anomalies
    for names, code in (("first second", 0), ("second third", 11)):
        words = ["compare", *(str(tmp_path / name) for name in names.split()), "--exit-code"]
        assert CliRunner().invoke(app, words).exit_code == code


@pytest.mark.parametrize(("lowest", "says"), [(2.0, True), (3.0, False)])
def test_decided_cases_lengthen_a_list_only_where_its_end_moved(tmp_path: Path, lowest: float, says: bool) -> None:
    def side(scores: list[float], status: list[str]) -> Side:
        names = [f"c{k}" for k in range(len(scores))]
        columns = {"score": scores, "flagged": [True] * len(scores), "status": status, "case_id": names}
        return Side(tmp_path, {}, pa.table(columns), None)

    old, new = side([5.0, 3.0], ["new", "confirmed"]), side([5.0, 3.0, lowest], ["cleared", "confirmed", "new"])
    assert grown(old, new, 1).startswith("the list grew because 1 decided case no longer counts") == says


def test_a_slight_change_is_news_only_with_a_rise_beyond_the_old_interval(
    home: Path, tables: Tables, tmp_path: Path
) -> None:
    new = scored(home, with_edge(tables, "p3", "p77"), tmp_path / "new")
    found, known = reasons_between(open_side(home / "old"), open_side(new))
    ids = known.numbers("p3", "p77", *(f"p{k}" for k in range(40, 45)))
    assert not found.enough[found.rows[ids]].any()  # one neighbour of many
    assert found.news(ids, np.ones(7, dtype=bool)).tolist() == [True, True] + [False] * 5
    assert not found.news(ids, np.zeros(7, dtype=bool)).any()
    ages = tables["nodes"]["age"].to_pylist()
    ages[40] = 900
    old = scored(home, {**tables, "nodes": column(tables["nodes"], "age", ages)}, tmp_path / "other")
    found, known = reasons_between(open_side(old), open_side(home / "old"))
    ties = [set(row.values()) for row in tables["edges"].select(["from", "to"]).to_pylist()]
    everybody = [f"p{k}" for k in range(1, 80)]
    own, near = (
        np.array([one == "p40" or (beside and {one, "p40"} in ties) for one in everybody]) for beside in (0, 1)
    )
    assert np.array_equal(found.news(known.numbers(*everybody), np.ones(79, dtype=bool)), near)
    assert np.array_equal(found.news(known.numbers(*everybody), np.zeros(79, dtype=bool)), own)
    assert near.sum() > own.sum() == 1


def test_a_killed_run_that_is_resumed_without_since_keeps_no_changes(
    home: Path, tables: Tables, tmp_path: Path
) -> None:
    folder = scored(home, tables, tmp_path / "run", since=home / "old")
    assert (folder / "changes.parquet").exists()
    (folder / "manifest.json").unlink()  # as after a kill
    scored(home, tables, folder, resume=True)
    assert not (folder / "changes.parquet").exists()
    assert "changes.parquet" not in read_manifest(folder)["files"]


def test_a_state_of_an_older_version_is_not_compared(home: Path, tables: Tables, tmp_path: Path) -> None:
    old = shutil.copytree(home / "old", tmp_path / "old")
    state = pq.read_table(old / "state.parquet")
    pq.write_table(state.replace_schema_metadata({b"judged": b""}), old / "state.parquet")
    manifest = read_manifest(old)
    manifest["files"]["state.parquet"] = file_entry(old / "state.parquet").sha256
    (old / "manifest.json").write_text(json.dumps(manifest))
    found = compare(old, scored(home, with_clique(tables, 8), tmp_path / "new"))
    assert any("only ranks are compared" in one for one in found.sentences)


def test_moved_is_outside_the_old_interval(home: Path, tables: Tables, tmp_path: Path) -> None:
    new = scored(home, with_clique(tables, 12), tmp_path / "new")
    then = {row["id"]: row for row in pq.read_table(home / "old/results.parquet").to_pylist()}
    now = {row["id"]: row for row in pq.read_table(new / "results.parquet").to_pylist()}
    outside = {
        name
        for name, row in now.items()
        if row["flagged"] and then[name]["flagged"]
        if not then[name]["rank_low"] <= row["rank"] <= then[name]["rank_high"]
    }
    moved = {name for name, (what, _) in reasons(compare(home / "old", new)).items() if what == "moved"}
    assert moved == outside
    assert moved


def test_nodes_that_are_new_or_gone(home: Path, tables: Tables, tmp_path: Path) -> None:
    more = pa.table({"name": ["zoe"], "age": [99], "town": ["Cork"], "note": ["pays late"]})
    nodes = pa.concat_tables([tables["nodes"].filter(pa.array(np.arange(80) != 7)), more.cast(tables["nodes"].schema)])
    changed = {**with_edge(with_edge(tables, "zoe", "p1"), "zoe", "p44"), "nodes": nodes}
    found = compare(home / "old", scored(home, changed, tmp_path / "new"))
    assert reasons(found)["zoe"] == ("new node", "it is new in the tables")
    assert reasons(found)["p7"] == ("gone", "it is no longer in the tables")
    assert (found.counts["new nodes"], found.counts["gone nodes"]) == (1, 1)
    rows = {row["id"]: row for row in found.table.to_pylist()}
    assert rows["zoe"]["rank_then"] is rows["p7"]["rank_now"] is None
    few = compare(
        scored(home, tables, tmp_path / "a", top=1), scored(home, changed, tmp_path / "b", top=1)
    )  # not on a list: counted
    assert not {"zoe", "p7"} & ({*reasons(few)} - {pq.read_table(tmp_path / "b/results.parquet")["id"][0].as_py()})
    assert few.counts["gone nodes"] == 1


def test_without_flags_the_first_fifty_are_the_list(tables: Tables, tmp_path: Path) -> None:
    runs = [detect(**tables, out=tmp_path / name, settings=PAIRS, explain=0).folder for name in ("a", "b")]
    found = compare(*runs)
    assert found.counts["listed then"] == found.counts["listed now"] == 50
    assert any("the first 50" in one for one in found.sentences)
    assert not any("models differ" in one for one in found.sentences)
    other = detect(**with_clique(tables, 8), out=tmp_path / "c", settings=PAIRS, explain=0).folder
    assert compare(runs[0], other).counts["newly odd"] > 0  # among the first ranks, of which no node is flagged
    assert CliRunner().invoke(app, ["compare", str(runs[0]), str(other), "--exit-code"]).exit_code == 0


def test_columns_that_were_encoded_anew_are_compared_in_one_scale(tables: Tables, tmp_path: Path) -> None:
    old = detect(**tables, out=tmp_path / "old", settings=PAIRS, explain=0).folder
    other = column(tables["nodes"], "age", [age + 1 for age in tables["nodes"]["age"].to_pylist()])
    found = detect(tables["edges"], other, out=tmp_path / "new", settings=PAIRS, explain=0, since=old).changes
    # All are a year older, which is little beside the range of ages: each changed slightly, and the scale with them.
    assert found.drift.columns_changed["age"] > 0.9
    assert found.drift.columns_changed["town"] == 0.0
    assert any("models differ" in one for one in found.sentences)
    assert why(old, tmp_path / "new", "p3") == ["age changed slightly"]
    ages = tables["nodes"]["age"].to_pylist()
    ages[3] = 900
    other = column(tables["nodes"], "age", ages)  # the scale is learned again, and the others are as they were
    detect(tables["edges"], other, out=tmp_path / "third", settings=PAIRS, explain=0)
    last = compare(old, tmp_path / "third")
    assert last.drift.columns_changed["age"] == 1 / 80
    assert why(old, tmp_path / "third", "p3") == ["age changed"]


def test_events_are_told_where_the_neighbours_are_the_same(tables: Tables, tmp_path: Path) -> None:
    model = tmp_path / "model.oddhop"
    fit(**tables, model=model)
    first = tables["edges"].slice(0, 1).to_pylist()[0]
    old = score(model, **tables, out=tmp_path / "old", explain=0).folder
    new = score(model, **with_edge(tables, first["from"], first["to"]), out=tmp_path / "new", explain=0).folder
    assert why(old, new, first["from"]) == ["1 event is new"]


def test_the_stability_index() -> None:
    scores = np.random.default_rng(0).normal(size=5000)
    assert stability_index(scores, scores) == 0.0
    assert stability_index(scores, np.random.default_rng(1).normal(size=5000)) < 0.02
    assert stability_index(scores, scores + 1) > 0.25
    assert stability_index(np.zeros(50), np.ones(50)) > 0.25
    assert stability_index(np.ones(50), np.zeros(50)) > 0.25
    assert stability_index(np.zeros(0), scores) == 0.0


def test_unseen_values_say_fit_again(home: Path, tables: Tables, tmp_path: Path) -> None:
    towns = ["Oslo"] * 8 + tables["nodes"]["town"].to_pylist()[8:]
    changed = {**tables, "nodes": column(tables["nodes"], "town", towns)}
    found = scored(home, changed, tmp_path / "new", since=home / "old")
    drift = compare(home / "old", found).drift
    assert drift.unseen == {"town": 0.1}
    assert any("10% of the rows of 'town'" in one for one in drift.fit_again)
    assert drift.columns_changed["town"] == 0.1


def test_what_the_fit_pooled_already_is_not_unseen() -> None:
    difference = {"column": "town", "what": "rare or not seen before: encoded as other", "count": 30}
    data = {"nodes": 100, "columns": [{"column": "town", "pooled": 28}], "differences": [difference]}
    assert unseen_shares({"data": data, "results": {"rows": 100}}, "") == {"town": 0.02}
    ignored = {"column": "new", "what": "a column not seen before: ignored", "count": 100}
    assert unseen_shares({"data": {**data, "differences": [ignored]}, "results": {"rows": 100}}, "") == {}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"detector": "hcm"}, "used odd and the new run used hcm"),
        ({"columns": [{"column": "age", "kind": "number"}]}, "it lacks 'note', 'town'"),
        ({"judged": "account"}, "judges 'the only kind' and the new one 'account'"),
    ],
)
def test_runs_that_are_not_alike_are_refused(home: Path, change: dict, problem: str) -> None:
    old = open_side(home / "old")
    data = {"columns": change.get("columns", old.manifest["data"]["columns"])}
    with pytest.raises(RunFolderError, match=problem):
        check_alike(old, {"detector": change.get("detector", "odd"), "data": data}, change.get("judged", ""))


def test_other_columns_are_refused_before_anything_is_learned(home: Path, tables: Tables, tmp_path: Path) -> None:
    fewer = tables["nodes"].drop_columns(["town"])
    with pytest.raises(RunFolderError, match="it lacks 'town'"):
        detect(tables["edges"], fewer, out=tmp_path / "new", settings=PAIRS, since=home / "old")
    assert not (tmp_path / "new/results.parquet").exists()


def without_state(run: Path, out: Path) -> Path:
    shutil.copytree(run, out)
    manifest = read_manifest(out)
    del manifest["files"]["state.parquet"]
    (out / "state.parquet").unlink()
    (out / "manifest.json").write_text(json.dumps(manifest))
    return out


def test_a_run_without_state_is_compared_by_ranks_alone(home: Path, tables: Tables, tmp_path: Path) -> None:
    old = without_state(home / "old", tmp_path / "old")
    found = compare(old, scored(home, with_edge(tables, "p3", "p77"), tmp_path / "new"))
    assert any("only ranks are compared" in one for one in found.sentences)
    assert found.drift.edges_changed is None
    assert {reason for _, reason in reasons(found).values()} <= {"not known"}


@pytest.mark.parametrize("name", ["results.parquet", "state.parquet"])
def test_a_changed_file_is_refused(home: Path, tmp_path: Path, name: str) -> None:
    other = shutil.copytree(home / "old", tmp_path / "other")
    content = bytearray((other / name).read_bytes())
    content[len(content) // 2] ^= 1
    (other / name).write_bytes(content)
    with pytest.raises(RunFolderError, match="was changed after the run"):
        compare(home / "old", other)
    assert CliRunner().invoke(app, ["compare", str(other), str(home / "old")]).exit_code == 5


@pytest.mark.parametrize("change", ["detector", "data", "state", "results"])
def test_a_folder_that_makes_no_sense_is_refused(home: Path, tmp_path: Path, change: str) -> None:
    other = shutil.copytree(home / "old", tmp_path / "other")
    manifest = read_manifest(other)
    if change == "detector":
        del manifest["detector"]
    elif change == "data":
        manifest["data"]["differences"] = [{"column": "age", "what": 3, "count": 1}]
    else:  # a file that is none of ours, sealed
        pq.write_table(pa.table({"id": [1], "rank": ["first"]}), other / f"{change}.parquet")
        manifest["files"][f"{change}.parquet"] = file_entry(other / f"{change}.parquet").sha256
    (other / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(RunFolderError, match=r"has no figures for a comparison|is not a file of oddhop|are damaged"):
        compare(home / "old", other)
    with pytest.raises(RunFolderError, match="has no complete run"):
        compare(home / "old", tmp_path / "nowhere")


def test_sparse_and_dense_columns_have_the_same_records_and_many_share_few_numbers(tmp_path: Path) -> None:
    values = np.random.default_rng(0).integers(0, 3, (50, 300)).astype(np.float64)
    edges = [[0, 1], [1, 2]]
    found = []
    for name, attributes in (("dense", values), ("sparse", sp.csr_array(values)), ("few", values[:, :4])):
        (tmp_path / name).mkdir()
        write_state(tmp_path / name, Network.of(Graph.from_arrays(edges, attributes)))
        found.append(read_state(tmp_path / name).records())
    assert found[0].equals(found[1])
    numbers = [name for name in found[0].column_names if name.startswith("columns:")]
    assert len(numbers) == 4
    assert len({tuple(row[name] for name in numbers) for row in found[0].to_pylist()}) == 50
    assert [name for name in found[2].column_names if "column" in name] == [f"column:attribute {k}" for k in range(4)]
    assert found[2]["neighbours"].to_pylist()[3] == []
    for step, enough in ((0.4, False), (0.6, True)):  # of one attribute of 300
        other = values.copy()
        other[7, 123] += step
        later = records(Network.of(Graph.from_arrays(edges, other)), np.arange(50))
        what = changes(found[0].drop_columns(["id"]), later)
        assert np.flatnonzero(what.enough()).tolist() == [7] * enough
        assert np.flatnonzero(what.at_all()).tolist() == [7]


def test_of_several_kinds_the_judged_are_kept_and_an_id_counts_with_its_kind(tmp_path: Path) -> None:
    people = pa.table({"id": [1, 2, 3], "age": [20, 30, 40]})
    phones = pa.table({"id": [1, 2, 3], "price": [5, 6, 7]})
    states = {}
    for name, kind in (("a", "person"), ("b", "phone")):
        edges = pa.table({"from": [1, 1], "to": [2, 3], "to_kind": [kind, "phone"]})
        (tmp_path / name).mkdir()
        options = {"judge": "person", "source_kind": "person", "flows": False}
        write_state(tmp_path / name, read_network(edges, {"person": people, "phone": phones}, **options))
        states[name] = read_state(tmp_path / name)
    assert states["a"].judged == "person"
    assert states["a"].records()["id"].to_pylist() == [1, 2, 3]
    assert [one for one in states["a"].records().column_names if one.startswith("column")] == ["column:age"]
    found, known = reasons_between(states["a"], states["b"])
    assert found.of(known.numbers(1, 2, 3)) == [
        "1 of 2 neighbours is new; 1 of 2 neighbours is gone",
        "1 of 1 neighbours is gone",
        "only other nodes changed",
    ]


def test_the_command_from_end_to_end(folder: Path, tables: Tables) -> None:
    def run(*words: str) -> str:
        done = CliRunner().invoke(app, list(words))
        assert done.exit_code == 0, done.output
        return done.output

    line = ["detect", "edges.csv", "--nodes", "nodes.csv", "--no-report", "--seed", "1", "--top", "5"]
    run(*line, "--out", "old")
    rows = (folder / "edges.csv").read_text()
    (folder / "edges.csv").write_text(rows + "".join(f'"p3","p{k}",0.5\n' for k in range(45, 60)))
    run(*line, "--out", "plain")
    told = run(*line, "--out", "new", "--since", "old")
    assert "newly odd" in told
    before, after = (read_manifest(folder / name)["files"] for name in ("plain", "new"))
    assert after.keys() - before.keys() == {"changes.parquet"}
    assert all(after[name] == before[name] for name in before)
    assert "changes.parquet: ok" in run("verify", "new").replace("\n", "")
    sealed = pq.read_table(folder / "new/changes.parquet")
    assert sealed.equals(compare("old", "new").table)
    shown = run("compare", "old", "new", "--out", "changes.csv")
    assert "population stability index" in shown
    assert (folder / "changes.csv").read_text().startswith('"id","what","rank_then"')
    run("compare", "old", "new", "--out", "changes.parquet")
    assert pq.read_table("changes.parquet").equals(sealed)
    as_json = json.loads(run("compare", "old", "new", "--json"))
    assert as_json["changes"] == sealed.to_pylist()
    assert as_json["counts"]["listed now"] == sum(pq.read_table("new/results.parquet")["flagged"].to_pylist())
    refused = CliRunner().invoke(app, ["compare", "old", "new", "--out", "changes.xlsx"])
    assert refused.exit_code == 2
    run("score", "old/model.oddhop", *line[1:5], "--out", "by-model", "--since", "old")
    assert (folder / "by-model/changes.parquet").exists()


def test_a_column_that_moved_is_named_by_its_stability_index(home: Path, tables: Tables, tmp_path: Path) -> None:
    old = [one for one in tables["nodes"]["age"].to_pylist() if one is not None]
    older = [None if one is None else one + 2 * (max(old) - min(old)) for one in tables["nodes"]["age"].to_pylist()]
    moved = {**tables, "nodes": column(tables["nodes"], "age", older)}
    found = compare(home / "old", scored(home, moved, tmp_path / "new"))
    assert found.drift.column_psi["age"] > 1
    assert found.drift.column_psi["town"] == 0.0
    assert any("the values of 'age' changed" in one for one in found.drift.fit_again)
    assert any(one.startswith("largest PSI of the columns: age") for one in found.sentences)


def test_the_index_of_a_column_is_that_of_its_values_in_one_scale() -> None:
    rng = np.random.default_rng(0)
    ages, towns = rng.normal(40, 10, 2_000), rng.choice(["a", "b", "c"], 2_000, p=[0.5, 0.3, 0.2])
    ties = pa.table({"from": np.arange(2_000), "to": (np.arange(2_000) + 1) % 2_000})

    def look(ages: np.ndarray, towns: np.ndarray) -> pa.Table:
        nodes = pa.table({"id": np.arange(2_000), "age": ages, "town": towns})
        return records(read_network(ties, nodes, flows=False), np.arange(2_000))

    then = look(ages, towns)
    order = rng.permutation(2_000)
    assert column_indexes(then, look(ages[order], towns[order])) == {"age": 0.0, "town": 0.0}
    # The same ages beside a few that are far off: the scale is another, and hardly any value moved.
    far = np.where(np.arange(2_000) < 5, 1e9, ages)
    assert column_indexes(then, look(far, towns))["age"] < 0.01
    assert column_indexes(then, look(ages + 10, towns))["age"] > 0.5
    shifted = column_indexes(then, look(ages, np.where(towns == "a", "b", towns)))
    assert shifted["town"] > 0.5
    assert shifted["age"] == 0.0
    rare = np.arange(2_000) < 600
    missing, median = (look(np.where(rare, value, ages), towns) for value in (np.nan, np.median(ages)))
    assert column_indexes(missing, median)["age"] > 0.25
    gap = [None if k < 600 else age for k, age in enumerate(ages)]
    assert column_indexes(then, look(gap, towns))["age"] > 0.25
