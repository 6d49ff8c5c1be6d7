// swift-format-ignore-file
// Made from MockServer/Dashboard/Page/sequence.js by Tools/dashboard: change that file, then run make dashboard.

extension DashboardPage {
  static let sequenceScript = #"""
    const exchangesShown = 60;
    let sequenceWidth = 0;
    function setUpSequence() {
    $("sequence-session").addEventListener("input", drawSequence);
    const drawLater = soon(() => { if (isShown("sequence")) drawSequence(); }, 100);
    onEntries(drawLater);
    onState(drawLater);
    onTab((name) => { if (name === "sequence") drawSequence(); });
    new ResizeObserver(() => { if ($("sequence").clientWidth !== sequenceWidth) drawLater(); }).observe($("sequence"));
    }
    function showSequenceOf(id) {
    showTab("sequence", { focus: true });
    fillSequenceChoice(id);
    drawSequence();
    }
    function fillSequenceChoice(wanted) {
    const select = $("sequence-session");
    const chosen = wanted ?? select.value;
    const ids = [...new Set(store.entries.map((entry) => entry.sessionID).filter(Boolean))].slice(-50).reverse();
    if (chosen && !ids.includes(chosen)) ids.push(chosen);
    const key = ids.join();
    if (select.key !== key) {
    select.key = key;
    select.replaceChildren(el("option", { value: "", text: "All requests" }), ...ids.map((id) => {
    const user = store.users.get(store.sessions.get(id)?.userID);
    return el("option", { value: id, text: `${user?.username ?? "?"} – ${shortID(id)}` });
    }));
    }
    select.value = chosen;
    }
    const isLost = (entry) => ["close", "reset"].includes(entry.fault);
    function drawSequence() {
    fillSequenceChoice();
    const id = $("sequence-session").value;
    const all = store.entries.filter((entry) => !id || entry.sessionID === id);
    const shown = all.slice(-exchangesShown);
    put($("sequence-note"), all.length === 0 ? "No request yet." : plural(all.length, "request") + (all.length > shown.length ? `, the last ${shown.length} shown` : ""));
    const width = sequenceWidth = Math.max($("sequence").clientWidth - 16, 240);
    const narrow = width < 520;
    const left = narrow ? 40 : 110;
    const right = width - (narrow ? 14 : 70);
    const middle = (left + right) / 2;
    const letters = Math.floor((right - left - 12) / 7.3);
    const cut = (text) => text.length > letters ? `${text.slice(0, Math.max(letters - 1, 1))}…` : text;
    const parts = [];
    const spoken = [];
    let y = 44;
    let before = null;
    for (const entry of shown) {
    const at = Date.parse(entry.at);
    if (before !== null && Math.abs(at - before) >= 30_000) {
    const text = `${clockText(entry.at)} · ${spanText(Math.abs(at - before))} ${at > before ? "later" : "earlier"}`;
    parts.push(svg("rect", { class: "jump", x: 4, y: y - 14, width: width - 8, height: 24, rx: 6 }), svg("text", { class: "jumped", x: middle, y: y + 3 }, cut(text)));
    spoken.push(el("li", { text }));
    y += 40;
    }
    before = at;
    const look = mood(entry);
    const user = userOf(entry);
    const asked = `${entry.method} ${entry.path}${entry.attempt > 1 ? ` (try ${entry.attempt})` : ""}`;
    const answered = entry.outcome === "pending" ? "waits…" : `${isLost(entry) ? "✕ " : ""}${entry.status} ${entry.outcome}${entry.fault ? ` ⚡ ${entry.fault}` : ""}`;
    parts.push(svg("text", { class: "no", x: left - 10, y: y + 4 }, narrow ? String(entry.seq) : clockText(entry.at)));
    if (!narrow && user) parts.push(svg("text", { class: "no", x: left - 10, y: y + 19 }, user.username.length > 13 ? `${user.username.slice(0, 12)}…` : user.username));
    parts.push(svg("text", { class: "mid", x: middle, y: y - 4 }, cut(asked)), arrow("arrow", left, right, y));
    y += 24;
    if (entry.outcome !== "pending") {
    const end = isLost(entry) ? middle : left;
    parts.push(arrow(`answer ${look}`, right, end, y, isLost(entry)));
    if (isLost(entry)) parts.push(svg("path", { class: "cross", d: `M${middle - 5} ${y - 5}l10 10m0-10l-10 10` }));
    }
    parts.push(svg("text", { class: `mid ${entry.outcome === "pending" ? "warn" : look}`, x: middle, y: y + (entry.outcome === "pending" ? 0 : 15) }, cut(answered)));
    spoken.push(el("li", { text: `${entry.seq}. ${user ? `${user.username}: ` : ""}${asked} → ${isLost(entry) ? "the answer is lost: " : ""}${answered}` }));
    y += 48;
    }
    const lanes = [[left, narrow ? "Client" : "Client"], [right, "Server"]].flatMap(([x, name]) => [
    svg("line", { class: "lane", x1: x, x2: x, y1: 24, y2: y - 10 }),
    svg("text", { class: "head", x: Math.min(Math.max(x, 24), width - 24), y: 14 }, name),
    ]);
    const picture = svg("svg", { viewBox: `0 0 ${width} ${y}`, "aria-hidden": "true" }, ...lanes, ...parts);
    const list = el("ol", { class: "unseen", "aria-label": "The sequence in words" }, ...spoken);
    $("sequence").replaceChildren(...(shown.length ? [picture, list] : []));
    $("sequence").hidden = shown.length === 0;
    }
    function arrow(kind, from, to, y, headless = false) {
    const back = to < from ? 7 : -7;
    return svg("path", { class: kind, d: `M${from} ${y}H${to}${headless ? "" : `m${back} -4l${-back} 4l${back} 4`}` });
    }
    """#
}
