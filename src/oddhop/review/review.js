// The page of a review. All data is put in as text; the card alone is HTML, and the server's template escapes it.
"use strict";
(() => {
  const VERDICTS = { y: "confirmed", n: "cleared", u: "watch" };
  const RETRY = 2000, CALM = 500;  // a key that was meant for the case before must not answer the one that took its place
  const by = (id) => document.getElementById(id);
  const policy = window.trustedTypes ? trustedTypes.createPolicy("card", { createHTML: (text) => text }) : null;
  let state = null, at = 0, busy = false, turn = 0, swapped = -RETRY, mine = [];

  function make(tag, name, text) {
    const one = document.createElement(tag);
    if (name) one.className = name;
    if (text !== undefined) one.textContent = text;
    return one;
  }

  function uuid() {
    // randomUUID is not there where the page is served to another machine without encryption.
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    bytes[6] = (bytes[6] & 15) | 64;
    bytes[8] = (bytes[8] & 63) | 128;
    const hex = [...bytes].map((one) => one.toString(16).padStart(2, "0")).join("");
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
  }

  function tell(text) {
    by("trouble").textContent = text || "";
    by("trouble").hidden = !text;
  }

  async function ask(path, body) {
    const how = body === undefined ? {} : {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body),
    };
    let answer;
    try {
      answer = await fetch(path, { ...how, cache: "no-store", credentials: "same-origin" });
    } catch {
      throw { status: 0, sentence: "The server does not answer." };
    }
    const text = await answer.text();
    let told = {};
    try { told = JSON.parse(text); } catch { told = { error: text.trim() }; }
    if (!answer.ok) throw { status: answer.status, sentence: told.error || "The server rejected the request." };
    return told;
  }

  // What is sent is kept in this tab until the book has it; its id makes sure that it is written once.
  const kept = () => JSON.parse(sessionStorage.getItem("pending") || "null");
  const keep = (one) => one ? sessionStorage.setItem("pending", JSON.stringify(one)) : sessionStorage.removeItem("pending");

  async function deliver() {
    const one = kept();
    if (!one) return;
    busy = true;
    document.body.classList.add("busy");
    let taken;
    try {
      taken = await ask(one.path, one.body);
    } catch (error) {
      if (error.status === 0 || error.status === 403 || error.status === 421 || error.status >= 500) {
        tell(`NOT saved: ${one.label}. ${error.sentence} The answer is kept in this window and sent again.`);
        setTimeout(deliver, RETRY);
        return;
      }
      keep(null);
      busy = false;
      document.body.classList.remove("busy");
      tell(`NOT saved: ${one.label}. ${error.sentence}`);
      return;
    }
    keep(null);
    tell("");
    if (one.path === "/api/answer") mine.push(one.body.entry);
    else mine = mine.filter((entry) => entry !== one.body.answer);
    const before = taken.before && taken.before.length ? ` ${taken.before.join("; ")}.` : "";
    by("last").textContent = `Saved: ${one.label}.${before}`;
    for (const field of ["reason", "note"]) by(field).value = "";
    for (const radio of document.querySelectorAll("[name=verdict]")) radio.checked = false;
    state = null;  // what is on the screen is answered
    await show();
    busy = false;
    document.body.classList.remove("busy");
    by("case").focus({ preventScroll: true });
  }

  function send(path, body, label) {
    if (busy) return;
    keep({ path, body: { entry: uuid(), ...body }, label });
    deliver();
  }

  function answer(verdict) {
    if (!state || !state.asked || busy || performance.now() - swapped < CALM) return;
    const ticked = [...document.querySelectorAll("#alikes input:checked")].map((one) => one.value);
    const more = ticked.length ? ` and ${ticked.length} more` : "";
    const body = { cases: [state.asked.case, ...ticked], verdict, reason: by("reason").value, note: by("note").value };
    send("/api/answer", body, `${state.asked.id}${more}: ${verdict}`);
  }

  function undo() {
    if (!state || busy) return;
    const last = mine.length ? mine[mine.length - 1] : state.last;
    if (last) send("/api/undo", { answer: last }, "the last answer was undone");
    else by("last").textContent = "There is no answer to undo.";
  }

  // Show the next case, or the one that is named; with `stay` the next one if that was answered in another window.
  async function show(named, stay) {
    const now = ++turn;
    try {
      const told = await ask("/api/question" + (named ? `?case=${encodeURIComponent(named)}` : ""));
      if (now !== turn) return;
      if (stay && told.asked && told.asked.answered) { await show(); swapped = performance.now(); return; }
      const asked = told.asked && told.asked.case;
      const card = asked ? (await ask(`/api/card?${new URLSearchParams({ case: asked })}`)).html : "";
      if (now !== turn) return;
      state = told;  // all at once: what a key answers is what is seen
      draw();
      const parsed = new DOMParser().parseFromString(policy ? policy.createHTML(card) : card, "text/html");
      by("card").replaceChildren(...parsed.body.childNodes);
      document.body.dataset.shown = asked || "";
      if (!kept()) tell("");
    } catch (error) {
      if (error.status === undefined) throw error;
      if (now !== turn) return;
      tell(error.sentence + (error.status === 422 ? "" : " The page tries again."));
      if (error.status !== 422) setTimeout(() => { if (now === turn) show(named, stay); }, RETRY);
    }
  }

  function draw() {
    const asked = state.asked;
    by("run").textContent = state.run;
    by("who").textContent = state.who;
    by("title").textContent = asked ? "Is this worth an investigation?" : "All cases are answered";
    by("id").textContent = asked ? asked.id : "";
    at = asked ? state.queue.findIndex((one) => one.case === asked.case) : -1;
    const whose = state.audit && state.audit.state === "asking" && !state.audit.complete ? " of the audit" : "";
    by("position").textContent = at < 0 ? "" : at === 0 ? `Next case${whose}: ` : `Case ${at + 1} of the next${whose}: `;
    by("ranks").textContent = asked ? `, rank ${asked.rank}, original rank ${asked.rank_label_free}.` : "";
    by("why").textContent = asked ? asked.why : "";
    by("form").hidden = !asked;
    by("applies").textContent = asked ? rule(asked) : "";
    by("notice").textContent = state.notice || "";
    by("notice").hidden = !state.notice;
    by("changed").textContent = state.changed || "";
    by("sentence").textContent = state.curve.sentence;
    by("alike").hidden = !state.alike.length;
    by("alikes").replaceChildren(...state.alike.map(tick));
    by("queue").replaceChildren(...state.queue.map((one, place) => {
      const item = line(one.case, one.short || one.id, `${one.rank}`);
      item.setAttribute("aria-current", String(place === at));
      return item;
    }));
    by("given").replaceChildren(...state.given.map((one) => line(one.case, one.case, `${one.verdict} · ${one.who}`)));
    by("curve").replaceChildren(curve(state.curve));
    drawAudit(state.audit);
  }

  function rule(asked) {
    const own = asked.size > 1 ? `the ${asked.size} members that this case grew from` : asked.id;
    const more = asked.others ? ` Its other ${asked.others === 1 ? "member is" : `${asked.others} members are`} not judged by it.` : "";
    return asked.size > 1 || more ? `Your answer counts for ${own}.${more}` : "";
  }

  function drawAudit(told) {
    by("begin").hidden = !!told;
    by("audit").hidden = !told;
    if (!told) return;
    const title = `${told.low} to ${told.high} of ${told.listed}`;
    by("range").replaceChildren(drawing("0 0 300 30", title, (add) => {
      const x = (count) => 300 * count / told.listed;
      add("rect", "all", { x: 0, y: 4, width: 300, height: 8, rx: 4 });
      add("rect", "within", { x: Math.min(x(told.low), 296), y: 4, width: Math.max(x(told.high) - x(told.low), 4), height: 8, rx: 4 });
      add("text", "scale", { x: 0, y: 26 }, "0");
      add("text", "scale", { x: 300, y: 26, "text-anchor": "end" }, String(told.listed));
    }));
    by("audited").textContent = told.sentence;
    by("about").textContent = told.about;
    by("pause").hidden = told.complete;
    by("pause").textContent = told.state === "asking" ? "Pause" : "Continue";
  }

  async function audit(body) {
    if (busy) return;
    try {
      await ask("/api/audit", body);
    } catch (error) {
      if (error.status === undefined) throw error;
      tell(error.sentence);
      return;
    }
    await show();
    by("case").focus({ preventScroll: true });
  }

  function tick(one) {
    const label = make("label"), box = make("input");
    box.type = "checkbox";
    box.value = one.case;
    label.append(box, " ", make("bdi", "name", one.short || one.id));
    return label;
  }

  function line(name, text, figure) {
    const item = make("li"), button = make("button");
    button.type = "button";
    button.append(make("bdi", "name", text), make("bdi", "figure", figure));
    button.addEventListener("click", () => { if (!busy) show(name); });
    item.append(button);
    return item;
  }

  function curve(told) {
    const wide = 300, tall = 110, steps = Math.max(told.found.length - 1, 1);
    const most = Math.max(1, ...told.found, ...told.listed.map((one, k) => Math.min(k, one + told.unknown[k])));
    const x = (k) => (wide * k / steps).toFixed(1), y = (v) => (tall - tall * v / most).toFixed(1);
    const path = (values) => values.map((v, k) => `${k ? "L" : "M"}${x(k)} ${y(v)}`).join("");
    const high = told.listed.map((one, k) => one + told.unknown[k]);
    const back = told.listed.map((v, k) => `L${x(k)} ${y(v)}`).reverse().join("");
    return drawing(`-4 -8 ${wide + 8} ${tall + 30}`, told.sentence, (add) => {
      add("path", "maybe", { d: `${path(high)}${back}Z` });
      add("path", "axis", { d: `M0 ${tall}H${wide}` });
      add("path", "listed", { d: path(told.listed) });
      add("path", "found", { d: path(told.found) });
      add("text", "key-found", { x: 0, y: tall + 16 }, "confirmed in this order");
      add("text", "key-listed", { x: wide, y: tall + 16, "text-anchor": "end" }, "in the original order");
    });
  }

  function drawing(box, title, fill) {
    const space = "http://www.w3.org/2000/svg", svg = document.createElementNS(space, "svg");
    svg.setAttribute("viewBox", box);
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", title);
    fill((tag, name, more, text) => {
      const one = document.createElementNS(space, tag);
      one.setAttribute("class", name);
      for (const [key, value] of Object.entries(more)) one.setAttribute(key, value);
      if (text) one.textContent = text;
      svg.append(one);
    });
    return svg;
  }

  by("form").addEventListener("submit", (event) => {
    event.preventDefault();
    const chosen = document.querySelector("[name=verdict]:checked");
    if (chosen) answer(chosen.value);
    else tell("Choose confirm, clear or unsure first. Nothing was sent.");
  });

  by("begin").addEventListener("submit", (event) => {
    event.preventDefault();
    audit({ do: "start", list: by("list").value, first: Number(by("first").value), size: Number(by("size").value) });
  });
  by("pause").addEventListener("click", () => audit({ do: state.audit.state === "asking" ? "paused" : "asking" }));
  by("end").addEventListener("click", () => audit({ do: "ended" }));

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    const where = event.target, typing = where.matches("input:not([type=radio]):not([type=checkbox]), select");
    if (event.key === "Escape") { tell(""); by("case").focus({ preventScroll: true }); return; }
    if (typing) return;
    if (VERDICTS[event.key]) { event.preventDefault(); answer(VERDICTS[event.key]); }
    else if (event.key === "z") { event.preventDefault(); undo(); }
    else if (event.key === "Enter" && !where.matches("button, input")) { event.preventDefault(); by("reason").focus(); }
    else if ((event.key === "ArrowLeft" || event.key === "ArrowRight") && !where.matches("input") && state && !busy) {
      event.preventDefault();
      const next = Math.min(Math.max(at + (event.key === "ArrowRight" ? 1 : -1), 0), state.queue.length - 1);
      if (state.queue[next] && next !== at) { at = next; show(state.queue[next].case); }
    }
  });

  // Another window may have answered meanwhile.
  window.addEventListener("focus", () => {
    const typed = by("reason").value || by("note").value;
    if (!busy && state && state.asked && !typed && !document.querySelector("#alikes input:checked")) show(state.asked.case, !state.asked.answered);
  });

  if (kept()) show().then(deliver);
  else show();
})();
