// Sessions, and one of them as a picture of its rotations.

const sessionsShown = 100;
const rotationsShown = 60;
let chosenSession = null;

function setUpSessions() {
  $("session-filter").addEventListener("input", showSessions);
  $("only-alive").addEventListener("change", showSessions);
  $("revoke-all").addEventListener("click", async () => {
    if (!await ask("End all sessions?", "Every client of this realm has to sign in again.", "End all")) return;
    act(() => call("POST", "revoke", { all: true }), ({ revoked }) => `${plural(revoked, "session")} ended.`);
  });
  onState(() => {
    count("sessions", store.state.sessions.filter((session) => session.alive).length);
    if (!isShown("sessions")) return;
    showSessions();
    if (chosenSession) openFamily(chosenSession, { quietly: true });
  });
  onTab((name) => { if (name === "sessions") showSessions(); });
  setInterval(() => { if (store.state?.clock === "real" && isShown("sessions") && !document.hidden) showSessions(); }, 5000);
  $("family").addEventListener("keydown", (event) => { if (event.key === "Escape") closeFamily({ back: true }); });
  new ResizeObserver(() => drawGraph()).observe($("family"));
}

/** What is left of a session: [word, look]. */
function standing(session) {
  if (session.endedBy) return [`ended by ${session.endedBy}`, "bad"];
  if (!session.alive) return ["revoked", "bad"];
  if (Date.parse(session.refreshExpiresAt) <= realmNow()) return ["expired", "warn"];
  return ["alive", "good"];
}

function showSessions() {
  const state = store.state;
  if (!state) return;
  const words = $("session-filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = state.sessions.filter((session) => {
    if ($("only-alive").checked && !session.alive) return false;
    const user = store.users.get(session.userID);
    const text = `${session.id} ${user?.username} ${user?.email} ${session.endedBy ?? ""}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const shown = found.slice(-sessionsShown).reverse();
  put($("sessions-note"), state.sessions.length === 0 ? "Nobody has signed in yet."
    : `${plural(state.sessions.length, "session")}, ${state.sessions.filter((session) => session.alive).length.toLocaleString("en")} alive`
      + (found.length === state.sessions.length ? "" : `; ${found.length.toLocaleString("en")} found`)
      + (found.length > shown.length ? `; the newest ${shown.length} shown` : ""));
  $("revoke-all").disabled = !state.sessions.some((session) => session.alive);
  keyed($("sessions"), shown, (session) => session.id, makeSession, updateSession);
}

function makeSession(session) {
  const parts = {
    name: el("span", { class: "who" }), id: el("span", { class: "mono facts" }), tag: el("span"), facts: el("p", { class: "facts" }),
    chain: el("div", {}),
    open: el("button", { type: "button", class: "small", text: "Rotations", on: { click: () => openFamily(session.id) } }),
    end: el("button", { type: "button", class: "small danger", text: "End", on: { click: () => {
      act(() => call("POST", "revoke", { session: session.id }), "The session is ended.");
    } } }),
  };
  const item = el("li", { "data-session": session.id }, el("div", { class: "session" },
    el("div", {}, el("div", { class: "tags" }, parts.name, parts.id, parts.tag), parts.chain, parts.facts),
    el("div", { class: "cells" }, parts.open, parts.end)));
  item.parts = parts;
  return item;
}

function updateSession(item, session) {
  const parts = item.parts;
  const user = store.users.get(session.userID);
  const name = user?.username ?? "a deleted user";
  const [word, look] = standing(session);
  item.classList.toggle("chosen", session.id === chosenSession);
  put(parts.name, name);
  put(parts.id, shortID(session.id));
  put(parts.tag, word);
  parts.tag.className = `tag ${look}`;
  const now = realmNow();
  const left = (text) => Date.parse(text) > now ? `${spanText(Date.parse(text) - now)} left` : `expired ${spanText(now - Date.parse(text))} ago`;
  put(parts.facts, session.alive
    ? `${plural(session.generation, "rotation")} · access token ${left(session.accessExpiresAt)} · refresh token ${left(session.refreshExpiresAt)}`
    : plural(session.generation, "rotation"));
  parts.open.setAttribute("aria-label", `Rotations of ${name}’s session ${shortID(session.id)}`);
  parts.end.setAttribute("aria-label", `End ${name}’s session ${shortID(session.id)}`);
  parts.end.hidden = !session.alive;
  const picture = `${session.generation} ${look}`;
  if (item.picture === picture) return;
  item.picture = picture;
  parts.chain.replaceChildren(chainPicture(session.generation, look));
}

/** A dot for each pair, the last one coloured by what is left of the session. */
function chainPicture(generation, look) {
  const shown = Math.min(generation + 1, 12);
  const gap = 20;
  const more = generation + 1 - shown;
  const start = more > 0 ? 44 : 7;
  const picture = svg("svg", { width: start + (shown - 1) * gap + 8, height: 16, "aria-hidden": "true" });
  if (more > 0) picture.append(svg("text", { x: 0, y: 12, class: "soft" }, `+${more}`));
  if (shown > 1) picture.append(svg("path", { class: "edge", d: `M${start} 8h${(shown - 1) * gap}` }));
  for (let index = 0; index < shown; index++) {
    const isLast = index === shown - 1;
    const kind = isLast ? { good: "current", warn: "lapsed", bad: "dead" }[look] : "spent";
    picture.append(svg("circle", { class: kind, cx: start + index * gap, cy: 8, r: isLast ? 6 : 4.5 }));
  }
  return picture;
}

// ---- One session

async function openFamily(id, { quietly = false } = {}) {
  chosenSession = id;
  showSessions();
  let family;
  try {
    family = await call("GET", `sessions?session=${encodeURIComponent(id)}`);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (chosenSession === id) closeFamily();
    return;
  }
  if (chosenSession !== id) return;
  const drawn = JSON.stringify([family, store.state?.now]);
  if (quietly && $("family").drawn === drawn) return;
  $("family").drawn = drawn;
  const hadFocus = $("family").contains(document.activeElement) && document.activeElement !== $("family");
  const { session, refreshTokens, accessTokens } = family;
  const user = store.users.get(session.userID);
  const [word, look] = standing(session);
  const now = realmNow();
  const valid = accessTokens.filter((token) => !token.revoked && Date.parse(token.expiresAt) > now).length;
  const facts = el("dl", {});
  const fact = (name, ...value) => facts.append(el("dt", { text: name }), el("dd", {}, ...value));
  fact("Session", el("span", { class: "mono", text: session.id }));
  fact("Standing", el("span", { class: `tag ${look}`, text: word }));
  fact("Access tokens", `${plural(accessTokens.length, "issued", "issued")}, ${valid} not expired`);
  const close = el("button", { type: "button", class: "small", text: "Close", "aria-label": "Close the rotations", on: { click: () => closeFamily({ back: true }) } });
  const sequence = el("button", { type: "button", class: "small", text: "As a sequence", on: { click: () => showSequenceOf(id) } });
  const list = el("ol", { "aria-label": "Refresh tokens, oldest first" });
  const shown = refreshTokens.slice(-rotationsShown);
  const hidden = refreshTokens.length - shown.length + (refreshTokens[0]?.generation ?? 0);
  if (hidden > 0) list.append(el("li", { class: "gap", text: `${plural(hidden, "earlier one")} not shown` }));
  for (const token of shown) list.append(tokenItem(token, session, accessTokens));
  const graph = el("div", { class: "graph" }, svg("svg", { "aria-hidden": "true" }), list);
  $("family").replaceChildren(
    el("div", { class: "head" }, el("h2", { id: "family-title", text: `Rotations of ${user?.username ?? "a deleted user"}’s session` }), close),
    facts, el("div", { class: "acts" }, sequence), graph);
  $("family").shownTokens = shown;
  $("family").session = session;
  $("family").hidden = false;
  drawGraph();
  if (!quietly) $("family").focus();
  else if (hadFocus) close.focus();
}

/** What became of a refresh token: [word, look, kind of node]. */
function tokenStanding(token, session) {
  if (token.revoked) return ["revoked", "bad", "dead"];
  if (token.spentAt) return ["spent", "", "spent"];
  if (session.endedBy) return [`ended by ${session.endedBy}`, "bad", "dead"];
  if (Date.parse(token.expiresAt) <= realmNow()) return ["expired", "warn", "lapsed"];
  return [token.current ? "current" : "unspent", "good", "current"];
}

function tokenItem(token, session, accessTokens) {
  const [word, look] = tokenStanding(token, session);
  const lines = [`issued ${clockText(token.issuedAt)}`];
  if (token.spentAt) lines.push(`spent ${clockText(token.spentAt)}, after ${spanText(Date.parse(token.spentAt) - Date.parse(token.issuedAt))}`);
  else lines.push(`good until ${dateText(token.expiresAt)} ${clockText(token.expiresAt)}`);
  const access = accessTokens.filter((other) => other.generation === token.generation).at(-1);
  if (access) {
    const state = access.revoked ? "revoked" : Date.parse(access.expiresAt) > realmNow() ? `good until ${clockText(access.expiresAt)}` : "expired";
    lines.push(`access token ${state}`);
  }
  return el("li", { "data-generation": token.generation },
    el("strong", { text: token.generation === 0 ? "Login" : `Rotation ${token.generation}` }),
    el("span", { class: `tag ${look}`, text: word }),
    token.parent !== undefined && token.parent !== token.generation - 1 ? el("span", { class: "tag warn", text: `forked from ${token.parent}` }) : null,
    el("span", { class: "sub", text: lines.join(" · ") }));
}

/** Draws nodes and edges beside the list, where the browser has put its items. */
function drawGraph() {
  const graph = $("family").querySelector(".graph");
  const tokens = $("family").shownTokens;
  if (!graph || !tokens || $("family").hidden) return;
  const lanes = new Map();
  const taken = new Map();
  let laneCount = 1;
  for (const token of tokens) {
    const parentLane = lanes.get(token.parent) ?? 0;
    const isFork = token.parent !== undefined && taken.has(token.parent);
    lanes.set(token.generation, isFork ? laneCount++ : parentLane);
    if (token.parent !== undefined) taken.set(token.parent, true);
  }
  const x = (token) => 12 + Math.min(lanes.get(token.generation) ?? 0, 6) * 18;
  const list = graph.querySelector("ol");
  const left = 12 + Math.min(laneCount - 1, 6) * 18 + 20;
  list.style.setProperty("padding-left", `${left}px`);
  const places = new Map();
  for (const token of tokens) {
    const item = list.querySelector(`[data-generation="${token.generation}"]`);
    places.set(token.generation, { x: x(token), y: item.offsetTop + 13 });
  }
  const picture = graph.querySelector("svg");
  picture.setAttribute("width", left);
  picture.setAttribute("height", graph.offsetHeight);
  const edges = [];
  const nodes = [];
  for (const token of tokens) {
    const at = places.get(token.generation);
    const from = places.get(token.parent);
    if (from) {
      const bend = Math.min(24, (at.y - from.y) / 2);
      edges.push(svg("path", { class: "edge", d: from.x === at.x ? `M${from.x} ${from.y}V${at.y}`
        : `M${from.x} ${from.y}C${from.x} ${from.y + bend} ${at.x} ${from.y} ${at.x} ${from.y + bend}V${at.y}` }));
    } else if (token.parent !== undefined) {
      edges.push(svg("path", { class: "edge", d: `M${at.x} 0V${at.y}`, "stroke-dasharray": "3 3" }));
    }
    nodes.push(svg("circle", { class: tokenStanding(token, $("family").session)[2], cx: at.x, cy: at.y, r: token.current ? 8 : 6 }));
  }
  picture.replaceChildren(...edges, ...nodes);
}

function closeFamily({ back = false } = {}) {
  const id = chosenSession;
  chosenSession = null;
  $("family").hidden = true;
  $("family").replaceChildren();
  $("family").drawn = null;
  showSessions();
  if (back) ($("sessions").querySelector(`li[data-session="${CSS.escape(id ?? "")}"] button`) ?? $("session-filter")).focus();
}
