// swift-format-ignore-file
// Made from MockServer/Dashboard/Page/requests.js by Tools/dashboard: change that file, then run make dashboard.

extension DashboardPage {
  static let requestsScript = #"""
    const rowsShown = 300;
    let paused = false;
    let chosenSeq = null;
    function setUpRequests() {
    for (const id of ["request-filter", "request-kind"]) $(id).addEventListener("input", () => { showRequests(); noteRequests(); });
    $("pause").addEventListener("click", () => {
    paused = !paused;
    $("pause").setAttribute("aria-pressed", String(paused));
    put($("pause"), paused ? "Go on" : "Pause");
    if (!paused) showRequests();
    noteRequests();
    });
    onEntries((changed) => {
    count("requests", store.entries.length ? store.entries.at(-1).seq : 0);
    if (changed === null) closeDetail();
    else if (changed.some((entry) => entry.seq === chosenSeq)) openDetail(chosenSeq, { quietly: true });
    drawSoon();
    if (noted === 0) noteRequests();
    else noteSoon();
    });
    onState(() => drawSoon());
    onTab((name) => { if (name === "requests") showRequests(); });
    $("requests").tBodies[0].addEventListener("keydown", (event) => {
    const buttons = [...$("requests").querySelectorAll("tbody button")];
    const at = buttons.indexOf(document.activeElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (at < 0 || next === undefined || !buttons[next]) return;
    event.preventDefault();
    buttons[next].focus();
    });
    $("requests").tBodies[0].addEventListener("focusin", (event) => {
    for (const button of $("requests").querySelectorAll("tbody button")) button.tabIndex = button === event.target ? 0 : -1;
    });
    $("detail").addEventListener("keydown", (event) => { if (event.key === "Escape") closeDetail({ back: true }); });
    noteRequests();
    }
    const drawSoon = soon(() => { if (!paused && isShown("requests")) showRequests(); }, 50);
    const noteSoon = soon(noteRequests, 1500);
    let noted = 0;
    function entryText(entry) {
    const user = userOf(entry);
    return [entry.seq, entry.method, entry.path, entry.operation, entry.dialect, entry.status, entry.outcome, entry.fault,
    entry.sessionID, entry.malformed, entry.requestID, user?.username, user?.email].join(" ").toLowerCase();
    }
    function filteredEntries() {
    const words = $("request-filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    const kind = $("request-kind").value;
    return store.entries.filter((entry) => {
    if (kind === "bad" && entry.status < 400 && !entry.fault) return false;
    if (kind === "fault" && !entry.fault && !["scripted", "lost", "script-exhausted", "pending"].includes(entry.outcome)) return false;
    if (kind === "retry" && entry.attempt < 2) return false;
    if (words.length === 0) return true;
    const text = entryText(entry);
    return words.every((word) => text.includes(word));
    });
    }
    function showRequests() {
    const shown = filteredEntries().slice(-rowsShown).reverse();
    keyed($("requests").tBodies[0], shown, (entry) => entry.seq, makeRequestRow, updateRequestRow);
    const buttons = [...$("requests").querySelectorAll("tbody button")];
    if (buttons.length && !buttons.some((button) => button.tabIndex === 0)) buttons[0].tabIndex = 0;
    }
    function noteRequests() {
    const found = filteredEntries().length;
    const all = noted = store.entries.length;
    const dropped = store.state?.journal.dropped ?? 0;
    put($("requests-note"), all === 0 ? "No request yet. They appear here as they come."
    : (found === all ? plural(all, "request") : `${found.toLocaleString("en")} of ${plural(all, "request")}`)
    + (found > rowsShown ? `, the newest ${rowsShown} shown` : "") + (dropped ? `; ${plural(dropped, "older one")} fell out of the journal` : "")
    + (paused ? ". Paused." : ""));
    }
    function makeRequestRow(entry) {
    const parts = {
    open: el("button", { type: "button", class: "link", tabindex: "-1", on: { click: () => openDetail(entry.seq) } }),
    time: el("time"), method: el("span", { class: "method" }), path: el("span", { class: "path" }), sub: el("span", { class: "sub" }),
    status: el("span"), tags: el("div", { class: "tags" }),
    };
    parts.open.append(el("span", { "aria-hidden": "true" }, `${entry.seq}`));
    const row = el("tr", { role: "row", "data-seq": entry.seq, class: "fresh" },
    cell(parts.open), cell(parts.time), cell(parts.method, " ", parts.path, parts.sub), cell(parts.status), cell(parts.tags));
    row.parts = parts;
    return row;
    }
    function updateRequestRow(row, entry) {
    const parts = row.parts;
    row.classList.toggle("chosen", entry.seq === chosenSeq);
    const user = userOf(entry);
    parts.open.setAttribute("aria-label", `Request ${entry.seq}: ${entry.method} ${entry.path}, ${entry.status || "no answer yet"}, ${entry.outcome}`);
    put(parts.time, clockText(entry.at));
    parts.time.dateTime = entry.at;
    put(parts.method, entry.method);
    put(parts.path, entry.path);
    put(parts.sub, [entry.operation === "unknown" ? "" : entry.operation, user?.username,
    entry.generation === undefined ? "" : `generation ${entry.generation}`].filter(Boolean).join(" · "));
    const look = mood(entry);
    put(parts.status, entry.status ? String(entry.status) : "…");
    parts.status.className = `tag ${look}`;
    const tags = [[entry.outcome, look === "good" ? "" : look]];
    if (entry.fault) tags.push([`⚡ ${entry.fault}`, "bad"]);
    if (entry.attempt > 1) tags.push([`try ${entry.attempt}`, "warn"]);
    keyed(parts.tags, tags, ([text]) => text, () => el("span"), (tag, [text, tagLook]) => {
    put(tag, text);
    tag.className = `tag ${tagLook}`;
    });
    }
    async function openDetail(seq, { quietly = false } = {}) {
    chosenSeq = seq;
    showRequests();
    let whole = null;
    try {
    whole = await call("GET", `journal/entry?seq=${seq}`);
    } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    }
    if (chosenSeq !== seq) return;
    const entry = whole?.entry ?? store.bySeq.get(seq);
    if (!entry) return closeDetail();
    const session = store.sessions.get(entry.sessionID);
    const user = userOf(entry);
    const facts = el("dl", {});
    const fact = (name, ...value) => facts.append(el("dt", { text: name }), el("dd", {}, ...value));
    fact("Outcome", el("span", { class: `tag ${mood(entry)}`, text: entry.outcome }));
    if (entry.fault) fact("Fault", el("span", { class: "tag bad", text: `⚡ ${entry.fault}` }));
    if (entry.malformed) fact("Malformed", entry.malformed);
    fact("Arrived", el("time", { datetime: entry.at, text: `${dateText(entry.at)} ${entry.at.slice(11, 23)}` }));
    fact("Operation", `${entry.operation} (${entry.dialect})`);
    if (user) fact("User", user.username);
    if (entry.sessionID) {
    fact("Session", session ? el("button", { type: "button", class: "link mono", text: shortID(entry.sessionID), "aria-label": `Session ${shortID(entry.sessionID)}: show its rotations`, on: { click: () => { showTab("sessions"); openFamily(entry.sessionID); } } }) : shortID(entry.sessionID));
    }
    if (entry.generation !== undefined) fact("Generation", String(entry.generation));
    fact("Attempt", String(entry.attempt));
    fact("Request id", el("span", { class: "mono", text: entry.requestID }));
    const head = el("div", { class: "head" },
    el("h2", { id: "detail-title" }, `Request ${seq}: `, el("span", { class: "path", text: `${entry.method} ${entry.path}` })),
    el("button", { type: "button", class: "small", text: "Close", "aria-label": "Close the request", on: { click: () => closeDetail({ back: true }) } }));
    const children = [head, facts];
    if (whole) {
    children.push(el("div", { class: "acts" }, el("button", { type: "button", text: "Copy as curl", on: { click: () => copy(requestCurl(entry, whole.request)) } })));
    children.push(...sideView("Request", whole.request), ...sideView(`Answer ${whole.reply.status ?? ""}`, whole.reply));
    } else {
    children.push(el("p", { class: "note", text: "Its header fields are no longer kept: only those of the last 256 requests are." }));
    }
    $("detail").replaceChildren(...children);
    $("detail").hidden = false;
    if (!quietly) $("detail").focus();
    }
    function sideView(title, side) {
    const fields = el("dl", { class: "fields" });
    for (const { name, value } of side.headers) fields.append(el("dt", { text: name }), el("dd", { text: value }));
    const parts = [el("h3", { text: title }), fields];
    if (side.bodySize > 0) {
    parts.push(side.body === undefined
    ? el("p", { class: "note", text: `A body of ${plural(side.bodySize, "byte")}, not shown: it is large, or nothing tells what in it is secret.` })
    : el("pre", { tabindex: "0", role: "region", "aria-label": `${title}: body` }, prettyBody(side.body)));
    }
    return parts;
    }
    function prettyBody(text) {
    try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return text; }
    }
    function closeDetail({ back = false } = {}) {
    const seq = chosenSeq;
    chosenSeq = null;
    $("detail").hidden = true;
    $("detail").replaceChildren();
    if (isShown("requests")) showRequests();
    if (back) ($("requests").querySelector(`tr[data-seq="${seq}"] button`) ?? $("request-filter")).focus();
    }
    """#
}
