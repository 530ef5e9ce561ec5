"""What to compare with: an isolation forest on obvious columns, and the one question somebody asks in hindsight.

The question of a scheme of the bank was written by somebody who knew the scheme: an upper bound, and no method.
"""

from __future__ import annotations

from collections.abc import Mapping

import duckdb
import numpy as np
import pyarrow as pa
from scipy.stats import rankdata

from benchmarks.schemes.world import Layout, Tables

TREES = 300
SIDES = ", ".join(
    f"ln(1 + nullif({what} FILTER (WHERE {side}), 0))"
    for side in ("received", "NOT received")
    for what in ("count(*)", "sum(amount)", "avg(amount)", "max(amount)", "count(DISTINCT other)")
)
COLUMNS = f"""
WITH ends AS (
  SELECT source AS node, target AS other, amount, moment, false AS received, row FROM events UNION ALL
  SELECT target, source, amount, moment, true, row FROM events),
waits AS (
  SELECT node, received, moment - last_value(CASE WHEN received THEN moment END IGNORE NULLS)
    OVER (PARTITION BY node ORDER BY moment, received, row ROWS UNBOUNDED PRECEDING) AS wait FROM ends),
slow AS (SELECT node, ln(1 + median(epoch(wait) / 3600)) AS wait FROM waits
  WHERE NOT received AND wait IS NOT NULL GROUP BY node),
pairs AS (SELECT DISTINCT source, target FROM events),
mutual AS (
  SELECT one.source AS node, avg(CAST(two.source IS NOT NULL AS INT)) AS share
  FROM pairs one LEFT JOIN pairs two ON one.source = two.target AND one.target = two.source GROUP BY 1),
sides AS (
  SELECT node, {SIDES},
    avg(CAST(hour(moment) < 5 AS INT)), avg(CAST(amount % 10 = 0 AS INT)), count(DISTINCT CAST(moment AS DATE))
  FROM ends GROUP BY node)
SELECT sides.* EXCLUDE (node), share, floor(epoch((SELECT max(moment) FROM events) - opened) / 86400), wait
FROM nodes LEFT JOIN sides USING (node) LEFT JOIN mutual USING (node) LEFT JOIN slow USING (node) ORDER BY nodes.row
"""
VIEWS = """
CREATE VIEW paid AS
SELECT events.*, count(*) OVER pair AS times, row_number() OVER (pair ORDER BY events.row) = 1 AS first,
  payer.kind AS payer_kind, payee.kind AS payee_kind, payer.opened AS payer_opened, payee.opened AS payee_opened,
  payer.region IS DISTINCT FROM payee.region AS far
FROM events JOIN nodes payer ON source = payer.node JOIN nodes payee ON target = payee.node
WINDOW pair AS (PARTITION BY source, target);
CREATE VIEW sent AS SELECT * FROM paid WHERE type IN ('transfer', 'instant');
CREATE TABLE passed AS
SELECT one.row, one.source, one.target AS node, one.payer_kind, one.first, one.amount, two.target AS taker,
  two.payee_kind AS taker_kind, epoch(two.moment - one.moment) / 3600 AS gap, two.amount / one.amount AS ratio
FROM sent one JOIN sent two
  ON one.target = two.source AND two.target <> one.source
  AND two.moment BETWEEN one.moment AND one.moment + INTERVAL 4 DAY
"""
QUESTIONS = {  # of every scheme: account and value, the larger the odder
    "mule": """SELECT node, count(DISTINCT row) FROM passed
WHERE first AND payer_kind = 'person' AND amount > 500 AND gap < 6 AND ratio BETWEEN 0.8 AND 1 GROUP BY node""",
    "collector": """SELECT target, count(*) FROM sent
WHERE payer_kind = 'person' AND times = 1 AND payee_kind <> 'merchant' AND far GROUP BY target""",
    "smurfing": """SELECT target, count(*) FROM paid
WHERE type = 'cash deposit' AND amount BETWEEN 9000 AND 9999.99 AND payee_kind = 'person' GROUP BY target""",
    "shells": """SELECT node, count(DISTINCT row) FROM passed
WHERE payer_kind = 'firm' AND amount > 10000 AND ratio BETWEEN 0.95 AND 0.99 GROUP BY node""",
    "takeover": """SELECT unnest([source, target]) AS node, sum(amount) FROM paid
WHERE type = 'instant' AND hour(moment) < 5 AND times < 6 AND amount > 500 GROUP BY node""",
    "dormant": """WITH woken AS (
  SELECT unnest([source, target]) AS node, min(moment) AS moment FROM events GROUP BY node),
spent AS (SELECT source AS node, sum(amount) AS amount FROM events GROUP BY source)
SELECT node, floor(epoch(moment - start) / 86400) * log10(1 + coalesce(amount, 0))
FROM woken JOIN nodes USING (node) LEFT JOIN spent USING (node), (SELECT min(moment) AS start FROM events)
WHERE opened < start""",
    "ring": """WITH round AS (SELECT source, target FROM paid
  WHERE payer_kind = 'merchant' AND payee_kind = 'merchant' AND amount >= 1000 AND amount % 500 = 0)
SELECT node, least(gave, got) FROM (SELECT source AS node, count(*) AS gave FROM round GROUP BY 1)
JOIN (SELECT target AS node, count(*) AS got FROM round GROUP BY 1) USING (node)""",
    "ghosts": """WITH wages AS (SELECT * FROM passed WHERE payer_kind <> 'person' AND taker_kind = 'person'
  AND amount BETWEEN 800 AND 4000 AND gap < 48 AND ratio BETWEEN 0.9 AND 1)
SELECT node, sum(value) FROM (
  SELECT node, count(DISTINCT row) AS value FROM wages GROUP BY node UNION ALL
  SELECT taker, count(DISTINCT node) FROM wages GROUP BY taker) GROUP BY node""",
    "cycle": """WITH RECURSIVE big AS (SELECT * FROM sent WHERE amount > 1000),
walk AS (
  SELECT [source, target] AS path, amount, moment, moment AS start, false AS closed FROM big UNION ALL
  SELECT CASE WHEN big.target = path[1] THEN path ELSE list_append(path, big.target) END, big.amount, big.moment, start,
    big.target = path[1]
  FROM walk JOIN big ON big.source = path[-1] AND big.moment > walk.moment AND big.moment <= start + INTERVAL 14 DAY
    AND big.amount / walk.amount BETWEEN 0.9 AND 1
  WHERE NOT closed AND CASE WHEN big.target = path[1] THEN len(path) >= 4
    ELSE len(path) < 6 AND NOT list_contains(path, big.target) END)
SELECT unnest(path) AS node, count(*) FROM walk WHERE closed GROUP BY node""",
    "invoices": """WITH young AS (SELECT * FROM paid
  WHERE payer_kind = 'firm' AND payee_kind = 'firm' AND moment - payee_opened < INTERVAL 150 DAY),
lone AS (SELECT target, any_value(source) AS source FROM young GROUP BY target HAVING count(DISTINCT source) = 1),
firms AS (SELECT source, count(*) AS value FROM lone GROUP BY source)
SELECT node, max(value) FROM (SELECT source AS node, value FROM firms UNION ALL
  SELECT target, value FROM lone JOIN firms USING (source)) GROUP BY node""",
    "bustout": """WITH spent AS (
  SELECT source, floor(epoch(moment - (SELECT min(moment) FROM events)) / 604800) AS week, sum(amount) AS amount
  FROM paid WHERE payer_kind = 'person' GROUP BY ALL)
SELECT source, coalesce(max(amount) FILTER (WHERE week > 8), 0) -- of 13 weeks, some without a payment
  / (list_median(list_concat(list(amount), list_resize([0.0], 13 - count(*), 0.0))) + 300)
FROM spent GROUP BY source HAVING count(*) > 5""",
    "farm": """WITH cohorts AS (SELECT target, source,
    floor(floor(epoch(payer_opened - (SELECT min(moment) FROM events)) / 86400) / 10) AS since
  FROM sent WHERE payer_kind = 'person' AND payee_kind = 'person'),
fed AS (SELECT target AS node, max(many) AS many FROM (SELECT target, since, count(DISTINCT source) AS many
  FROM cohorts WHERE since >= -3 GROUP BY ALL) GROUP BY target),
payers AS (SELECT source AS node, arg_min(many, row) AS many FROM sent JOIN fed ON target = fed.node AND many > 3
  WHERE payer_opened >= (SELECT min(moment) FROM events) - INTERVAL 30 DAY GROUP BY source)
SELECT node, max(many) FROM (FROM fed UNION ALL FROM payers) GROUP BY node""",
}


def placed(score: np.ndarray) -> np.ndarray:
    """Rank, the highest first; equal scores share the mean of their places."""
    return np.asarray(rankdata(-score))


def opened(tables: Tables, layout: Layout) -> duckdb.DuckDBPyConnection:
    """Register the tables under one set of names, whatever a world calls its columns."""
    nodes = {**tables.nodes, "row": np.arange(len(tables.nodes[layout.node]))}
    plain = {layout.node: "node", layout.opened: "opened"}
    events = dict(zip(("source", "target", "amount", "moment", "type"), tables.events.values(), strict=True))
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("SET enable_progress_bar = false")
    connection.register("nodes", arrow({plain.get(name, name): column for name, column in nodes.items()}))
    connection.register("events", arrow({**events, "row": np.arange(len(events["moment"]))}))
    return connection


def arrow(columns: Mapping[str, np.ndarray]) -> pa.Table:
    """Return columns as a table; times by the second."""
    return pa.table(
        {name: column.astype("M8[s]") if column.dtype.kind == "M" else column for name, column in columns.items()}
    )


def forest_ranks(tables: Tables, layout: Layout, judged: np.ndarray, seed: int) -> np.ndarray:
    """Rank the judged nodes by an isolation forest; NaN for the others. In the order of the table."""
    from sklearn.ensemble import IsolationForest

    found = opened(tables, layout).execute(COLUMNS).fetchnumpy()
    x = np.column_stack([np.ma.filled(column.astype(float), np.nan) for column in found.values()])
    x = np.where(np.isnan(x), np.nanmedian(x, axis=0), x)
    score = -IsolationForest(n_estimators=TREES, random_state=seed).fit(x).score_samples(x)
    ranks = np.full(score.size, np.nan)
    ranks[judged] = placed(score[judged])
    return ranks


def question_ranks(tables: Tables, layout: Layout) -> dict[str, np.ndarray]:
    """Rank the accounts of the bank by the question of every scheme."""
    place = {name: row for row, name in enumerate(tables.nodes[layout.node])}
    connection = opened(tables, layout)
    connection.execute(VIEWS)
    ranks = {}
    for scheme, question in QUESTIONS.items():
        value = np.zeros(len(place))
        for node, found in connection.execute(question).fetchall():
            value[place[node]] = found
        ranks[scheme] = placed(value)
    return ranks
