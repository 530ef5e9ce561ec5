"""Addresses: one parser, what it gives to drivers, and what of them is shown."""

from __future__ import annotations

import pytest

from oddhop.base.address import scheme_of, server_of, shown, without_secrets


@pytest.mark.parametrize(
    ("name", "escaped"),
    [
        ("postgresql://db.example/shop", "postgresql://db.example/shop"),
        ("postgresql:///shop", "postgresql:///shop"),
        ("Postgres://ann@db:5432/shop", "postgres://ann@db:5432/shop"),
        ("postgresql://ann:p@ss@db/shop", "postgresql://ann:p%40ss@db/shop"),
        ("postgresql://ann:p%40ss@db/shop", "postgresql://ann:p%40ss@db/shop"),
        ("postgresql://ann:100%zz@db/shop", "postgresql://ann:100%25zz@db/shop"),
        ("postgresql://ann:a b@[::1]:5432/a b", "postgresql://ann:a%20b@[::1]:5432/a%20b"),
        ("postgresql://a:1,b:2/shop?sslmode=require", "postgresql://a:1,b:2/shop?sslmode=require"),
        ("postgresql://%2Fvar%2Frun/shop", "postgresql://%2Fvar%2Frun/shop"),
        ("postgresql://db/shop?password=p@ss", "postgresql://db/shop?password=p%40ss"),
        ("postgresql://ann:p/ss@db/shop", None),
        ("postgresql://ann:p?ss@db/shop", None),
        ("postgresql://ann:p#ss@db/shop", None),
        ("postgresql://ann:1?a=b@db/shop", None),
        ("postgresql://[bad/db", None),
        ("postgresql://db:port/db", None),
        ("shop.db", None),
    ],
)
def test_a_driver_is_given_every_part_as_it_is_meant(name: str, escaped: str | None) -> None:
    address = server_of(name)
    assert (None if address is None else address.escaped) == escaped


def test_what_is_shown_has_no_user_no_password_and_no_query() -> None:
    address = server_of("postgresql://ann:s3cret@db:5432/shop?sslmode=require")
    assert "ann" not in repr(address)
    assert "s3cret" not in repr(address)


def test_a_scheme_is_shown_only_where_it_is_one() -> None:
    assert [scheme_of(name) for name in ("S3://a/b", "ann:s3cret@x://a", "a.csv")] == ["s3", "", None]


def test_names_of_files_are_shown_and_mistyped_addresses_are_not() -> None:
    assert shown("C:\\shop.csv") == repr("C:\\shop.csv")
    assert shown("a@b.csv") == "'a@b.csv'"
    assert not any(
        "s3cret" in shown(name) for name in ("postgresql:/ann:s3cret@db", "a?password=s3cret", "a:\ns3cret@b")
    )


def test_a_message_of_a_driver_loses_user_and_password() -> None:
    message = 'role "ann" failed with s3cret at "cret@db"'
    assert without_secrets(message, "postgresql://ann:s3cret@db/shop") == 'role *** failed with *** at "cret@db"'
    assert without_secrets('no host "ssw0rd@db"', "postgresql://ann:p@ssw0rd@db/shop") == 'no host "***@db"'
    assert without_secrets("token s%201 and s 1", "postgresql://db/shop?password=s%201") == "token *** and ***"
