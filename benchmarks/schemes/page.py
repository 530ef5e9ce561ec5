"""The tables of what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

Line = dict[str, Any]


def page(lines: Sequence[Line]) -> str:
    """Return a table for every part that was measured."""
    tables = []
    for world in dict.fromkeys(line["key"]["world"] for line in lines if "world" in line["key"]):
        for part in ("schemes", "unexcused", "distorted"):
            mine = [line for line in lines if line["key"]["part"] == part and line["key"]["world"] == world]
            if mine:
                tables.append(
                    "\n".join(schemes(f"{world}, {part}", sorted(mine, key=lambda line: line["key"]["seed"])))
                )
        quiet = [line for line in lines if line["key"]["part"] == "background" and line["key"]["world"] == world]
        if quiet:
            tables.append("\n".join(background(world, quiet)))
    for part, table in (("plants", plants), ("labelled", labelled)):
        mine = [line for line in lines if line["key"]["part"] == part]
        if mine:
            tables.append("\n".join(table(mine)))
    return "\n\n".join(tables)


def row(*columns: object) -> str:
    return f"| {' | '.join(map(str, columns))} |"


def head(*columns: str) -> Iterator[str]:
    yield row(*columns)
    yield f"|{'---|' * len(columns)}"


def places(found: Iterable[float]) -> str:
    return " ".join(f"{one:.0f}" for one in found)


def schemes(title: str, lines: Sequence[Line]) -> Iterator[str]:
    """Count how many of the schemes are hit, first every one by itself, then all."""
    seeds = places(line["key"]["seed"] for line in lines)
    rows = [found for line in lines for found in line["found"]["schemes"]]
    yield f"{title}, seeds {seeds}; flagged nodes {places(line['found']['flagged'] for line in lines)}\n"
    yield from head(
        *("scheme", "best rank", "in 20 cases", "in 50 nodes", "accounts in 50", "cases", "forest in 50"),
        *("question in 50", "twin, best rank", "twin in 20 cases", "twin in 50 nodes"),
    )
    for scheme in [*dict.fromkeys(one["scheme"] for one in rows), "all"]:
        crimes, twins = (
            [one for one in rows if scheme in (one["scheme"], "all") and one["innocent"] is innocent]
            for innocent in (False, True)
        )
        asked = [one["question"] for one in crimes if "question" in one]
        torn = [one["cases"] for one in crimes if one["cases"]]
        yield row(
            scheme,
            "" if scheme == "all" else places(one["Odd"]["best"] for one in crimes),
            hits(one["in cases"] for one in crimes),
            hits(one["Odd"]["nodes"] for one in crimes),
            f"{sum(one['Odd']['nodes'] for one in crimes)}/{sum(one['accounts'] for one in crimes)}",
            f"{sum(torn) / len(torn):.1f}" if torn else "",
            hits(one["forest"]["nodes"] for one in crimes),
            hits(one["nodes"] for one in asked) if asked else "",
            "" if scheme == "all" else places(one["Odd"]["best"] for one in twins),
            hits(one["in cases"] for one in twins),
            hits(one["Odd"]["nodes"] for one in twins),
        )
    yield ""
    yield from head("of all, hit in", "20 cases", "as many nodes as they have", "50 nodes")
    for innocent, what in ((False, "crimes"), (True, "twins")):
        some = [one for one in rows if one["innocent"] is innocent]
        yield row(f"Odd, {what}", hits(one["in cases"] for one in some), *in_nodes(some, "Odd"))
        yield row(f"isolation forest, {what}", "", *in_nodes(some, "forest"))
        if any("question" in one for one in some):
            yield row(f"question in hindsight, {what}", "", *in_nodes(some, "question"))


def hits(found: Iterable[int]) -> str:
    counts = list(found)
    return f"{sum(count > 0 for count in counts)}/{len(counts)}"


def in_nodes(rows: Sequence[dict[str, Any]], method: str) -> list[str]:
    return [hits(one[method][what] for one in rows if method in one) for what in ("flagged", "nodes")]


def background(world: str, lines: Sequence[Line]) -> Iterator[str]:
    """Show how many nodes of a network without schemes look odd."""
    found = [line["found"] for line in lines]
    judged = sum(one["judged"] for one in found)
    spread = 2.6 * (0.01 * 0.99 / judged) ** 0.5
    seeds = places(line["key"]["seed"] for line in lines)
    yield f"{world}, background alone, seeds {seeds}; flagged by --max-chance 0.1:"
    yield f"{places(one['flagged'] for one in found)}; p < .01 may have {0.01 - spread:.2%} to {0.01 + spread:.2%}\n"
    yield from head("view", "nodes with p < .01")
    for view in found[0]["small"]:
        yield row(view, f"{sum(one['small'][view] for one in found) / judged:.2%}")


def plants(lines: Sequence[Line]) -> Iterator[str]:
    """Show the best ranks of the plants."""
    for what in ("bank", "shop"):
        mine = [line for line in lines if line["key"]["name"].startswith(what)]
        if not mine:
            continue
        yield from head(what, "method", *mine[0]["found"]["Odd"])
        for line in mine:
            for method, ranks in line["found"].items():
                best = [
                    f"{one[0]:.0f}" if len(one) == 1 else f"{one[0]:.0f} to {one[-1]:.0f}" for one in ranks.values()
                ]
                yield row(line["key"]["name"], method, *best)
        yield ""


def labelled(lines: Sequence[Line]) -> Iterator[str]:
    """Show the figures of the labelled networks."""
    yield from head("network", "method", "ROC-AUC", "AP", "anomalous of the first 50 known")
    for line in lines:
        for method, one in line["found"].items():
            yield row(line["key"]["name"], method, one["figures"], one["first"])
