"""``oddhop inject``: put known anomalies into a network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oddhop.cli.bench import Data, plain_errors
from oddhop.errors import TableError
from oddhop.runs import write_atomically

if TYPE_CHECKING:
    from oddhop.inject import Injected


def inject(
    out: Annotated[Path, typer.Argument(help="A .mat file for a network by name; a folder for tables.")],
    network: Annotated[str | None, typer.Option("--network", help="A network by name, or a .mat file.")] = None,
    edges: Annotated[str | None, typer.Option("--edges", help="A table of edges, instead of a network.")] = None,
    nodes: Annotated[str | None, typer.Option("--nodes", help="The table of its nodes.")] = None,
    reading: Annotated[str, typer.Option(help="dominant, paper-text or leak-controlled.")] = "dominant",
    cliques: Annotated[int, typer.Option(help="How many groups are wired together.")] = 10,
    clique_size: Annotated[int, typer.Option(help="Nodes in each; as many again get foreign attributes.")] = 15,
    candidates: Annotated[int, typer.Option(help="Attributes come from the farthest of so many nodes.")] = 50,
    seed: Annotated[int, typer.Option(help="The same seed, the same anomalies.")] = 0,
    data: Data = None,
) -> None:
    """Put groups and foreign attributes into a network, and write it with labels, kinds apart."""
    from oddhop.bench.networks import load_network
    from oddhop.encode import learn_encoding
    from oddhop.inject import inject as put_in
    from oddhop.io import network_graph, read_network

    with plain_errors():
        if (network is None) == (edges is None):
            raise TableError("give --network, or --edges and --nodes")
        options = {"clique_size": clique_size, "cliques": cliques, "candidates": candidates, "seed": seed}
        if network is not None:
            made = put_in(load_network(network, data).graph, reading=reading, **options)  # type: ignore[arg-type]
            _write_mat(made, out)
        else:
            tables = read_network(edges, nodes)
            attributes, names = learn_encoding(tables.columns).apply(tables.columns)
            graph = network_graph(tables, attributes, names)
            made = put_in(graph, reading=reading, **options)  # type: ignore[arg-type]
            _write_tables(made, tables.ids, tables.columns, tables.roles.id, out)
        typer.echo(f"{out}: {int(made.structural.sum())} structural, {int(made.contextual.sum())} contextual anomalies")


def _write_mat(made: Injected, out: Path) -> None:
    from io import BytesIO

    import numpy as np
    import scipy.io
    import scipy.sparse as sp

    graph = made.graph
    ones = np.ones(graph.indices.size)
    parts = {
        "Network": sp.csc_array(sp.csr_array((ones, graph.indices, graph.indptr), shape=(graph.node_count,) * 2)),
        "Attributes": sp.csc_array(graph.attributes),
        "Label": made.anomalous.astype(np.uint8)[:, None],
        "str_anomaly_label": made.structural.astype(np.uint8)[:, None],
        "attr_anomaly_label": made.contextual.astype(np.uint8)[:, None],
    }
    content = BytesIO()
    scipy.io.savemat(content, parts, do_compression=True)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(out, content.getvalue())


def _write_tables(made: Injected, ids: object, columns: object, id_name: str, out: Path) -> None:
    from io import BytesIO

    import pyarrow as pa
    import pyarrow.parquet as pq

    from oddhop.adjacency import upper_edges

    graph = made.graph
    left, right = upper_edges(graph.indptr, graph.indices, graph.upper, 0, graph.edge_count)
    named = pa.array(ids)
    tables = {
        "edges": pa.table({"source": named.take(pa.array(left)), "target": named.take(pa.array(right))}),
        "nodes": columns.take(pa.array(made.takes_from)).add_column(0, id_name, named),  # type: ignore[attr-defined]
        # Apart from the nodes, so that no detector is handed the answer.
        "labels": pa.table({id_name: named, "structural": made.structural, "contextual": made.contextual}),
    }
    out.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        content = BytesIO()
        pq.write_table(table, content)
        write_atomically(out / f"{name}.parquet", content.getvalue())
