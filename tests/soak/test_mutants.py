"""A mutant is a module with one change, and the changes are those that tests should see."""

from __future__ import annotations

import ast

from tests.soak.mutants import mutants

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
