"""What columns are called in English, German, French, Spanish and Dutch; all of it is compared by :func:`plain`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from unicodedata import normalize


def plain(name: str) -> str:
    """Return a name in lower case, its letters and digits alone: without accents, and ae, oe and ue as a, o and u."""
    return re.sub(r"(?<=[aou])e", "", re.sub(r"[^a-z0-9]", "", normalize("NFKD", name.casefold())))


def _words(*lines: str) -> tuple[str, ...]:
    return tuple(plain(word) for line in lines for word in line.split())


# Where an edge comes from, and where it goes to. An end may be called by any word of its line.
DIRECTED = (
    (
        _words(
            "payer debtor sender Auftraggeber Zahler Zahlungspflichtiger Schuldner Absender",
            "donneurdordre payeur débiteur expéditeur émetteur ordenante pagador deudor remitente",
            "betaler opdrachtgever verzender afzender",
        ),
        _words(
            "payee beneficiary creditor receiver recipient Empfänger Zahlungsempfänger Begünstigter Gläubiger",
            "bénéficiaire créancier destinataire beneficiario acreedor destinatario begunstigde ontvanger",
        ),
    ),
    (_words("source src Quelle origen bron"), _words("target dst dest destination Ziel destino doel")),
    (_words("from von van"), _words("to an nach naar")),
    (_words("buyer Käufer acheteur comprador koper"), _words("seller Verkäufer vendeur vendedor verkoper")),
    *((_words(one), _words(other)) for one, other in (("start", "end"), ("caller", "callee"), ("rater", "ratee"))),
    *((_words(one), _words(other)) for one, other in (("follower", "followee"), ("u", "v"), ("i", "j"))),
)
# Two sorts of nodes; looked for where no other ends are found, for payments may have a product, too.
TWO_SORTS = (
    (
        _words("user reviewer customer client Kunde cliente klant"),
        _words("item product movie book business merchant shop store Produkt Artikel Händler produit producto"),
    ),
)
# What may stand behind or before the name of an end, as in sender_account, src_host and Konto Auftraggeber.
MORE = _words(
    "id node nodeid account accountid iban number name host hostname ip ipaddress address addr",
    "Konto Kontonummer Nummer Nr compte cuenta rekening rekeningnummer",
)
NUMBERED = (("node1", "node2"), ("nodeid1", "nodeid2"), ("id1", "id2"))
ACCOUNTS = _words(
    "account accountid accountno accountnumber iban userid customerid Konto Kontonummer KontoNr Kundennummer",
    "compte numérodecompte cuenta númerodecuenta rekening rekeningnummer klantnummer",
)
# A table with both an id and a name goes by its id.
IDS = _words("id nodeid node vertex vertexid uid uuid key"), ACCOUNTS, _words("name nodename")
# The best first.
TIMES = _words(
    "time timestamp datetime date when at ts booked created unixtime epoch",
    "bookingdate transactiondate paymentdate Buchungstag Buchungsdatum Buchungszeit Datum Zeitpunkt Zeitstempel Zeit",
    "dateopération datedopération horodatage heure fecha fechaoperación fechadeoperación hora",
    "boekdatum transactiedatum tijdstip tijd valuedate Valuta Valutadatum Wertstellung datevaleur datedevaleur",
    "fechavalor",
)
AMOUNTS = _words("amount value sum total Betrag Umsatz Summe montant somme importe monto bedrag som")


def pairs(groups: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]) -> Iterator[tuple[str, str]]:
    """Return the plain names that both ends of an edge may have, together."""
    for sources, targets in groups:
        for one, other in product(sources, targets):
            yield one, other
            for more in MORE:
                yield one + more, other + more
                yield more + one, more + other
