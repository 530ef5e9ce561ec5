"""A mutant is a module with one change, and the changes are those that tests should see."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.soak.mutants import mutants
from tests.soak.mutate import mirrored_by

SOURCE = """
LIMIT = 3
def f(a: int | None, b):
    if a < b and not b:
        return a + LIMIT
    return 'text'
"""


def test_every_change_is_made_once_and_types_and_texts_are_let_be() -> None:
    found = dict(mutants(SOURCE))
    assert sorted(what.split(": ")[1] for what in found) == [
        "3 -> 4", "Add -> Sub", "And -> Or", "Lt -> LtE", "condition -> False", "not left out",
    ]  # fmt: skip
    plain = ast.unparse(ast.parse(SOURCE))
    for text in found.values():
        assert text != plain
        assert "int | None" in text


FAULTY = """
def f(a, b):
    if a * b > 1:
        raise ValueError
    return g(a, b)
"""


def test_plausible_faults_leave_out_swap_and_swallow() -> None:
    found = {what.split(": ", 1)[1]: text for what, text in mutants(FAULTY)}
    assert "if a * 1 > 1" in found["b left out"]
    assert "g(b, a)" in found["g: two arguments swapped"]
    assert "raise" not in found["error swallowed"]


def test_the_tests_of_a_module_are_those_that_mention_it() -> None:
    assert mirrored_by(Path("src/oddhop/base/address.py"))[0] == "tests/base/test_address.py"
    assert mirrored_by(Path("src/oddhop/odd/butterfly.py"))[0] == "tests/odd/test_butterfly.py"
