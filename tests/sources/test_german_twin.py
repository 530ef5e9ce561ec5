"""Tables as a German program writes them give the scores of the same tables in English, to the last bit."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from oddhop.cli import app
from tests.cli.conftest import FEW

PEOPLE, PAYMENTS = 90, 600
ACCOUNTS = ("account", "opened", "turnover", "trade", "business")
PAYMENT = ("payer", "payee", "amount", "time")
KONTEN = ("Kontonummer", "Eröffnet", "Monatsumsatz", "Branche", "Geschäftlich")
ZAHLUNG = ("Auftraggeber", "Empfänger", "Betrag", "Buchungstag")
NUMBER = str.maketrans(",.", ".,")


def english(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat(" ", "seconds") if value.hour or value.minute else f"{value:%Y-%m-%d}"
    return f"{value:,.2f}" if isinstance(value, float) else str(value)


def german(value: object) -> str:
    if isinstance(value, datetime):
        return f"{value:%d.%m.%Y %H:%M}" if value.hour or value.minute else f"{value:%d.%m.%Y}"
    return f"{value:,.2f}".translate(NUMBER) if isinstance(value, float) else str(value)


def rows() -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    rng = np.random.default_rng(5)
    first = datetime(2020, 1, 1)
    trades = ["Bäckerei", "Gärtnerei", "Café", "Schlosserei"]
    people: list[tuple[object, ...]] = [
        (
            f"DE{k:04d}",
            first + timedelta(days=int(rng.integers(0, 2000))),
            float(np.round(rng.lognormal(8, 1), 2)),
            trades[k % 4],
            ("true", "false")[int(rng.integers(0, 2))],
        )
        for k in range(PEOPLE)
    ]
    payments: list[tuple[object, ...]] = []
    for _ in range(PAYMENTS):
        s, t = rng.choice(PEOPLE, 2, replace=False)
        when = datetime(2026, 3, 1) + timedelta(minutes=int(rng.integers(1, 60_000)))
        when += timedelta(minutes=1) if not (when.hour or when.minute) else timedelta()
        payments.append((f"DE{s:04d}", f"DE{t:04d}", float(np.round(rng.lognormal(5, 1.5), 2)), when))
    return people, payments


def write(path: Path, names: Sequence[str], lines: list[tuple[object, ...]], *, in_german: bool) -> None:
    text, delimiter, encoding = (german, ";", "cp1252") if in_german else (english, ",", "utf-8")
    with path.open("w", newline="", encoding=encoding) as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\r\n" if in_german else "\n")
        writer.writerows([names, *([text(value) for value in line] for line in lines)])


@pytest.mark.parametrize("words", [(), ("--no-flows",)], ids=["with flows", "without"])
def test_the_german_twin_has_the_same_scores(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    people, payments = rows()
    write(Path("accounts.csv"), ACCOUNTS, people, in_german=False)
    write(Path("payments.csv"), PAYMENT, payments, in_german=False)
    write(Path("Konten.csv"), KONTEN, people, in_german=True)
    write(Path("Zahlungen.csv"), ZAHLUNG, payments, in_german=True)
    found = []
    for edges, nodes, out in (("payments.csv", "accounts.csv", "one"), ("Zahlungen.csv", "Konten.csv", "two")):
        command = ["detect", edges, "--nodes", nodes, "--out", out, "--seed", "0", "--no-report", *FEW, *words]
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output
        found.append(pq.read_table(Path(out, "results.parquet")))
    ours, theirs = found
    assert ours["id"].equals(theirs["id"])
    numeric = [field.name for field in ours.schema if str(field.type) in {"double", "float", "int64", "int32"}]
    assert "score" in numeric
    for name in numeric:
        assert ours[name].equals(theirs[name]), name
