"""Ways to change a file: bytes, or the values of a JSON document."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

Mutate: TypeAlias = Callable[[bytes, np.random.Generator], bytes]
NUMBERS = [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 2**63 - 1, 2**63, 2**64 - 1]
WORDS = [
    *(b",", b"\t", b"\n", b"\r\n", b'"', b'""', b"'", b"\\", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80"),
    *(
        b"nan",
        b"inf",
        b"-1",
        b"1e999",
        b"9" * 400,
        b"null",
        b"true",
        b"{",
        b"[",
        b"]",
        b"}",
        b"=",
        b"[[",
        b"#",
        b"$",
        b"/",
    ),
    *(b"9223372036854775808", b"2024-13-45", b"../..", b"PAR1", b"\x93NUMPY", b"\xf0\x9f\x98\x80", b" " * 50),
]
VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 2**31, 2**63, -(2**63), 2**64, 10**30, 0.5, 1e308, -0.0, 1e-300),
    *("", "a", "../../etc/passwd", "\0", "\ud800", "nan", "<script>", "x" * 5_000, [], {}, [[]], [1, 2, 3], {"a": 1}),
]


def changed_bytes(content: bytes, rng: np.random.Generator) -> bytes:
    """Change a few places of a file, as bad disks and bad people do."""
    out = bytearray(content)
    for _ in range(int(rng.geometric(0.6))):
        place = int(rng.integers(0, len(out) + 1))
        length = int(rng.integers(1, 1 + min(64, len(out) + 1)))
        match rng.integers(0, 9):
            case 0 | 1 if place < len(out):
                out[place] ^= 1 << int(rng.integers(0, 8))
            case 2 if place < len(out):
                out[place] = int(rng.integers(0, 256))
            case 3:
                del out[place : place + length]
            case 4:
                out[place:place] = out[place : place + length]
            case 5:
                other = int(rng.integers(0, len(out) + 1))
                out[place : place + length] = out[other : other + length]
            case 6:
                out[place : place + int(rng.integers(0, 3))] = WORDS[rng.integers(0, len(WORDS))]
            case 7:
                width = int(rng.choice([1, 2, 4, 8]))
                number = NUMBERS[rng.integers(0, len(NUMBERS))] % 256**width
                out[place : place + width] = number.to_bytes(width, str(rng.choice(["little", "big"])))
            case _:
                del out[place:]
    return bytes(out)


def changed_document(content: bytes, rng: np.random.Generator) -> bytes:
    """Change some values of a JSON document: put others in their place, take them out, or double them."""
    document = json.loads(content)
    for _ in range(int(rng.geometric(0.6))):
        places = list(_places(document))
        if not places:
            break
        inside, key = places[rng.integers(0, len(places))]
        match rng.integers(0, 5):
            case 0:
                del inside[key]
            case 1:
                other, name = places[rng.integers(0, len(places))]
                inside[key] = json.loads(json.dumps(other[name]))
            case 2 if isinstance(inside, dict):
                inside[f"{key}x"] = inside.pop(key)
            case _:
                inside[key] = copy.deepcopy(VALUES[rng.integers(0, len(VALUES))])
    return json.dumps(document).encode()


def _places(inside: Any) -> Any:
    keys = inside.keys() if isinstance(inside, dict) else range(len(inside)) if isinstance(inside, list) else ()
    for key in list(keys):
        yield inside, key
        yield from _places(inside[key])


def either(*ways: Mutate) -> Mutate:
    """Change by one of several ways."""

    def mutate(content: bytes, rng: np.random.Generator) -> bytes:
        return ways[rng.integers(0, len(ways))](content, rng)

    return mutate
