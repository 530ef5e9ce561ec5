from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import oddhop
from oddhop import Network, Odd
from oddhop.odd.explain_kinds import OTHERS
from tests.odd.small_shop import FARM, FARM_DEVICES, shop


@pytest.fixture(scope="module")
def network() -> Network:
    made = shop()
    return oddhop.read_network(made.edges, made.tables, judge="account", keep_columns=("town", "age"))


@pytest.fixture(scope="module")
def fitted(network: Network) -> Odd:
    return Odd(random_state=0, simulate=False, n_resamples=2).fit(network)


@pytest.mark.parametrize("member", FARM)
def test_a_farm_is_explained_by_its_devices_and_its_members(fitted: Odd, member: str) -> None:
    why = fitted.explain(member)
    assert (why.id, why.kind) == (member, "clique")
    assert set(why.group) == set(FARM) - {member}
    inside = {one.id for one in why.neighbours if one.member}
    assert inside == {f"device {one}" for one in FARM_DEVICES}
    assert [one.member for one in why.neighbours[:3]] == [True] * 3  # the group is listed first
    assert why.counterfactual is None


def test_the_figures_are_those_of_the_ranking(fitted: Odd, network: Network) -> None:
    rows = {row["id"]: row for row in fitted.result_.to_pylist()}
    made = shop()
    joined = Counter(made.edges["from"].to_pylist())
    for why in fitted.explain([*FARM[:2], "a000", "a001", "a299"]):
        row = rows[why.id]
        assert why.score == pytest.approx(row["score"], rel=1e-6)
        assert why.kind == row["kind"]
        assert why.degree == row["degree"] == joined[why.id] == len(why.neighbours)
        for view in why.views:
            assert view.p == pytest.approx(row[f"p_{view.name}"], rel=1e-6)
        assert {one.node_kind for one in why.neighbours} <= {"device", "merchant"}


def test_the_rarity_of_an_edge_is_the_share_of_edges_of_its_sort_as_far(fitted: Odd, network: Network) -> None:
    # f of all edges to devices, as explanations tell them.
    every = fitted.explain(network.judged_ids.to_pylist())
    for kind in ("device", "merchant"):
        found = [(one.score, one.rarity) for why in every for one in why.neighbours if one.node_kind == kind]
        f = np.array([score for score, rarity in found if rarity is not None])
        assert f.size > 300
        for score, rarity in found[:60]:
            assert rarity is not None
            assert rarity == pytest.approx(np.mean(f >= score - 1e-9))


def test_another_value_in_a_column_has_the_effect_that_is_told(network: Network) -> None:
    """What an explanation works out in closed form is what a network with that value gives."""
    made = shop()
    ages = made.accounts["age"].to_pylist()
    place = made.accounts["id"].to_pylist().index("a042")
    ages[place] = 95.0  # older than anybody
    odd_one = made.accounts.set_column(1, "age", pa.array(ages))
    tables = {"account": odd_one, "device": made.devices}
    # With events its volume would be compared with what another age foretells, which the explanation holds still.
    one = oddhop.read_network(made.edges, tables, judge="account", flows=False)
    detector = Odd(random_state=0, simulate=False, n_resamples=2).fit(one)
    why = detector.explain("a042")
    first = next(told for told in why.columns if told.column == "age")
    assert first.own == "95"
    assert first.effect < 0
    assert first.others == OTHERS
    instead = float(first.instead)
    assert 20 < instead < 80
    ages[place] = instead
    changed = {"account": made.accounts.set_column(1, "age", pa.array(ages)), "device": made.devices}
    other = oddhop.read_network(made.edges, changed, judge="account", encoding=one.encoding)
    after = -detector.score_samples(other)[one.numbers(["a042"])[0]]
    assert why.score + first.effect == pytest.approx(after, abs=1e-3)


def test_a_stranger_names_the_edges_that_look_far(fitted: Odd) -> None:
    strangers = fitted.result_.filter(pc.equal(fitted.result_["kind"], "stranger")).slice(0, 3)
    for why in fitted.explain(strangers["id"].to_pylist()):
        if next(one.p for one in why.views if one.name == "stranger") >= 0.05:
            continue
        far = [one for one in why.neighbours if one.rarity is not None and one.rarity <= 0.05]
        assert why.far == len(far)
        for kind in ("device", "merchant"):  # each has a rarity of its own
            shown = [one for one in why.neighbours if one.node_kind == kind]
            assert shown[: sum(one in far for one in shown)] == [one for one in shown if one in far]
        scores = [one.score for one in why.neighbours]
        assert scores == sorted(scores, reverse=True)


def test_workers_and_company_change_nothing(fitted: Odd, network: Network) -> None:
    ids = [*FARM[:2], "a100"]
    three = Odd(random_state=0, simulate=False, n_resamples=2, workers=3).fit(network)
    assert fitted.explain(ids) == three.explain(ids)
    assert fitted.explain(ids[2]) == fitted.explain(ids)[2]


def test_an_account_without_edges_is_told_as_one() -> None:
    made = shop()
    lone = pa.table({"id": ["zz"], "age": [30.0], "income": [9_000.0], "town": ["Bonn"]})
    tables = {"account": pa.concat_tables([made.accounts, lone], promote_options="default"), "device": made.devices}
    network = oddhop.read_network(made.edges, tables, judge="account")
    detector = Odd(random_state=0, simulate=False, n_resamples=2).fit(network)
    why = detector.explain("zz")
    assert (why.degree, why.score, why.neighbours) == (0, 0.0, ())
    row = detector.result_.filter(pc.equal(detector.result_["id"], "zz")).to_pylist()[0]
    assert (row["judged"], row["score"]) == (False, 0.0)
    with pytest.raises(oddhop.OddhopError, match="no account is called 'd001'"):
        detector.explain("d001")
