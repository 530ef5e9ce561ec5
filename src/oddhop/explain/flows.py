"""The events of one node in sentences, and by neighbour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from oddhop.base.arrays import Ints
from oddhop.explain.phrases import counted, said_number
from oddhop.graph.events import NO_TIME, Events
from oddhop.tables.flows import flow_columns, flow_values

PASSING, PASSED_ON, FEWEST_PASSED = "passed on in a day", 0.5, 3


@dataclass(frozen=True)
class NodeFlows:
    """What the events of a node say.

    Attributes
    ----------
    sentences : in words.
    headline : the sentence that an explanation begins with, empty where nothing is that unusual.
    """

    sentences: tuple[str, ...]
    headline: str = ""


def values_of(events: Events, node: int) -> dict[str, float]:
    """Return the flow columns of one node by their names."""
    own = events.of_nodes(node, node + 1)
    return dict(zip((one.name for one in flow_columns(own.columns)), flow_values(own)[0].tolist(), strict=True))


def node_flows(
    events: Events,
    node: int,
    values: Mapping[str, float],
    *,
    facts: Sequence[str] = (),
    first: bool = False,
    passing_is_rare: bool = False,
) -> NodeFlows:
    """Say what a node sent and received, whose flow columns have these values.

    Where events come ``first``, what the node passed on, if few pass on as much, or else its loudest fact is the
    headline.
    """
    own = events.of_nodes(node, node + 1)
    passed = [_passed_on(values)] if _passed_on(values) else []
    told = [*passed, *facts] if passing_is_rare else [*facts, *passed]
    headline = told.pop(0) if first and told else ""
    told.append(_how_many(own, values))
    if own.columns.time is not None and (own.times != NO_TIME).any():
        told.append(_when(own.times[own.times != NO_TIME], values))
    return NodeFlows(tuple(told), headline)


def with_neighbour(events: Events, node: int, neighbour: int) -> str:
    """Say what passed between a node and a neighbour."""
    own, told = events.of_nodes(node, node + 1), []
    for row, verb in enumerate(("sent", "received") if own.columns.directed else ("events",)):
        some = slice(int(own.indptr[row]), int(own.indptr[row + 1]))
        mine = own.partners[some] == neighbour
        if mine.any():
            total = f" ({said_number(float(np.nansum(own.amounts[some][mine, 0])))})" if own.columns.amounts else ""
            times = own.times[some][mine] if own.columns.time is not None else np.empty(0, dtype=np.int64)
            told.append(f"{verb} {int(mine.sum()):,}{total}{dates_of(times[times != NO_TIME])}")
    return ", ".join(told)


def day_of(moment: int) -> str:
    """Say the day of a time in microseconds."""
    return datetime.fromtimestamp(moment / 1e6, UTC).strftime("%Y-%m-%d")


def dates_of(times: Ints) -> str:
    """Say from when to when, behind a comma; nothing without times."""
    if not times.size:
        return ""
    first, last = day_of(int(times.min())), day_of(int(times.max()))
    return f", {first}" if first == last else f", {first} to {last}"


def _passed_on(values: Mapping[str, float]) -> str:
    """Say how much was passed on, where it is at least half: the first thing to know of a mule."""
    passed = values.get(PASSING, np.nan)
    if not (passed >= PASSED_ON and values["events in"] >= FEWEST_PASSED):
        return ""
    told = f"This node passed on {passed:.0%} of what it received within 24 hours."
    hours = values["hours from in to out"]
    if hours > 24:  # the share is by amount, this time by event: side by side they would seem to be a contradiction
        return told
    median = said_number(float(f"{hours:.2g}"))
    return f"{told} The median time from a received event to the next sent event is {median} hours."


def _how_many(own: Events, values: Mapping[str, float]) -> str:
    sides = (("out", "sent", "to"), ("in", "received", "from")) if own.columns.directed else (("", "has", "with"),)
    told = []
    for side, verb, whom in sides:
        count, partners = (int(values[f"{what} {side}".strip()]) for what in ("events", "partners"))
        if not count:
            told.append(f"{verb} nothing")
            continue
        amount = own.columns.amounts[0] if own.columns.amounts else ""
        total = f" (total {amount}: {said_number(values[f'{amount} {side}'.strip() + ' sum'])})" if amount else ""
        told.append(f"{verb} {counted(count, 'event')} {whom} {counted(partners, 'node')}{total}")
    return f"This node {'. This node '.join(told)}."


def _when(times: Ints, values: Mapping[str, float]) -> str:
    first, last = day_of(int(times.min())), day_of(int(times.max()))
    if times.size == 1:
        return f"The only event of this node with a time is on {first}."
    share = values["largest share in a day"]
    days = said_number(float(f"{values['days active']:.2g}"))
    whole = f"The events of this node span {days} days, from {first} to {last}"
    return f"{whole}. The busiest 24 hours have {share:.0%} of the events of this node."
