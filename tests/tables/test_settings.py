"""An option of reading is written once: commands, keywords and docstrings come from its field."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import get_type_hints

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from oddhop import Graph, Network, Odd, read_network
from oddhop.base.settings import Settings, options_of, types_of
from oddhop.cli import app
from oddhop.errors import GraphError, SettingsError
from oddhop.tables.encode import learn_encoding
from oddhop.tables.ingest import ingest
from oddhop.tables.network import open_network
from oddhop.tables.settings import EncodeOptions, EncodeSettings, ReadOptions, ReadSettings

PAID = pa.table({"payer": ["a", "b", "c", "a"], "payee": ["b", "c", "d", "d"], "euros": [5.0, 7.5, 2.0, 9.0]})
PEOPLE = pa.table({"name": ["a", "b", "c", "d"], "age": [31, 52, 47, 29], "town": ["x", "y", "x", "y"]})


@pytest.mark.parametrize(("model", "keywords"), [(ReadSettings, ReadOptions), (EncodeSettings, EncodeOptions)])
def test_type_checkers_know_every_field_with_its_types(model: type[Settings], keywords: type) -> None:
    hints, fields = get_type_hints(keywords), options_of(model)
    assert list(hints) == [one.name for one in fields]
    for one in fields:
        wider = {Sequence[str] if kind == tuple[str, ...] else kind for kind in one.types}
        assert set(types_of(hints[one.name])) - {PathLike[str]} == wider, one.name


@pytest.mark.parametrize("function", [read_network, Odd.fit])
def test_keywords_and_docstring_show_every_field(function: object) -> None:
    shown = inspect.signature(function).parameters  # type: ignore[arg-type]
    for one in [*options_of(ReadSettings), *options_of(EncodeSettings)]:
        assert shown[one.name].default == one.default
        assert shown[one.name].kind is inspect.Parameter.KEYWORD_ONLY
        assert f"\n{one.name} : {one.sentence[:30]}" in str(inspect.getdoc(function))


def test_commands_show_every_field_that_has_an_option() -> None:
    for command in ("detect", "fit", "score", "plan", "ingest"):
        told = CliRunner().invoke(app, [command, "--help-all"], env={"COLUMNS": "400"}).output
        blocks = [" ".join(one.split()) for one in re.split(r"\n(?=  (?:-\w, )?--)", told)]
        for one in (one for one in options_of(ReadSettings) if one.flag):
            (block,) = [block for block in blocks if re.match(rf"(-\w, )?{str(one.flag).split('/')[0]}[ /]", block)]
            assert one.sentence[1:30] in block or f"Do not {one.sentence[0].lower()}" in block
            assert ("(detected)" in block) == (one.shown == "detected")
            assert ("(repeatable)" in block) == one.repeatable


def test_what_is_given_on_the_command_line_reaches_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = {}
    module = import_module("oddhop.runs.plan")
    monkeypatch.setattr(module, "read_for_run", lambda _log, settings, *_: seen.update(read=settings.read))
    words = "plan e --nodes n --source a --amount b --amount c --undirected --from 2026-05-01 --no-flows --keep-unknown"
    CliRunner().invoke(app, [*words.split(), "--keep-columns", "town", "--set", "read.memory_limit=1GB"])
    assert seen["read"] == ReadSettings(
        source="a", amount=("b", "c"), directed=False, since="2026-05-01", flows=False, keep_unknown=True,
        keep_columns=("town",), memory_limit="1GB",
    )  # fmt: skip
    CliRunner().invoke(app, ["plan", "e", "--nodes", "n", "--directed"])
    assert seen["read"] == ReadSettings(directed=True)


def test_a_fit_takes_what_the_command_takes(tmp_path: Path) -> None:
    options = {"source": "payee", "target": "payer", "amount": ["euros"], "kinds": {"town": "ignore"}}
    fitted = Odd(random_state=0, simulate=False).fit(PAID, nodes=PEOPLE, temp_folder=tmp_path, **options)
    read = read_network(PAID, PEOPLE, **options)  # type: ignore[arg-type]
    assert fitted.network_.graph.fingerprint == read.graph.fingerprint
    assert fitted.network_.roles.source == "payee"
    assert "town" not in "".join(read.graph.attribute_names)
    assert read_network(PAID, PEOPLE).graph.fingerprint != read.graph.fingerprint


def test_a_model_reads_later_tables_by_the_columns_of_its_fit(tmp_path: Path) -> None:
    days = pa.array([1, 2, 3, 4], pa.timestamp("s", "UTC"))
    paid = PAID.append_column("time", days)
    fitted = Odd(random_state=0, simulate=False).fit(paid, nodes=PEOPLE, source="payee", target="payer", id="name")
    fitted.save(tmp_path / "model.oddhop")
    loaded = Odd.load(tmp_path / "model.oddhop")
    assert loaded.read(paid, PEOPLE).roles.source == "payee"
    assert loaded.read(paid, PEOPLE, source="payer", target="payee").roles.source == "payer"
    assert loaded.rank(paid, nodes=PEOPLE)["score"].equals(fitted.result_["score"])
    few = loaded.read(paid, PEOPLE, until="1970-01-01T00:00:03Z")
    assert (few.counts.outside_window, few.graph.edge_count) == (2, 2)


def test_a_model_keeps_no_window_no_limit_and_no_kept_columns() -> None:
    given = ReadSettings(source="a", target="b", since="2026-01-01", memory_limit="1GB", keep_columns=("town",))
    assert ReadSettings().like(given) == ReadSettings(source="a", target="b")
    assert ReadSettings(source="c", strict=True).like(given) == ReadSettings(source="c", target="b", strict=True)


def test_a_network_knows_how_its_tables_were_read(tmp_path: Path) -> None:
    for name, table in (("edges", PAID), ("nodes", PEOPLE)):
        pq.write_table(table, tmp_path / f"{name}.parquet")
    read = ReadSettings(keep_columns=("town",), directed=True)
    ingest(tmp_path / "edges.parquet", tmp_path / "nodes.parquet", tmp_path / "graph", read)
    stored, held = open_network(tmp_path / "graph"), read_network(PAID, PEOPLE, keep_columns=["town"], directed=True)
    assert stored.read == held.read == read.model_copy(update={"source": "payer", "target": "payee", "id": "name"})
    assert stored.kept == ("town",)


def test_how_columns_are_encoded_is_said_once() -> None:
    encoding = read_network(PAID, PEOPLE).encoding
    with pytest.raises(SettingsError, match="an encoding was given"):
        read_network(PAID, PEOPLE, encoding=encoding, kinds={"town": "ignore"})


def test_an_unknown_option_is_refused_with_the_nearest() -> None:
    with pytest.raises(SettingsError, match="unknown setting sorce; did you mean source"):
        read_network(PAID, PEOPLE, sorce="payer")  # type: ignore[call-arg]
    with pytest.raises(SettingsError, match="unknown setting max_level; did you mean max_levels"):
        Odd().fit(PAID, nodes=PEOPLE, max_level=3)  # type: ignore[call-arg]
    with pytest.raises(SettingsError, match=r"text_columns=0: .* greater than or equal to 1"):
        learn_encoding(PEOPLE, text_columns=0)
    with pytest.raises(SettingsError, match=r"rare=1.5: .* less than 1"):
        learn_encoding(PEOPLE, rare=1.5)
    with pytest.raises(SettingsError, match="amount='euros'"):
        read_network(PAID, PEOPLE, amount="euros")


@pytest.mark.parametrize("data", [Graph.from_arrays([[0], [1]], [[1.0], [2.0]]), PAID])
def test_an_option_of_reading_without_tables_is_refused(data: Graph | Network | pa.Table) -> None:
    with pytest.raises(GraphError, match="flows= is an option of reading tables"):
        Odd().fit(data, flows=False)
