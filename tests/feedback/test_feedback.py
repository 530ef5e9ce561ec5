"""The learner starts at the original order, and learns from a set of answers."""

import re

import numpy as np
import pyarrow as pa
import pytest
from sklearn.exceptions import NotFittedError

import oddhop
from oddhop import Graph, Odd
from oddhop.errors import AnswersError, GraphError, ModelFileError
from oddhop.feedback import Feedback, compile_learner, trees
from oddhop.feedback.answers import as_answers
from oddhop.feedback.trees import grow

NODES = 400


def made(seed: int = 0) -> tuple[Graph, np.ndarray]:
    """Two kinds of outliers, of which one is harmless: the analyst looks for the other."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(NODES, 4))
    x[:30, 0] += 7.0
    x[30:60, 1] += 6.0
    return Graph.from_arrays(rng.integers(0, NODES, (2, 1600)), x, node_ids=np.arange(100, 100 + NODES)), np.arange(
        100, 100 + NODES
    ) >= 130


@pytest.fixture(scope="module")
def fitted() -> Odd:
    return Odd(random_state=0, simulate=False, n_resamples=2).fit(made()[0])


@pytest.fixture(scope="module")
def answers(fitted: Odd) -> dict[int, int]:
    head = fitted.result_["id"].to_pylist()[:40]
    return {one: int(130 <= one < 160) for one in head}


def learned(fitted: Odd, answers: object) -> Feedback:
    return Feedback(fitted).fit(fitted.network_, answers)


def test_a_node_is_not_said_to_be_similar_to_itself(answers):
    found = learned(Odd(random_state=0, simulate=False, n_resamples=2).fit(made()[0]), answers)
    said = {one: found.explain(one).learned for one in answers}
    assert any(text.startswith("Similar to ") for text in said.values())
    assert not [one for one, text in said.items() if str(one) in re.findall(r"\d+", text)]


@pytest.mark.parametrize("kinds", [(0,), (0, 1)])
def test_a_similarity_has_a_reason_other_than_the_original_rank(fitted, answers, kinds):
    few = {one: answer for answer in kinds for one in [k for k in answers if answers[k] == answer][:1]}
    found = learned(fitted, few)
    said = [found.explain(one).learned for one in fitted.result_["id"].to_pylist()[:60]]
    assert any(text.startswith("Similar to ") for text in said)
    assert not [text for text in said if ": ." in text or "original ranking" in text]
    assert re.fullmatch(
        r"Learned\(slope=[\d.]+, forest=Forest\([\d,]+ trees, [\d,]+ branches\)\)", repr(found.learned_)
    )


@pytest.mark.parametrize("some", [None, {}, {105: 1, 131: 1}, {105: None}])
def test_starts_bit_for_bit_at_the_label_free_ranking(fitted, some):
    found = learned(fitted, some).result_
    assert found.drop_columns(["rank_label_free"]).equals(fitted.result_)
    assert found["rank_label_free"].equals(found["rank"])


def test_a_loaded_detector_with_its_result_is_not_fitted_again(fitted, answers, tmp_path, monkeypatch):
    fitted.save(tmp_path / "model")
    loaded = Odd.load(tmp_path / "model")
    monkeypatch.setattr(Odd, "fit", None)
    found = Feedback(loaded).fit(fitted.network_, answers, result=fitted.result_)
    assert found.result_.equals(learned(fitted, answers).result_)
    monkeypatch.setattr(Odd, "features", None)  # nor are the features of the same network made again
    more = {**answers, fitted.result_["id"][60].as_py(): 0}
    again = found.fit(fitted.network_, more, result=fitted.result_)
    monkeypatch.undo()
    assert again.result_.equals(learned(fitted, more).result_)


def test_look_alikes_are_not_answered_and_are_of_one_kind(fitted, answers):
    found = learned(fitted, answers)
    first = found.next_questions(1)[0].id
    alike = found.look_alikes(first)
    assert first not in alike
    assert not set(alike) & set(answers)
    assert learned(fitted, None).look_alikes(first) == []
    assert (
        learned(fitted, {first: 0}).look_alikes(found.next_questions(2)[1].id) == []
    )  # one answer tells nothing apart


def test_the_order_of_answers_does_not_matter(fitted, answers):
    backwards = dict(reversed(answers.items()))
    assert learned(fitted, answers).result_.equals(learned(fitted, backwards).result_)


def test_a_table_and_ids_as_text_say_the_same(fitted, answers):
    table = pa.table({"id": list(answers), "answer": list(answers.values())})
    texts = {str(one): told for one, told in answers.items()}
    first = learned(fitted, answers).result_
    assert first.equals(learned(fitted, table).result_)
    assert first.equals(learned(fitted, table.to_pandas()).result_)
    assert first["score"].to_pylist()[:50] == pytest.approx(learned(fitted, texts).result_["score"].to_pylist()[:50])


def test_unsure_teaches_nothing_and_is_not_asked_again(fitted, answers):
    more = answers | dict.fromkeys(fitted.result_["id"].to_pylist()[40:43])
    one, two = learned(fitted, answers), learned(fitted, more)
    assert one.result_.equals(two.result_)
    assert not {q.id for q in two.next_questions(50)} & more.keys()


def test_harmless_answers_move_their_kind_down(fitted, answers):
    table = learned(fitted, {one: told for one, told in answers.items() if one < 160}).result_
    rank = dict(zip(table["id"].to_pylist(), table["rank"].to_pylist(), strict=True))
    before = dict(zip(table["id"].to_pylist(), table["rank_label_free"].to_pylist(), strict=True))
    cleared = [one for one in range(100, 130) if one not in answers]
    sought = [one for one in range(130, 160) if one not in answers]
    assert cleared
    assert sought
    ahead = {
        name: np.mean([by[one] for one in cleared]) - np.mean([by[one] for one in sought])
        for name, by in (("now", rank), ("before", before))
    }
    assert ahead["now"] > ahead["before"] + 10
    assert np.mean([rank[one] for one in sought]) < np.mean([before[one] for one in sought]) - 10
    asked = [one for one in answers if one < 130]
    assert np.mean([rank[one] for one in asked]) > np.mean([before[one] for one in asked]) + 10


def test_harmless_answers_alone_change_the_order(fitted, answers):
    table = learned(fitted, {one: 0 for one in answers if one < 130}).result_
    assert table["rank"].to_pylist() != table["rank_label_free"].to_pylist()


def test_after_harmless_answers_alone_other_kinds_are_asked(fitted, answers):
    cleared = {one: 0 for one in answers if one < 130}
    by_list = [one for one in fitted.result_["id"].to_pylist() if one not in cleared][:40]
    by_answers = [one.id for one in learned(fitted, cleared).next_questions(40)]
    assert sum(one < 130 for one in by_answers) < sum(one < 130 for one in by_list)


def test_finds_more_than_the_list(fitted):
    asked: dict[int, int] = {}
    for _ in range(40):
        question = learned(fitted, asked).next_questions()[0]
        assert question.why
        asked[question.id] = int(130 <= question.id < 160)
    by_list = sum(130 <= one < 160 for one in fitted.result_["id"].to_pylist()[:40])
    assert sum(asked.values()) > by_list


def test_questions_leave_out_what_is_excluded(fitted, answers):
    feedback = learned(fitted, answers)
    first = feedback.next_questions(5)
    assert first[0].id not in {one.id for one in feedback.next_questions(5, exclude=[first[0].id])}
    assert [one.rank for one in first] == sorted(one.rank for one in first)


def test_explains_by_answered_nodes(fitted, answers):
    feedback = learned(fitted, answers)
    first = feedback.next_questions()[0].id
    told = feedback.explain(first)
    assert told.label_free == fitted.explain(first)
    assert told.learned.startswith(("Similar to ", "No answered node is similar"))


def test_thirty_answers_without_a_hit_are_said(fitted):
    head = fitted.result_["id"].to_pylist()[:30]
    assert "no hit" in learned(fitted, dict.fromkeys(head, 0)).notice
    assert learned(fitted, dict.fromkeys(head[:29], 0)).notice is None


def test_few_confirmed_nodes_are_said_and_shown(fitted):
    head = fitted.result_["id"].to_pylist()
    few = learned(fitted, {**dict.fromkeys(head[:4], 1), head[9]: 0})
    assert few.notice.startswith("Only 4 confirmed nodes")
    assert few.notice in few._repr_html_()
    assert few.to_pandas()["rank"].tolist() == few.to_polars()["rank"].to_list() == few.result_["rank"].to_pylist()
    assert learned(fitted, {**dict.fromkeys(head[:5], 1), head[9]: 0}).notice is None
    assert "No network yet" in Feedback(fitted)._repr_html_()
    assert learned(fitted, dict.fromkeys(head[:2], 1)).notice is None  # the original order stands


def test_saved_and_loaded_it_ranks_alike(fitted, answers, tmp_path):
    feedback = learned(fitted, answers)
    feedback.save(tmp_path / "answers.oddhop")
    loaded = Feedback.load(tmp_path / "answers.oddhop")
    later = made(1)[0]
    assert feedback.rank(later).equals(loaded.rank(later))
    with pytest.raises(ModelFileError, match=r"read it with oddhop\.feedback\.Feedback\.load"):
        oddhop.load(tmp_path / "answers.oddhop")
    again = loaded.fit(fitted.network_, answers)
    assert again.result_["id"].equals(feedback.result_["id"])


def test_loaded_it_says_that_it_has_no_network_yet(fitted, answers, tmp_path):
    learned(fitted, answers).save(tmp_path / "answers.oddhop")
    loaded = Feedback.load(tmp_path / "answers.oddhop")
    for ask in (loaded.next_questions, lambda: loaded.explain(105), loaded.rank):
        with pytest.raises(NotFittedError, match="which has no network"):
            ask()
    with pytest.raises(NotFittedError, match="not fitted yet"):
        Feedback(fitted).next_questions()


def test_a_loaded_detector_is_not_fitted_again(fitted, answers, tmp_path, monkeypatch):
    fitted.save(tmp_path / "model")
    monkeypatch.setattr(Odd, "fit", lambda *_, **__: pytest.fail("fitted again"))
    found = Feedback(Odd.load(tmp_path / "model")).fit(fitted.network_, answers, result=fitted.result_)
    assert found.result_.equals(learned(fitted, answers).result_)
    assert found.next_questions()[0].why
    assert found.explain(105).learned
    with pytest.raises(GraphError, match="every node"):
        found.fit(fitted.network_, answers, result=fitted.result_.slice(0, 9))


def test_a_bad_file_is_refused(tmp_path):
    (tmp_path / "bad").write_bytes(b"nothing")
    with pytest.raises(ModelFileError):
        Feedback.load(tmp_path / "bad")


def test_answers_about_nodes_that_are_gone_still_count(fitted, answers):
    feedback = learned(fitted, answers)
    rng = np.random.default_rng(3)
    ids = np.arange(1000, 1300)
    other = Graph.from_arrays(rng.integers(0, 300, (2, 1200)), rng.normal(size=(300, 4)), node_ids=ids)
    assert feedback.fit(other, answers).learned_ is not None
    assert feedback.next_questions()[0].id >= 1000
    with pytest.raises(AnswersError, match="about a node that does not exist"):
        feedback.fit(other, answers | {99: 1})


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({105: 2}, "1 .worth your time."),
        ({105: "yes"}, "1 .worth your time."),
        ({5: 1}, "no node is called 5"),
        ([1, 2], "a mapping"),
        (pa.table({"id": [105, 105], "answer": [1, 0]}), "two answers about 105"),
        (pa.table({"who": [105]}), "needs the columns id and answer"),
        ({105: 1, "a": 0}, "several types"),
    ],
)
def test_wrong_answers_are_refused_with_what_to_do(fitted, wrong, said):
    with pytest.raises(AnswersError, match=said):
        learned(fitted, wrong)


def test_answers_may_be_given_again():
    first = as_answers({"b": True, "a": np.int64(0)})
    assert as_answers(first).ids.equals(first.ids)


def test_trees_are_the_same_with_any_number_of_threads():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200_000, 5)).astype(np.float32)
    forest = grow(x[:100], rng.integers(0, 2, 100).astype(float), np.ones(100), 0, trees=20, tried=2)
    assert (forest.predict(x, workers=1) == forest.predict(x, workers=3)).all()
    assert (forest.leaves(x[:9]).max(axis=1) < forest.feature.size).all()


def test_nothing_is_compiled_by_an_answer_once_the_learner_was(fitted: Odd, answers: dict[int, int]) -> None:
    def compiled() -> dict[str, int]:
        return {name: len(one.signatures) for name, one in vars(trees).items() if hasattr(one, "signatures")}

    compile_learner()
    before = compiled()
    assert before
    learned = Feedback(fitted).fit(made()[0], answers)
    learned.look_alikes(next(iter(answers)))
    learned.next_questions(3)
    assert compiled() == before
