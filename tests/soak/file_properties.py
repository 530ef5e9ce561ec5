"""What must hold for every file, number and fit, added to the properties of networks."""

from __future__ import annotations

import json
import re
import tempfile
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import torch
from hypothesis import strategies as st

from oddhop import HCM, Graph, Odd
from oddhop.base.files import pack_arrays, unpack_arrays, write_atomically
from oddhop.base.parallel import map_blocks
from oddhop.base.printable import spelled
from oddhop.base.randomness import HOPS, NOISE, STEP, generator, torch_generator
from oddhop.errors import ModelFileError
from oddhop.graph.preparation import learn_preparation
from oddhop.hcm.sampler import SGLD, Rule
from oddhop.hcm.scoring import _add_to_ends, welford
from oddhop.tables.encode import Encoding, learn_encoding
from oddhop.tables.results import NUMBER, RUNS, write_csv
from tests.soak.properties import FILE, FIT, edges_of, graph_of, holds

ARRAYS = st.dictionaries(st.text("abc_.", min_size=1, max_size=5), st.integers(0, 2**32 - 1), max_size=3)
KINDS = ("<f4", "<f8", "<i4", "<i8", "|u1")


def packed(data: Any) -> tuple[dict[str, np.ndarray], dict[str, Any], bytes]:
    arrays = {}
    for name, seed in data.draw(ARRAYS).items():
        rng = np.random.default_rng(seed)
        arrays[name] = rng.normal(size=rng.integers(0, 4, rng.integers(0, 3))).astype(KINDS[seed % len(KINDS)])
    info = {"made": data.draw(st.text(max_size=9)), "n": data.draw(st.integers())}
    return arrays, info, pack_arrays(arrays, info)


@holds("what was packed is unpacked")
def _(data: Any) -> None:
    arrays, info, content = packed(data)
    found, said = unpack_arrays(content, "it")
    assert said == info
    assert found.keys() == arrays.keys()
    assert all(found[k].tobytes() == arrays[k].tobytes() and found[k].shape == arrays[k].shape for k in arrays)


@holds("no changed byte is unpacked")
def _(data: Any) -> None:
    content = bytearray(packed(data)[2])
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        unpack_arrays(bytes(content), "it")
    except ModelFileError:
        return
    raise AssertionError("a changed byte passed")


@holds("a written file has what was written, and nothing lies beside it", FILE)
def _(data: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):
            content = data.draw(st.binary(max_size=99))
            write_atomically(Path(folder) / "file", content)
            assert (Path(folder) / "file").read_bytes() == content
        assert len(list(Path(folder).iterdir())) == 1


@holds("a key gives the same numbers, and another key others")
def _(data: Any) -> None:
    one, other = data.draw(st.tuples(*[st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 99))] * 2))
    draw = [generator(seed, HOPS, number).integers(0, 2**62, 4).tolist() for seed, number in (one, one, other)]
    assert draw[0] == draw[1]
    assert (draw[0] == draw[2]) == (one == other)


@holds("a chain that goes on is the chain that went straight on")
def _(data: Any) -> None:
    seed, steps = data.draw(st.integers(0, 2**32 - 1)), data.draw(st.integers(2, 8))
    rule = Rule(0.1, data.draw(st.integers(0, 5)), 0.5, 0.01, warm=data.draw(st.floats(1, 3)))

    def moved(weights: Any, squares: Any, first: int, last: int) -> tuple[Any, Any]:
        parameter = torch.nn.Parameter(weights.clone())
        sampler = SGLD([parameter], rule)
        sampler.restore(squares, first)
        for step in range(first, last):
            parameter.grad = torch.from_numpy(generator(seed, STEP, step).normal(size=3))
            sampler.step(torch_generator(seed, NOISE, step))
        return parameter.detach(), sampler.squares()

    begun = torch.ones(3, dtype=torch.float64), torch.zeros(3, dtype=torch.float64)
    stop = data.draw(st.integers(1, steps - 1))
    for straight, again in zip(moved(*begun, 0, steps), moved(*moved(*begun, 0, stop), stop, steps), strict=True):
        assert torch.equal(straight, again)


@holds("results come in the order of the blocks", 0.1)
def _(data: Any) -> None:
    blocks = data.draw(st.lists(st.integers(), max_size=20))
    assert list(map_blocks(lambda block: block * 2, blocks, workers=data.draw(st.integers(1, 4)))) == [
        2 * b for b in blocks
    ]


@holds("running moments are the moments")
def _(data: Any) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    values = rng.normal(size=(data.draw(st.integers(1, 9)), 4)) * 10.0 ** rng.integers(-3, 4) + 10.0 ** rng.integers(
        -3, 4
    )
    mean, square = np.zeros(4), np.zeros(4)
    for count, row in enumerate(values, start=1):
        welford(row, count, mean, square)
    np.testing.assert_allclose(mean, values.mean(axis=0), rtol=1e-9)
    np.testing.assert_allclose(square / len(values), values.var(axis=0), rtol=1e-6, atol=1e-9 * values.max() ** 2)


@holds("the figures of edges are added to both ends")
def _(data: Any) -> None:
    nodes, edges = edges_of(data)
    values, sums, expected = np.arange(edges.shape[1]) + 0.5, np.zeros(nodes), np.zeros(nodes)
    _add_to_ends(edges[0], edges[1], values, sums)
    for end in edges:
        np.add.at(expected, end, values)
    assert np.array_equal(sums, expected)


@holds("nothing that is said moves a terminal")
def _(data: Any) -> None:
    said = spelled(data.draw(st.text(st.characters(), max_size=30)))
    assert all(char.isprintable() or char in "\t\n" or ord(char) > 0x9F for char in said)
    said.encode()
    assert spelled(said) == said


@holds("no cell of the CSV runs in a spreadsheet", FILE)
def _(data: Any) -> None:
    ids = data.draw(st.lists(st.text("=+-@\t\r 1.,ea'\"\n", max_size=6), min_size=1, max_size=4))
    with tempfile.TemporaryDirectory() as folder:
        write_csv(pa.table({"id": ids}), Path(folder) / "r.csv")
        options = pa.csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False)
        kept = pa.csv.ConvertOptions(column_types={"id": pa.string()}, strings_can_be_null=False)
        found = pa.csv.read_csv(Path(folder) / "r.csv", parse_options=options, convert_options=kept)["id"].to_pylist()
    assert len(found) == len(ids)
    runs = re.sub(r"\\x\{(\w+)\}", lambda code: chr(int(code[1], 16)), RUNS)  # as Python writes them
    assert not any(re.match(runs, cell) and not re.match(NUMBER, cell) for cell in found)


@holds("attributes of any size become finite ones", FILE)
def _(data: Any) -> None:
    _, edges, x, rng = graph_of(data)
    sized = Graph.from_arrays(edges, x * 10.0 ** rng.integers(-200, 200, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        prepared = learn_preparation(
            sized.attributes, scale="standard", pca_components=2, pca_above=2 + 9 * (len(x) % 2)
        )
        assert np.isfinite(prepared.apply(sized).attributes).all()


@holds("an encoding that went through JSON encodes alike, in any order of rows", FILE / 4)
def _(data: Any) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    rows = data.draw(st.integers(3, 12))
    columns = {"n": rng.normal(size=rows), "c": rng.choice(["a", "b", "c"], rows), "k": rng.integers(0, 3, rows)}
    table = pa.table({**columns, "m": [None if v < 0 else v for v in rng.normal(size=rows)]})
    encoding = learn_encoding(table)
    again = Encoding.from_json(json.loads(json.dumps(encoding.to_json())))
    order = rng.permutation(rows)
    one, other = encoding.apply(table)[0], again.apply(table.take(order))[0]
    assert np.array_equal(np.asarray(one)[order], np.asarray(other))
    assert learn_encoding(table.take(order)) == encoding


class StoppedError(Exception):
    """Stands for a kill."""


@holds("HCM gone on with is HCM straight on", FIT)
def _(data: Any) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    graph = Graph.from_arrays(rng.integers(0, 20, (2, 40)), rng.normal(size=(20, 3)))
    quick = {"burn_in": 6, "samples": 2, "thin": 2, "chains": 2, "hidden": 4, "random_state": 0, "workers": 1}
    stop = data.draw(st.integers(0, 30))
    seen = 0

    def progress(stage: str, done: int, total: int) -> None:
        nonlocal seen
        seen += 1
        if seen == stop:
            raise StoppedError

    with tempfile.TemporaryDirectory() as folder:
        with suppress(StoppedError):
            HCM(**quick).fit(graph, run_folder=Path(folder) / "run", progress=progress)
        again = HCM(**quick).fit(graph, run_folder=Path(folder) / "run", resume=True)
    assert again.result_.equals(HCM(**quick).fit(graph).result_)


@holds("Odd does not see the labels", FIT)
def _(data: Any) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    edges, x, order = rng.integers(0, 20, (2, 50)), rng.normal(size=(20, 3)), rng.permutation(20)
    one, other = Graph.from_arrays(edges, x), Graph.from_arrays(np.argsort(order)[edges], x[order])
    quick = {"random_state": 0, "workers": 1, "n_resamples": 2}
    scores = [Odd(**quick).fit(graph).anomaly_scores_ for graph in (one, other)]
    np.testing.assert_allclose(scores[0][order], scores[1], rtol=1e-6, atol=1e-8)
