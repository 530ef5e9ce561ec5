"""Columns are found by the words of five languages, whatever their case, accents and punctuation."""

from __future__ import annotations

import pandas as pd
import pytest

from oddhop import Odd, read_network
from oddhop.errors import TableError
from oddhop.tables.read.roles import find_ends, find_id
from oddhop.tables.settings import ReadSettings

PLAIN = ReadSettings()
ENDS = [
    ("Auftraggeber", "Empfänger"),
    ("AUFTRAGGEBER", "EMPFAENGER"),
    ("Auftraggeber", "Zahlungsempfänger"),
    ("Auftraggeber", "Zahlungsempfaenger"),
    ("Auftraggeber-Konto", "Empfänger-Konto"),
    ("Auftraggeber IBAN", "Empfänger IBAN"),
    ("Zahler", "Empfänger"),
    ("Zahler", "Zahlungsempfänger"),
    ("Zahlungspflichtiger", "Zahlungsempfänger"),
    ("Absender", "Empfänger"),
    ("Sender", "Empfänger"),
    ("Quelle", "Ziel"),
    ("Von", "An"),
    ("von", "nach"),
    ("Käufer", "Verkäufer"),
    ("donneur d'ordre", "bénéficiaire"),
    ("Donneur_d_ordre", "Beneficiaire"),
    ("payeur", "bénéficiaire"),
    ("expéditeur", "destinataire"),
    ("émetteur", "destinataire"),
    ("Ordenante", "Beneficiario"),
    ("pagador", "beneficiario"),
    ("origen", "destino"),
    ("remitente", "destinatario"),
    ("betaler", "begunstigde"),
    ("Opdrachtgever", "Begunstigde"),
    ("verzender", "ontvanger"),
    ("reviewer", "product"),
    ("Reviewer ID", "Product ID"),
    ("sender", "receiver"),
    ("user", "item"),
    ("userId", "itemId"),
    ("user_id", "product_id"),
    ("customer_id", "merchant_id"),
    ("src_host", "dst_host"),
    ("source_ip", "destination_ip"),
    ("Source IP", "Destination IP"),
    ("src_ip", "dst_ip"),
    ("srcip", "dstip"),
    ("payer", "beneficiary"),
]


@pytest.mark.parametrize("ends", ENDS, ids=" ".join)
def test_both_ends_are_found_wherever_they_stand(ends):
    source, target = ends
    assert find_ends(["Betrag", target, "Notiz", source], PLAIN, "edges") == (3, 1)


@pytest.mark.parametrize(
    "names",
    [
        ("Auftraggeber", "Empfänger", "Sender"),
        ("payer", "payee", "Zahler", "Zahlungsempfänger"),
        ("source_ip", "destination_ip", "source_host", "destination_host"),
        ("Zahler", "zahler", "Empfänger"),
        ("Straße", "Hausnummer", "Ort"),
        ("date", "amount", "note"),
    ],
)
def test_what_may_be_several_is_asked_for_with_the_names(names):
    with pytest.raises(TableError) as caught:
        find_ends(list(names), PLAIN, "edges")
    assert all(repr(name) in str(caught.value) for name in names)
    assert "source" in str(caught.value)


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["Name", "Kontonummer"], 1),
        (["Inhaber", "Konto-Nr."], 1),
        (["titulaire", "Compte"], 1),
        (["titulaire", "numéro de compte"], 1),
        (["titular", "cuenta"], 1),
        (["titular", "Número de cuenta"], 1),
        (["naam", "rekening"], 1),
        (["naam", "Rekeningnummer"], 1),
        (["holder", "IBAN"], 1),
        (["holder", "account"], 1),
        (["holder", "Account Number"], 1),
        (["size", "id", "Konto"], 1),
        (["first", "second"], 0),
    ],
)
def test_ids_are_found(names, found):
    assert find_id(names, None, "nodes") == found


def test_two_ids_are_asked_for():
    with pytest.raises(TableError, match="'Konto' or 'IBAN'"):
        find_id(["Konto", "size", "IBAN"], None, "nodes")


PAYMENTS = pd.DataFrame(
    {
        "Buchungstag": pd.to_datetime([f"2026-03-{1 + k % 28:02d}" for k in range(40)]),
        "Auftraggeber": [f"K{k % 10}" for k in range(40)],
        "Empfänger": [f"K{(3 * k + 1) % 10}" for k in range(40)],
        "Betrag": [1100 + k for k in range(40)],
    }
)
ACCOUNTS = pd.DataFrame({"Kontonummer": [f"K{k}" for k in range(10)], "Umsatz": [k * k + 0.5 for k in range(10)]})


def test_a_detector_takes_german_frames_and_the_names_of_the_command():
    found = Odd(simulate=False, n_resamples=2, random_state=0).fit(PAYMENTS, nodes=ACCOUNTS)
    named = Odd(simulate=False, n_resamples=2, random_state=0).fit(
        PAYMENTS.rename(columns={"Auftraggeber": "A", "Empfänger": "B"}), nodes=ACCOUNTS, source="A", target="B"
    )
    assert found.result_.equals(named.result_)


def test_an_amount_may_be_whole_and_never_twice_the_same_but_not_an_account():
    edges = PAYMENTS.assign(Kontonummer=[70_000 + k % 9 for k in range(40)])
    roles = read_network(edges, ACCOUNTS).roles
    assert roles is not None
    assert roles.amount == ("Betrag",)
    assert [name for name, _ in roles.unread] == ["Kontonummer"]


def test_german_columns_have_their_roles():
    roles = read_network(PAYMENTS, ACCOUNTS).roles
    assert roles is not None
    assert (roles.source, roles.target, roles.id) == ("Auftraggeber", "Empfänger", "Kontonummer")
    assert (roles.amount, roles.time) == (("Betrag",), "Buchungstag")


TIMES = ["Buchungstag", "Valuta", "Datum", "Zeitpunkt", "fecha", "heure", "Date d'opération", "tijdstip", "boekdatum"]


@pytest.mark.parametrize("name", TIMES)
def test_of_two_times_the_one_that_is_called_so_is_taken(name):
    days = PAYMENTS["Buchungstag"]
    edges = PAYMENTS.drop(columns="Buchungstag").assign(Other=days + pd.Timedelta(days=3), **{name: days})
    roles = read_network(edges, ACCOUNTS).roles
    assert roles is not None
    assert roles.time == name
