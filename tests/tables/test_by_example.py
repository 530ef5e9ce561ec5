"""Functions that one example each shows."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from oddhop import Graph
from oddhop.base.address import without_secrets
from oddhop.errors import TableError
from oddhop.graph.events import EventColumns
from oddhop.tables.encode.columns import readable_as
from oddhop.tables.encode.encoders import bucket, learn_flow, learn_scale
from oddhop.tables.encode.encoding import padded, row_number
from oddhop.tables.flows import Flows
from oddhop.tables.inference import converted, count_classes, decide, unread_sentence
from oddhop.tables.ingest.sorted_rows import choose_bounds
from oddhop.tables.kinds import KindsRead
from oddhop.tables.network import as_network
from oddhop.tables.read.addresses import database_file, is_database
from oddhop.tables.read.database import unglobbed
from oddhop.tables.read.ids import IdColumn, agreed
from oddhop.tables.read.plain_text import plain_text
from oddhop.tables.read.refused import remedy_for
from oddhop.tables.read.stdin import check_one_stdin
from oddhop.tables.read.texts import read_texts
from oddhop.tables.results import write_csv, write_shards
from oddhop.tables.settings import PLAIN
from oddhop.tables.words import plain


def test_a_type_can_be_read_as_some_kinds() -> None:
    assert (readable_as(pa.chunked_array([[1, 2]])), readable_as(pa.chunked_array([["a"]]))) == (
        ("number", "category"),
        ("category", "text"),
    )


def test_a_scale_is_learned_from_values_that_occur() -> None:
    scale = learn_scale(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    assert scale.apply(np.array([3.0, 5.0, np.nan])).tolist() == [0.0, 1.0, 0.0]
    assert learn_scale(np.array([1.0, 2.0, 3.0, 4.0, 5e11])).knee == 0.0


def test_the_unit_of_a_flow_is_the_median_of_what_is_not_zero() -> None:
    learned = learn_flow("sum", np.array([0.0, 2.0, 4.0, 8.0, np.nan]), skewed=True)
    assert (learned.unit, learned.fill) == (4.0, 2.0)


def test_a_word_falls_into_the_same_attribute_always() -> None:
    assert (bucket("invoice", 256), bucket("", 256)) == (143, -1)


def test_rows_are_named_from_one_on() -> None:
    assert row_number(16) == "row 17"


def test_other_rows_are_padded_with_zeros() -> None:
    assert padded(np.ones((2, 1), np.float32), slice(1, 3), 4).ravel().tolist() == [0.0, 1.0, 1.0, 0.0]


def test_flow_columns_come_last() -> None:
    table = Flows(EventColumns(directed=False), np.ones((1, 4))).beside(pa.table({"age": [30]}), 0, 1)
    assert table.column_names[:2] == ["age", "events"]


def test_a_column_of_numbers_with_one_word_is_numbers() -> None:
    assert (
        repr(decide({"whole": 500, "comma": 99, "word": 1}, PLAIN, {}))
        == "Reading(form='1.234,56', present=600, unread=1, decided='read as in 1.234,56', doubt='')"
    )


def test_values_that_are_not_read_are_counted() -> None:
    assert (
        unread_sentence("number", 1, 600, "'x' in row 17")
        == "1 of 600 values is not a number ('x' in row 17): taken as missing"
    )


def test_texts_are_counted_by_class() -> None:
    assert count_classes(pa.chunked_array([["1", "2,5", "NA"]])) == {"comma": 1, "gap": 1, "whole": 1}


def test_texts_become_values_by_their_form() -> None:
    assert converted(pa.chunked_array([["3,50", "1.234", "x", None]]), "1.234,56").to_pylist() == [
        3.5,
        1234.0,
        None,
        None,
    ]


def test_a_hub_is_a_partition_of_its_own() -> None:
    assert choose_bounds(np.array([1, 1, 9, 1, 1, 1]), 3) == (0, 2, 3, 6)


def test_rows_are_cut_by_kind() -> None:
    assert (
        repr(KindsRead(("account", "device"), (0, 3, 5), 0, ()).rows(2, 4))
        == "{'account': slice(0, 1, None), 'device': slice(1, 2, None)}"
    )


def test_a_graph_is_taken_as_a_network() -> None:
    assert (
        repr(as_network(Graph.from_arrays([[0], [1]], [[1.0], [2.0]])).graph) == "Graph(2 nodes, 1 edge, 1 attribute)"
    )


def test_an_address_of_a_database_is_known_by_its_scheme() -> None:
    assert (is_database("sqlite:///shop.db"), is_database("shop.db"), is_database("mysql://db/shop")) == (
        True,
        False,
        False,
    )


def test_a_file_of_an_address_stands_after_three_slashes() -> None:
    assert (str(database_file("sqlite:///shop.db", "it")), str(database_file("duckdb:////data/shop.duckdb", "it"))) == (
        "shop.db",
        "/data/shop.duckdb",
    )


def test_a_file_name_is_no_pattern() -> None:
    assert unglobbed(["what?.csv"]) == ["what[?].csv"]


def test_ids_of_two_types_are_text() -> None:
    assert (
        agreed([IdColumn("c0", "BIGINT", False, "accounts"), IdColumn("c0", "VARCHAR", False, "devices")]).kind
        == "VARCHAR"
    )


def test_a_file_that_is_no_table_is_answered_with_a_remedy() -> None:
    assert (remedy_for("people.xlsx"), remedy_for("people")) == (
        "save the sheet as CSV",
        "name the file by what it holds",
    )


def test_no_part_of_a_password_stays_in_a_message() -> None:
    assert (
        without_secrets("no entry for ann, s3cret", "postgresql://ann:s3cret@db.example/shop")
        == "no entry for ann, ***"
    )
    assert without_secrets('no host "ssw0rd@db"', "postgresql://ann:p@ssw0rd@db/shop") == 'no host "***@db"'


def test_standard_input_is_one_table() -> None:
    with pytest.raises(
        TableError, match=re.escape("standard input (-) is named for 2 tables; name files for the others")
    ):
        check_one_stdin("-", {"account": "accounts.csv", "device": "-"})


def test_small_tables_are_read_as_texts() -> None:
    assert read_texts(pa.table({"ID": [7], "answer": [None], "more": [1]}), "the table", ("id", "answer")) == [
        {"id": "7", "answer": None}
    ]


def test_names_are_compared_without_accents_and_spaces() -> None:
    assert (plain("Empfänger-Konto"), plain("EMPFAENGER KONTO"), plain("Donneur d'ordre")) == (
        "empfangerkonto",
        "empfangerkonto",
        "donneurdordre",
    )


def test_another_encoding_is_guessed_and_said(tmp_path: Path) -> None:
    file = tmp_path / "towns.csv"
    file.write_bytes("town,Köln".encode("cp1252"))
    copy, guessed = plain_text(file, tmp_path, "towns")
    assert (copy.read_text("utf-8"), guessed) == ("town,Köln", True)


def test_shards_are_read_as_one_table(tmp_path: Path) -> None:
    write_shards(pa.table({"rank": [1, 2, 3]}), tmp_path / "results.parquet")
    assert pq.read_table(tmp_path / "results.parquet")["rank"].to_pylist() == [1, 2, 3]


def test_cells_that_a_spreadsheet_would_run_are_quoted_and_counted(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    assert write_csv(pa.table({"id": ["=1+1", "-7", "bo"], "rank": [1, 2, 3]}), file) == 1
    assert file.read_text() == '"id","rank"\n"\'=1+1",1\n"-7",2\n"bo",3\n'
