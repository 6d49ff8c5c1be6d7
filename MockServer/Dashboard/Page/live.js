// What the server is and does, kept up to date: its state by asking, its requests by server-sent events.

const store = {
  state: null,
  stateAt: 0,
  entries: [],
  bySeq: new Map(),
  users: new Map(),
  sessions: new Map(),
};
const maximumEntries = 5000;
const stateListeners = [];
const entryListeners = [];

const onState = (listener) => stateListeners.push(listener);
/** Listeners get the new or changed entries, or null if all are others now. */
const onEntries = (listener) => entryListeners.push(listener);

let refreshing = false;
let refreshAgain = false;

async function refresh() {
  if (refreshing) {
    refreshAgain = true;
    return;
  }
  refreshing = true;
  try {
    do {
      refreshAgain = false;
      takeState(await call("GET", "state"));
    } while (refreshAgain);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  } finally {
    refreshing = false;
  }
}
const refreshSoon = soon(refresh, 80);

function takeState(state) {
  store.state = state;
  store.stateAt = performance.now();
  store.users = new Map(state.users.map((user) => [user.id, user]));
  store.sessions = new Map(state.sessions.map((session) => [session.id, session]));
  for (const listener of stateListeners) listener(state);
}

/** What time it is in the realm: a running clock has gone on since it was asked. */
function realmNow() {
  if (!store.state) return 0;
  const told = Date.parse(store.state.now);
  return store.state.clock === "real" ? told + (performance.now() - store.stateAt) : told;
}

function userOf(entry) {
  return store.users.get(store.sessions.get(entry.sessionID)?.userID);
}

// ---- Requests

function takeEntries(entries) {
  const changed = [];
  for (const entry of entries) {
    const known = store.bySeq.get(entry.seq);
    if (known) {
      if (known.outcome !== "pending" || entry.outcome === "pending") continue;
      Object.assign(known, entry);
      changed.push(known);
      continue;
    }
    store.bySeq.set(entry.seq, entry);
    const last = store.entries.at(-1);
    store.entries.push(entry);
    if (last && last.seq > entry.seq) store.entries.sort((one, other) => one.seq - other.seq);
    changed.push(entry);
  }
  for (const old of store.entries.splice(0, Math.max(0, store.entries.length - maximumEntries))) store.bySeq.delete(old.seq);
  if (changed.length) for (const listener of entryListeners) listener(changed);
}

function forgetEntries() {
  store.entries = [];
  store.bySeq.clear();
  for (const listener of entryListeners) listener(null);
}

/** Fetches what was missed: everything after the last entry, and the outcomes of those that were pending then. */
async function catchUp() {
  const last = store.entries.at(-1);
  if (!last) return takeEntries((await call("GET", "journal")).entries);
  const pending = store.entries.find((entry) => entry.outcome === "pending");
  const since = Math.min(last.seq, pending?.seq ?? last.seq) - 1;
  const page = await call("GET", `journal?since=${since}`);
  const again = page.entries.find((entry) => entry.seq === last.seq);
  if (!again || again.requestID !== last.requestID || again.at !== last.at) {
    // Another run of the server, or the realm was reset meanwhile.
    forgetEntries();
    return takeEntries((await call("GET", "journal")).entries);
  }
  takeEntries(page.entries);
}

// ---- Events

let source = null;
let retryAfter = 500;

function follow() {
  source?.close();
  source = new EventSource(new URL("events", base));
  source.onopen = async () => {
    retryAfter = 500;
    try {
      // Events are flowing already: what both bring is told apart by its number, and nothing falls between.
      await Promise.all([catchUp(), refresh()]);
      showLink("live", "Live");
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      retry();
    }
  };
  source.onerror = retry;
  source.addEventListener("request", (event) => {
    takeEntries([JSON.parse(event.data)]);
    refreshSoon();
  });
  source.addEventListener("changed", (event) => {
    if (JSON.parse(event.data).kind === "reset") forgetEntries();
    refreshSoon();
  });
}

function retry() {
  source?.close();
  showLink("lost", "Connection lost, trying again…");
  clearTimeout(retry.timer);
  retry.timer = setTimeout(follow, retryAfter);
  retryAfter = Math.min(retryAfter * 2, 8000);
}

function showLink(state, text) {
  $("link").dataset.state = state;
  put($("link-text"), text);
}
