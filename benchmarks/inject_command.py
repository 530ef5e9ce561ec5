"""``python -m benchmarks inject``: put known anomalies into a network."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oddhop.cli import options as o

if TYPE_CHECKING:
    from benchmarks.inject import Injected
    from oddhop.tables.read import NetworkTables

Data = Annotated[
    str | None,
    typer.Option("--data", envvar="ODDHOP_DATA", help="Folder with the benchmark networks.", show_default=False),
]


class Scheme(StrEnum):
    """The schemes of injection, see ``benchmarks.inject``."""

    dominant = "dominant"
    paper_text = "paper-text"
    leak_controlled = "leak-controlled"


@o.command()
def inject(
    network: Annotated[
        str,
        typer.Argument(
            help="Name of a benchmark network, a .mat file, or an edge table (with --nodes).", show_default=False
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out", help="Output: a .mat file, or a folder of tables if --nodes is given.", show_default=False
        ),
    ],
    nodes: Annotated[
        str | None,
        typer.Option("--nodes", help="Node table of the network.", show_default=False, rich_help_panel=o.INPUT),
    ] = None,
    scheme: Annotated[
        Scheme, typer.Option("--scheme", help="Injection scheme that makes the anomalies.")
    ] = Scheme.dominant,
    cliques: Annotated[int, typer.Option("--cliques", help="Number of cliques to inject.")] = 10,
    clique_size: Annotated[int, typer.Option("--clique-size", help="Number of nodes in each clique.")] = 15,
    candidates: Annotated[
        int,
        typer.Option(
            "--candidates",
            help="Number of random nodes to draw for each attribute anomaly. The anomaly gets the attributes of the "
            "most distant of the drawn nodes.",
        ),
    ] = 50,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the random number generator.")] = 0,
    data: Data = None,
) -> None:
    """Inject known anomalies into a network, to test detectors.

    The anomalies are cliques, and nodes that get the attributes of another node. The command also writes the labels of
    the injected anomalies.

    Example:

        python -m benchmarks inject edges.csv --nodes nodes.csv --out injected --cliques 2 --clique-size 5
    """
    from benchmarks.inject import inject as put_in
    from benchmarks.networks import load_network
    from oddhop import Graph
    from oddhop.tables.encode import learn_encoding
    from oddhop.tables.read import read_tables

    tables = read_tables(network, nodes) if nodes is not None else None
    if tables is None:
        graph = load_network(network, data).graph
    else:
        attributes, names = learn_encoding(tables.columns).apply(tables.columns)
        graph = Graph.from_arrays(tables.edge_index, attributes, attribute_names=names)
    made = put_in(
        graph,
        random_state=seed,
        clique_size=clique_size,
        cliques=cliques,
        candidates=candidates,
        scheme=scheme.value,
    )
    if tables is None:
        _write_mat(made, out)
    else:
        _write_tables(made, tables, out)
    typer.echo(f"{out}: {int(made.structural.sum())} structural, {int(made.contextual.sum())} contextual anomalies")


def _write_mat(made: Injected, out: Path) -> None:
    import numpy as np
    import scipy.io
    import scipy.sparse as sp

    from oddhop.base.files import atomic_file

    graph = made.graph
    parts = {
        "Network": sp.csc_array(graph.adjacency()),
        "Attributes": sp.csc_array(graph.attributes),
        "Label": made.anomalous.astype(np.uint8)[:, None],
        "str_anomaly_label": made.structural.astype(np.uint8)[:, None],
        "attr_anomaly_label": made.contextual.astype(np.uint8)[:, None],
    }
    with atomic_file(out) as file:
        scipy.io.savemat(file, parts, do_compression=True)


def _write_tables(made: Injected, tables: NetworkTables, out: Path) -> None:
    import pyarrow as pa

    from oddhop.tables.results import write_parquet

    graph, ids, name = made.graph, tables.ids, tables.roles.id
    left, right = graph.ends(0, graph.edge_count)
    written = {
        "edges": pa.table({"source": ids.take(pa.array(left)), "target": ids.take(pa.array(right))}),
        "nodes": tables.columns.take(pa.array(made.takes_from)).add_column(0, name, ids),
        # Apart from the nodes, so that no detector is handed the answer.
        "labels": pa.table({name: ids, "structural": made.structural, "contextual": made.contextual}),
    }
    out.mkdir(parents=True, exist_ok=True)
    for part, table in written.items():
        write_parquet(table, out / f"{part}.parquet")
