"use strict";
// Sorting, filtering and opening cases. Without this script the page still shows everything.
(() => {
  const table = document.getElementById("table");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const cards = new Map([...document.querySelectorAll(".case")].map((card) => [card.dataset.case, card]));
  const list = document.getElementById("cards");
  const filter = document.getElementById("filter");
  const alerts = document.getElementById("alerts");
  const kind = document.getElementById("kind");
  const shown = document.getElementById("shown");
  const said = new Map(rows.map((row) => [row, `${row.textContent} ${cards.get(row.dataset.case).textContent}`.toLowerCase()]));
  const linkOf = (row) => row.querySelector("a");
  const visible = () => [...body.rows].filter((row) => !row.hidden);

  const value = (row, column, type) => {
    const cell = row.cells[column];
    return type === "number" ? Number(cell.dataset.v) : cell.textContent;
  };

  function sortBy(button) {
    const head = button.closest("th");
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const column = head.cellIndex, type = button.dataset.type, sign = down ? -1 : 1;
    const order = (a, b) => (type === "number" ? a - b : a.localeCompare(b, undefined, { numeric: true }));
    const sorted = [...body.rows].map((row) => [value(row, column, type), row]);
    sorted.sort((a, b) => sign * order(a[0], b[0]));
    body.append(...sorted.map((pair) => pair[1]));
    list.append(...new Set(sorted.map((pair) => cards.get(pair[1].dataset.case))));  // a group has one card
  }

  function apply() {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const card of cards.values()) card.hidden = true;
    for (const row of rows) {
      const fits = words.every((word) => said.get(row).includes(word))
        && (!alerts.checked || row.classList.contains("alert"))
        && (!kind || !kind.value || row.cells[7].textContent === kind.value);
      row.hidden = !fits;
      if (fits) cards.get(row.dataset.case).hidden = false;
      count += fits;
    }
    const some = [...cards.values()].filter((card) => !card.hidden).length;
    const nodes = count === rows.length ? `${count} nodes` : `${count} of ${rows.length} nodes`;
    shown.textContent = `${nodes}, ${some === 1 ? "1 case" : `${some} cases`}`;
  }

  function open(card) {
    card.hidden = false;
    card.open = true;
    card.scrollIntoView({ block: "start" });
    card.querySelector("summary").focus({ preventScroll: true });
  }

  function back(card) {
    const row = rows.find((one) => one.dataset.case === card.dataset.case);
    linkOf(row).focus();
    row.scrollIntoView({ block: "center" });
  }

  for (const button of table.tHead.querySelectorAll("button")) button.addEventListener("click", () => sortBy(button));
  for (const control of [filter, alerts, kind]) if (control) control.addEventListener("input", apply);
  document.querySelector(".tools").addEventListener("submit", (event) => event.preventDefault());
  body.addEventListener("click", (event) => {
    const row = event.target.closest("tr");
    if (!row || String(getSelection())) return;
    event.preventDefault();
    open(cards.get(row.dataset.case));
  });
  body.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const there = visible();
    const next = there[there.indexOf(event.target.closest("tr")) + step];
    if (next) linkOf(next).focus();
  });
  document.addEventListener("keydown", (event) => {
    const card = document.activeElement.closest(".case");
    if (event.key === "/" && document.activeElement !== filter) {
      event.preventDefault();
      filter.focus();
    } else if (event.key === "ArrowDown" && document.activeElement === filter) {
      event.preventDefault();
      const first = visible()[0];
      if (first) linkOf(first).focus();
    } else if (event.key === "Escape" && card) {
      back(card);
    }
  });
  const named = () => {
    const card = document.getElementById(location.hash.slice(1));
    if (card && card.classList.contains("case")) open(card);
  };
  addEventListener("hashchange", named);
  document.querySelector(".tools").hidden = false;
  apply();
  named();
})();
