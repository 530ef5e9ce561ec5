import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from oddhop import Graph
from oddhop.errors import GraphError

PATH = [[0, 1], [1, 2]]
COLUMN = [[0.0], [1.0], [2.0]]


@st.composite
def networks(draw):
    """Return edges, attributes, and ids in no order."""
    nodes = draw(st.integers(2, 8))
    node = st.integers(0, nodes - 1)
    pairs = draw(st.lists(st.tuples(node, node).filter(lambda pair: pair[0] != pair[1]), min_size=1, max_size=20))
    number = st.floats(-1e6, 1e6)
    row = st.lists(number, min_size=2, max_size=2)
    attributes = draw(st.lists(row, min_size=nodes, max_size=nodes))
    some_ids = st.integers(-(2**40), 2**40) if draw(st.booleans()) else st.text("abcXYZ019_é", min_size=1, max_size=6)
    ids = draw(st.lists(some_ids, min_size=nodes, max_size=nodes, unique=True))
    return np.array(pairs).T, np.array(attributes), ids


def neighbours_by_id(graph):
    return {
        graph.node_ids[i].item(): {
            graph.node_ids[j].item() for j in graph.indices[graph.indptr[i] : graph.indptr[i + 1]]
        }
        for i in range(graph.node_count)
    }


@settings(deadline=None)
@given(networks())
def test_wiring_and_attributes_follow_the_ids(case):
    edges, attributes, ids = case
    graph = Graph.from_arrays(edges, attributes, ids)
    expected = {name: set() for name in ids}
    for u, v in edges.T:
        expected[ids[u]].add(ids[v])
        expected[ids[v]].add(ids[u])
    assert graph.node_ids.tolist() == sorted(ids)
    assert neighbours_by_id(graph) == expected
    assert dict(zip(graph.node_ids.tolist(), graph.attributes.tolist(), strict=True)) == dict(
        zip(ids, attributes.tolist(), strict=True)
    )


@settings(deadline=None)
@given(networks(), st.data())
def test_the_fingerprint_forgets_the_order_of_edges_directions_and_repeats(case, data):
    edges, attributes, _ = case
    repeats = data.draw(st.lists(st.integers(0, edges.shape[1] - 1), max_size=5))
    again = np.hstack([edges, edges[:, repeats]])[:, data.draw(st.permutations(range(edges.shape[1] + len(repeats))))]
    turned = np.array(data.draw(st.lists(st.booleans(), min_size=again.shape[1], max_size=again.shape[1])))
    again = np.where(turned, again[::-1], again)
    assert Graph.from_arrays(again, attributes).fingerprint == Graph.from_arrays(edges, attributes).fingerprint


@settings(deadline=None)
@given(networks(), st.data())
def test_with_ids_the_fingerprint_forgets_the_order_of_nodes(case, data):
    edges, attributes, ids = case
    order = np.array(data.draw(st.permutations(range(len(ids)))))
    other = Graph.from_arrays(np.argsort(order)[edges], attributes[order], [ids[k] for k in order])
    assert other.fingerprint == Graph.from_arrays(edges, attributes, ids).fingerprint


@settings(deadline=None)
@given(networks(), st.data())
def test_the_fingerprint_changes_with_every_attribute(case, data):
    edges, attributes, _ = case
    changed = attributes.copy()
    place = data.draw(st.integers(0, attributes.size - 1))
    changed.flat[place] = np.nextafter(changed.flat[place], np.inf)
    for form in (np.array, sp.csr_array):
        before, after = (Graph.from_arrays(edges, form(x)).fingerprint for x in (attributes, changed))
        assert before != after


@settings(deadline=None)
@given(networks(), st.data())
def test_the_fingerprint_changes_with_every_edge(case, data):
    edges, attributes, _ = case
    gone = set(edges[:, data.draw(st.integers(0, edges.shape[1] - 1))])
    left = edges[:, [set(pair) != gone for pair in edges.T]]
    assert Graph.from_arrays(left, attributes).fingerprint != Graph.from_arrays(edges, attributes).fingerprint


def test_the_fingerprint_changes_with_ids_and_types():
    variants = [
        Graph.from_arrays(PATH, COLUMN),
        Graph.from_arrays(PATH, COLUMN, [1, 2, 3]),
        Graph.from_arrays(PATH, COLUMN, [1, 2, 4]),
        Graph.from_arrays(PATH, COLUMN, ["1", "2", "3"]),
        Graph.from_arrays(PATH, np.float32(COLUMN)),
        Graph.from_arrays([PATH[0], [1, 0]], COLUMN),
        Graph.from_arrays(PATH, [*COLUMN, [0.0]]),
        Graph.from_arrays(PATH, np.hstack([COLUMN, COLUMN])),
    ]
    assert len({graph.fingerprint for graph in variants}) == len(variants)


@pytest.mark.parametrize(
    ("ids", "expected"),
    [([10, 2, -1], [-1, 2, 10]), (["10", "2", "b"], ["10", "2", "b"]), (["b", "B", "a"], ["B", "a", "b"])],
)
def test_integers_sort_as_numbers_and_strings_as_text(ids, expected):
    assert Graph.from_arrays(PATH, COLUMN, ids).node_ids.tolist() == expected


@pytest.mark.parametrize("form", [np.array, sp.csr_array], ids=["dense", "sparse"])
def test_the_input_is_neither_changed_nor_kept(form):
    edges, ids = np.array([[2, 0, 1, 1], [1, 1, 0, 1]]), np.array([30, 10, 20])
    matrix = form(np.array([[0.0, 5.0], [1.0, 0.0], [2.0, 3.0]]))
    parts = [edges, ids, *([matrix.data, matrix.indices, matrix.indptr] if sp.issparse(matrix) else [matrix])]
    before = [part.tobytes() for part in parts]
    graph = Graph.from_arrays(edges, matrix, ids)
    fingerprint = Graph.from_arrays(edges, matrix, ids).fingerprint
    assert [part.tobytes() for part in parts] == before
    for part in parts:
        part[...] = 0
    assert graph.fingerprint == fingerprint


def test_an_unsorted_sparse_matrix_is_read_right_and_left_alone():
    matrix = sp.csr_array(
        (np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 0, 1, 1]), np.array([0, 2, 4, 4])), shape=(3, 2)
    )
    graph = Graph.from_arrays(PATH, matrix)
    assert graph.attributes.toarray().tolist() == [[2.0, 1.0], [0.0, 7.0], [0.0, 0.0]]
    assert matrix.indices.tolist() == [1, 0, 1, 1]


def test_read_only_input_is_welcome():
    edges, attributes = np.array(PATH), np.array(COLUMN)
    edges.flags.writeable = attributes.flags.writeable = False
    assert Graph.from_arrays(edges, attributes).edge_count == 2


@pytest.mark.parametrize("attributes", [COLUMN, sp.csr_array(COLUMN)], ids=["dense", "sparse"])
def test_a_graph_refuses_to_be_written_to(attributes):
    graph = Graph.from_arrays(PATH, attributes, [1, 2, 3])
    values = graph.attributes.data if sp.issparse(graph.attributes) else graph.attributes
    for array in (graph.indptr, graph.indices, graph.node_ids, values):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


@pytest.mark.parametrize(
    ("given_type", "kept"),
    [(np.float16, np.float32), (np.float32, np.float32), (np.int8, np.float64), (bool, np.float64)],
)
def test_single_precision_is_kept_and_the_rest_becomes_double(given_type, kept):
    assert Graph.from_arrays(PATH, np.array([[0], [1], [1]], dtype=given_type)).attributes.dtype == kept


@pytest.mark.parametrize("edges", [[], [[], []], np.empty((2, 0))])
def test_a_network_may_have_no_edges(edges):
    graph = Graph.from_arrays(edges, COLUMN)
    assert graph.degrees.tolist() == [0, 0, 0]
    assert repr(graph) == "Graph(3 nodes, 0 edges, 1 attribute)"


def test_every_entry_knows_its_node():
    graph = Graph.from_arrays([[0, 1, 3], [1, 3, 4]], np.ones((5, 1)))  # node 2 has no neighbour
    assert list(zip(graph.entry_nodes, graph.indices, strict=True)) == [(0, 1), (1, 0), (1, 3), (3, 1), (3, 4), (4, 3)]


def test_other_attributes_keep_the_wiring_and_the_ids():
    graph = Graph.from_arrays(PATH, COLUMN, ["a", "b", "c"], attribute_names=["age"])
    other = graph.with_attributes(np.ones((3, 2)), ["x", "y"])
    assert other.node_ids.tolist() == ["a", "b", "c"]
    assert other.attribute_names == ("x", "y")
    assert other.degrees.tolist() == graph.degrees.tolist()
    assert other.fingerprint != graph.fingerprint


# What is wrong, and what the message must name: what was got, and what to do.
REFUSED = {
    "pairs as rows": (
        ([[0, 1], [1, 2], [0, 2]], COLUMN),
        r"integers of shape \(2, edges\).*\(3, 2\).*np\.array\(pairs\)\.T",
    ),
    "edges of floats": (([[0.0], [1.0]], COLUMN), r"integers.*got float64.*np\.array\(pairs\)\.T"),
    "edges in one row": (([0, 1], COLUMN), r"got int64 of shape \(2,\)"),
    "row too high": (
        ([[0], [3]], COLUMN),
        r"row numbers from 0 to 2, got 3; number the nodes by their attribute rows.*node_ids",
    ),
    "negative row": (
        ([[-1], [0]], COLUMN),
        r"row numbers from 0 to 2, got -1; number the nodes by their attribute rows",
    ),
    "attributes in one row": (
        (PATH, [0.0, 1.0, 2.0]),
        r"got shape \(3,\); for a single column use x\.reshape\(-1, 1\)",
    ),
    "attributes of text": ((PATH, [["a"], ["b"], ["c"]]), r"attributes must be real numbers.*got <U1"),
    "complex attributes": ((PATH, [[1j], [0], [0]]), r"attributes must be real numbers.*got complex128"),
    "ragged attributes": (
        (PATH, [[1.0], [1.0, 2.0], [3.0]]),
        r"attributes must be real numbers, one vector of equal length",
    ),
    "no nodes": (([], np.empty((0, 2))), r"no nodes; give at least one attribute row"),
    "no attributes": ((PATH, np.empty((3, 0))), r"no attributes.*give at least one column, for example the degree"),
    "not a number": (
        (PATH, [[0.0, 1.0], [np.inf, 2.0], [3.0, np.nan]]),
        r"2 value\(s\) that are NaN or infinite, the first is inf at row 1, column 0; fill them in, or remove",
    ),
    "not a number in sparse": (
        (PATH, sp.csr_array([[0.0, 1.0], [0.0, np.nan], [3.0, 0.0]])),
        r"1 value\(s\) that are NaN or infinite, the first is nan at row 1, column 1; fill them in, or remove",
    ),
    "ids of floats": (
        (PATH, COLUMN, [0.5, 1.5, 2.5]),
        r"all integers or all strings.*got float64.*pass other ids as text",
    ),
    "mixed ids": ((PATH, COLUMN, [1, "a", 2]), r"all integers or all strings.*pass other ids as text"),
    "ids of pairs": ((PATH, COLUMN, [(0, 0), (0, 1), (1, 0)]), r"in one row, got int64 of shape \(3, 2\)"),
    "too few ids": ((PATH, COLUMN, [1, 2]), r"3 attribute rows and 2 node ids; give one id for each row"),
    "repeated ids": (
        (PATH, COLUMN, ["a", "b", "a"]),
        r"1 node id\(s\) are repeated, first .*'a'.*give every node a different id",
    ),
}


@pytest.mark.parametrize(("arguments", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_used_is_refused_with_what_was_got_and_what_to_do(arguments, message):
    with pytest.raises(GraphError, match=message):
        Graph.from_arrays(*arguments)


def test_names_must_be_as_many_as_columns():
    with pytest.raises(GraphError, match=r"1 attribute columns and 2 names; give one name for each column"):
        Graph.from_arrays(PATH, COLUMN, attribute_names=["a", "b"])


@pytest.mark.parametrize("form", [sp.csr_array, sp.coo_array, sp.csc_array, sp.csr_matrix, sp.lil_matrix])
def test_from_scipy_reads_non_zero_entries_of_any_format(form):
    graph = Graph.from_scipy(form(np.array([[0, 2, 0], [2, 0, 1], [0, 0, 1]])), COLUMN)
    assert graph.indices.tolist() == [1, 0, 2, 1]
    assert (graph.repairs.loops, graph.repairs.one_way, graph.repairs.weights) == (1, 1, 2)


def test_from_scipy_takes_explicit_zeros_for_no_edge():
    matrix = sp.csr_array((np.array([1.0, 0.0, 1.0]), np.array([1, 2, 0]), np.array([0, 2, 3, 3])), shape=(3, 3))
    graph = Graph.from_scipy(matrix, COLUMN)
    assert graph.indices.tolist() == [1, 0]
    assert matrix.nnz == 3


@settings(deadline=None)
@given(networks())
def test_from_scipy_is_from_arrays(case):
    edges, attributes, ids = case
    matrix = sp.coo_array((np.ones(edges.shape[1]), (edges[0], edges[1])), shape=(len(ids), len(ids)))
    one, two = Graph.from_scipy(matrix, attributes, ids), Graph.from_arrays(edges, attributes, ids)
    assert one.fingerprint == two.fingerprint
    assert one.repairs == two.repairs


@pytest.mark.parametrize(
    ("adjacency", "message"),
    [
        (np.eye(3), r"square SciPy matrix, got ndarray of shape \(3, 3\); for edge lists use Graph\.from_arrays"),
        (sp.csr_array((3, 4)), r"square SciPy matrix, got csr_array of shape \(3, 4\)"),
        (sp.csr_array((2, 2)), r"adjacency has 2 rows and the attributes have 3; give one attribute row"),
    ],
    ids=["dense", "not square", "other size"],
)
def test_from_scipy_refuses_what_is_no_adjacency(adjacency, message):
    with pytest.raises(GraphError, match=message):
        Graph.from_scipy(adjacency, COLUMN)


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_from_networkx_keeps_nodes_edges_and_data(kind):
    network = kind([("c", "a"), ("a", "b")])
    nx.set_node_attributes(network, {"a": 1, "b": 2, "c": 3}, "age")
    nx.set_node_attributes(network, {"a": [0.1, 0.2], "b": [0.3, 0.4], "c": [0.5, 0.6]}, "place")
    graph = Graph.from_networkx(network)
    assert neighbours_by_id(graph) == {"a": {"b", "c"}, "b": {"a"}, "c": {"a"}}
    assert graph.attribute_names == ("age", "place[0]", "place[1]")
    assert graph.attributes.tolist() == [[1, 0.1, 0.2], [2, 0.3, 0.4], [3, 0.5, 0.6]]


def test_from_networkx_counts_the_data_of_edges_that_is_not_used():
    network = nx.MultiDiGraph([("a", "b", {"amount": 3.0}), ("a", "b", {"amount": 1.0, "when": "May"}), ("b", "c")])
    nx.set_node_attributes(network, 1.0, "age")
    assert Graph.from_networkx(network, directed=True).repairs.edge_columns == 2


def test_from_networkx_takes_the_named_data_in_order():
    network = nx.path_graph(3)
    for name, value in {"x": 1.0, "y": 2.0, "note": "text"}.items():
        nx.set_node_attributes(network, value, name)
    graph = Graph.from_networkx(network, ["y", "x"])
    assert graph.attribute_names == ("y", "x")
    assert graph.attributes[0].tolist() == [2.0, 1.0]


def test_from_networkx_names_the_node_that_lacks_data():
    network = nx.path_graph(3)
    network.nodes[0]["age"] = 1.0
    with pytest.raises(
        GraphError, match=r"'age' is missing on 2 of 3 nodes, first on 1; fill it in, or remove the name"
    ):
        Graph.from_networkx(network)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, r"have no data; set data with networkx\.set_node_attributes"),
        ({0: "a", 1: "b", 2: "c"}, r"node data 'age' must be real numbers.*got <U1"),
        ({0: [1.0], 1: [1.0, 2.0], 2: [1.0]}, r"node data 'age' must be real numbers, one vector of equal length"),
    ],
    ids=["none", "text", "ragged"],
)
def test_from_networkx_refuses_data_that_is_no_number(values, message):
    network = nx.path_graph(3)
    nx.set_node_attributes(network, values, "age")
    with pytest.raises(GraphError, match=message):
        Graph.from_networkx(network)


UNTYPED = {
    "edges of two lengths": lambda: Graph.from_arrays([[0, 1], [1]], COLUMN),
    "sparse attributes in one row": lambda: Graph.from_arrays(PATH, sp.coo_array(np.arange(3.0))),
    "a number beyond doubles": lambda: Graph.from_arrays(PATH, [[10**400], [1], [2]]),
    "ids of several lengths": lambda: Graph.from_arrays(PATH, COLUMN, [(1,), (1, 2), 3]),
    "sparse adjacency in one row": lambda: Graph.from_scipy(sp.coo_array(np.arange(3.0)), COLUMN),
    "networkx without nodes": lambda: Graph.from_networkx(nx.Graph(), ["age"]),
}


@pytest.mark.parametrize("build", UNTYPED.values(), ids=UNTYPED.keys())
def test_every_refusal_is_a_graph_error(build):
    with pytest.raises(GraphError, match="; "):
        build()


def test_from_scipy_compares_the_sizes_first():
    with pytest.raises(GraphError, match="adjacency has 5 rows and the attributes have 3"):
        Graph.from_scipy(sp.csr_array(np.ones((5, 5))), COLUMN)


SAME = {
    "sparse indices": [
        sp.csr_array(COLUMN),
        sp.csr_array((np.array([1.0, 2.0]), np.zeros(2, np.int64), np.array([0, 0, 1, 2])), shape=(3, 1)),
    ],
    "explicit zeros": [
        sp.csr_array(COLUMN),
        sp.csr_array((np.arange(3.0), np.zeros(3, np.int32), np.arange(4, dtype=np.int32)), shape=(3, 1)),
    ],
}


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME.keys())
def test_the_fingerprint_forgets_how_sparse_attributes_are_stored(one, other):
    assert Graph.from_arrays(PATH, one).fingerprint == Graph.from_arrays(PATH, other).fingerprint


@pytest.mark.parametrize(
    ("ids", "dtype"), [([1, 2, 3], np.int32), (["a", "b", "c"], "U9")], ids=["integers", "strings"]
)
def test_the_fingerprint_forgets_how_ids_are_stored(ids, dtype):
    one, other = (Graph.from_arrays(PATH, COLUMN, given_ids) for given_ids in (ids, np.array(ids, dtype=dtype)))
    assert one.fingerprint == other.fingerprint


def test_strings_may_come_as_objects_as_pandas_gives_them():
    ids = np.array(["b", "a", "c"], dtype=object)
    assert Graph.from_arrays(PATH, COLUMN, ids).node_ids.tolist() == ["a", "b", "c"]


def test_an_undirected_edge_of_networkx_is_no_repair():
    nx = pytest.importorskip("networkx")
    for kind, one_way in ((nx.Graph, 0), (nx.DiGraph, 2)):
        network = kind([(0, 1), (1, 2)])
        nx.set_node_attributes(network, {0: 1.0, 1: 2.0, 2: 3.0}, "x")
        assert Graph.from_networkx(network).repairs.one_way == one_way
