"""SQLite and DuckDB files give the results of CSV; hostile ones reach nothing."""

from __future__ import annotations

import sqlite3
import tempfile
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from oddhop import read_network
from oddhop.cli import app
from oddhop.errors import TableError
from oddhop.tables.read import Query, read_tables
from oddhop.tables.settings import ReadSettings

SECRET = "what nobody else may read"  # noqa: S105
NODES = pa.table({"id": ["a", "b"], "age": [31, 52]})
PLAIN = ReadSettings(flows=False)


def sqlite_file(path: str | Path, tables: dict[str, pa.Table]) -> None:
    types = {"string": "TEXT", "int64": "INTEGER", "double": "REAL"}
    with sqlite3.connect(path) as connection:
        for name, table in tables.items():
            columns = ", ".join(f'"{field.name}" {types[str(field.type)]}' for field in table.schema)
            connection.execute(f'CREATE TABLE "{name}" ({columns})')
            marks = ", ".join("?" * table.num_columns)
            connection.executemany(f'INSERT INTO "{name}" VALUES ({marks})', zip(*table.to_pydict().values()))  # noqa: B905, S608
    connection.close()


def duckdb_file(path: str | Path, tables: dict[str, pa.Table]) -> None:
    with duckdb.connect(path) as connection:
        for name, table in tables.items():
            connection.register("frame", table)
            connection.execute(f'CREATE TABLE "{name}" AS FROM frame')
            connection.unregister("frame")


WRITERS = {"sqlite": sqlite_file, "duckdb": duckdb_file}
both = pytest.mark.parametrize("kind", list(WRITERS))


@both
def test_queries_on_a_file_give_the_bytes_of_csv(folder, tables, detect, from_csv, kind):
    WRITERS[kind]("shop.db", tables)
    before = Path("shop.db").read_bytes()
    queries = ("select * from edges order by random()", "with people as (select * from nodes) select * from people;")
    assert detect(*queries, "--database", f"{kind}:///shop.db") == from_csv
    assert Path("shop.db").read_bytes() == before
    assert not list(Path().glob("shop.db?*"))


@both
def test_a_table_may_come_from_each(folder, tables, detect, from_csv, kind):
    WRITERS[kind]("shop.db", tables)
    assert detect("edges.parquet", "select * from nodes", "--database", f"{kind}:///shop.db") == from_csv


@both
@pytest.mark.parametrize("name", ["it's.db", 'a "b".db', "what?.db", "a%20b#c.db", "ü ; --.db"])
def test_a_path_is_that_file(folder, tables, kind, name):
    WRITERS[kind](folder / name, tables)
    relative, absolute = (Query(f"{kind}:///{path}", "select * from edges") for path in (name, folder / name))
    for query in (relative, absolute):
        assert read_tables(query, tables["nodes"]).counts == read_tables("edges.csv", "nodes.csv").counts


def test_types_of_duckdb_arrive(tmp_path):
    with duckdb.connect(tmp_path / "t.duckdb") as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT uuid() AS id, sum(k)::HUGEINT AS huge, 1.5::DECIMAL(9, 2) AS dec, true AS flag, "
            "'x'::ENUM ('x', 'y') AS level, DATE '2026-01-01' AS day FROM range(5) r(k)"
        )
        connection.execute("CREATE TABLE e AS SELECT id AS source, id AS target FROM t")
    source = f"duckdb:///{tmp_path / 't.duckdb'}"
    network = read_tables(Query(source, "select * from e"), Query(source, "select * from t"), PLAIN)
    too_large = Query(source, "select 'a' as source, 'b' as target, 170141183460469231731687303715884105727 as n")
    with pytest.raises(TableError, match="INT64"):
        read_tables(too_large, NODES)
    row = network.columns.to_pylist()[0]
    assert (int(row["huge"]), float(row["dec"]), row["flag"], row["level"]) == (10, 1.5, True, "x")
    assert network.columns.schema.field("day").type == pa.date32()


def test_a_column_of_several_types_is_text_and_one_with_bytes_is_refused_by_name(tmp_path):
    source = f"sqlite:///{tmp_path / 't.db'}"
    with sqlite3.connect(tmp_path / "t.db") as connection:
        connection.execute("CREATE TABLE t (id, size, note)")
        rows = [(f"n{k:02d}", k % 5 + 0.5, b"bytes" if k else "text") for k in range(40)]
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", [*rows[:38], ("n38", "x", None), ("n39", 2, None)])
    connection.close()
    edges = pa.table({"source": ["n00"], "target": ["n01"]})
    with pytest.raises(TableError, match=r"'note': blob and text; say one in the query"):
        read_tables(edges, Query(source, "select * from t -- all"))
    network = read_network(edges, Query(source, "select id, size from t -- all"), flows=False)
    assert [(one.column, one.kind, one.missing) for one in network.encoding.report] == [("size", "number", 1)]


def test_whole_numbers_and_fractions_are_numbers_and_nothing_is_of_numbers(tmp_path):
    with sqlite3.connect(tmp_path / "t.db") as connection:
        connection.execute("CREATE TABLE t (id, x, y)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", [("a", 1, None), ("b", 2.5, None)])
    connection.close()
    edges = pa.table({"source": ["a"], "target": ["b"]})
    columns = read_tables(edges, Query(f"sqlite:///{tmp_path / 't.db'}", "select * from t"), PLAIN).columns
    assert columns.to_pydict() == {"x": [1.0, 2.5], "y": [None, None]}
    assert {str(field.type) for field in columns.schema} == {"double"}


HOSTILE = {
    "reads a file": "CREATE VIEW edges AS SELECT content AS source, content AS target FROM read_text('{secret}')",
    "reads a table file": "CREATE VIEW edges AS SELECT * FROM '{secret}'",
    "lists a folder": "CREATE VIEW edges AS SELECT file AS source, file AS target FROM glob('{folder}/*')",
    "reads a named file": "CREATE VIEW edges AS SELECT * FROM read_csv('{nodes}')",
}


@pytest.mark.parametrize("what", list(HOSTILE))
def test_a_hostile_duckdb_file_reaches_no_other_file(tmp_path, what):
    secret, nodes = tmp_path / "secret.csv", tmp_path / "nodes.csv"
    secret.write_text(f"{SECRET}\n{SECRET}\n")
    nodes.write_text("id,age\na,31\nb,52\n")
    with duckdb.connect(tmp_path / "bad.duckdb") as connection:
        connection.execute(HOSTILE[what].format(secret=secret, folder=tmp_path, nodes=nodes))
    # The node table is a file that was named: a view of the database may not read it either.
    with pytest.raises(TableError) as caught:
        read_tables(Query(f"duckdb:///{tmp_path / 'bad.duckdb'}", "select * from edges"), nodes)
    assert "disabled by configuration" in str(caught.value)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "query",
    [
        "install sqlite",
        "load httpfs",
        "attach 'other.duckdb'",
        "set enable_external_access = true",
        "copy edges to 'out.csv'",
        "select * from read_text('/etc/hostname')",
        "select * from sqlite_scan('x.db', 't')",
        "insert into edges values ('x', 'y')",
        "drop table edges",
    ],
)
def test_a_query_on_a_duckdb_file_does_nothing_but_read_it(tmp_path, monkeypatch, query):
    monkeypatch.chdir(tmp_path)
    duckdb_file("shop.duckdb", {"edges": pa.table({"source": ["a"], "target": ["b"]})})
    before = Path("shop.duckdb").read_bytes()
    with pytest.raises(TableError):
        read_tables(Query("duckdb:///shop.duckdb", query), NODES)
    assert [file.name for file in tmp_path.iterdir()] == ["shop.duckdb"]
    assert Path("shop.duckdb").read_bytes() == before


@pytest.mark.parametrize(
    "query",
    [
        "insert into edges values ('x', 'y')",
        "drop table edges",
        "attach 'other.db' as other",
        "select load_extension('x.so')",
        "pragma journal_mode = wal",
        "select 1; select 2",
        "",
    ],
)
def test_a_query_on_a_sqlite_file_does_nothing_but_read_it(tmp_path, monkeypatch, query):
    monkeypatch.chdir(tmp_path)
    sqlite_file("shop.db", {"edges": pa.table({"source": ["a"], "target": ["b"]})})
    before = Path("shop.db").read_bytes()
    with pytest.raises(TableError):
        read_tables(Query("sqlite:///shop.db", query), NODES)
    assert [file.name for file in tmp_path.iterdir()] == ["shop.db"]
    assert Path("shop.db").read_bytes() == before


@both
def test_what_is_no_such_file_is_told(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    Path("text.db").write_text("this is no database at all, but long enough to be looked into " * 40)
    WRITERS["duckdb" if kind == "sqlite" else "sqlite"]("other.db", {"edges": NODES})
    WRITERS[kind](
        "cut.db", {"edges": pa.table({"source": [f"{k:09d}" * 20 for k in range(3000)], "target": ["b"] * 3000})}
    )
    Path("cut.db").write_bytes(Path("cut.db").read_bytes()[: Path("cut.db").stat().st_size // 2])
    for address, says in [
        ("/text.db", r"text\.db"),
        ("/other.db", r"other\.db"),
        ("/cut.db", r"cut\.db"),
        ("/none.db", r"'none\.db', which is no file"),
        ("/", "without a path"),
        ("none.db", "without a path"),
    ]:
        with pytest.raises(TableError, match=says):
            read_tables(Query(f"{kind}://{address}", "select * from edges"), NODES)


@both
def test_a_query_that_is_wrong_is_told_with_its_table(tmp_path, kind):
    WRITERS[kind](tmp_path / "shop.db", {"edges": NODES})
    with pytest.raises(TableError, match=r"the edge table, a query on '.*shop\.db', cannot be read: .*nonsense"):
        read_tables(Query(f"{kind}:///{tmp_path / 'shop.db'}", "select * from nonsense"), NODES)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ann:p@s3cret@127.0.0.1:1/db",
        "postgresql://ann@127.0.0.1:1/db?password=s3cret%20s3cret%zz",
        "postgresql://ann:s3cret@[bad/db",
        "sqlite://ann:s3cret@host/x",
        "duckdb://ann:s3cret@host/x",
    ],
)
def test_no_part_of_a_password_is_shown(address):
    if address.startswith("postgresql"):
        pytest.importorskip("adbc_driver_postgresql")
    with pytest.raises(TableError) as caught:
        read_tables(Query(address, "select 1"), NODES)
    assert "s3cret" not in str(caught.value)


def test_text_of_sqlite_that_is_not_utf8_is_told(tmp_path):
    with sqlite3.connect(tmp_path / "t.db") as connection:
        connection.execute("CREATE TABLE t AS SELECT CAST(x'ff41' AS TEXT) AS source, 'b' AS target")
    connection.close()
    with pytest.raises(TableError, match="UTF-8"):
        read_tables(Query(f"sqlite:///{tmp_path / 't.db'}", "select * from t"), NODES)


def test_nothing_is_left_behind(tmp_path, monkeypatch):
    (tmp_path / "temporary").mkdir()
    duckdb_file(tmp_path / "shop.duckdb", {"edges": pa.table({"source": ["a"], "target": ["b"]})})
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    read_tables(Query(f"duckdb:///{tmp_path / 'shop.duckdb'}", "select * from edges"), NODES, PLAIN)
    assert not list((tmp_path / "temporary").iterdir())


def test_an_address_without_a_query_says_what_to_do(folder):
    done = CliRunner().invoke(app, ["plan", "sqlite:///shop.db", "--nodes", "nodes.csv"])
    assert done.exit_code == 3
    assert "--database ADDRESS" in done.stderr
    done = CliRunner().invoke(
        app, ["plan", "select 1", "--nodes", "nodes.csv", "--database", "mysql://ann:s3cret@db/shop"]
    )
    assert done.exit_code == 3
    assert "sqlite:///shop.db" in done.stderr
    assert "s3cret" not in done.output


@pytest.mark.parametrize("name", ["temp.duckdb", "MEMORY.db", "system.duckdb"])
def test_a_duckdb_file_may_be_called_as_a_database_that_is_always_there(tmp_path, tables, name):
    duckdb_file(tmp_path / name, tables)
    query = Query(f"duckdb:///{tmp_path / name}", "select * from edges")
    assert read_tables(query, tables["nodes"]).counts.edge_rows == tables["edges"].num_rows
