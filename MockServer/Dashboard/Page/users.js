// The Authentication tab: who has an account, who is signed in.

let usersShown = 200;

function setUpUsers() {
  const form = $("add-user");
  form.noValidate = true;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const user = Object.fromEntries(["username", "email", "password"].map((name) => [name, form.elements[name].value]));
    const done = await submit(form, $("add-user-error"), async () => {
      await call("POST", "users", [user]);
      say(`${user.username} is added.`);
    });
    if (!done) return;
    form.reset();
    form.elements.username.focus();
  });
  $("user-filter").addEventListener("input", showUsers);
  $("only-signed-in").addEventListener("change", showUsers);
  $("more-users").addEventListener("click", () => { usersShown += 200; showUsers(); });
  onState(showUsers);
}

const knownOfUser = new Set(["id", "username", "email", "createdAt", "bannedUntil", "confirmed", "lastSignInAt"]);
const isBanned = (user) => Boolean(user.bannedUntil) && Date.parse(user.bannedUntil) > realmNow();

function showUsers() {
  const state = store.state;
  if (!state) return;
  const live = new Map();
  for (const session of state.sessions) if (session.alive) live.set(session.userID, (live.get(session.userID) ?? 0) + 1);
  const words = $("user-filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = state.users.filter((user) => {
    if ($("only-signed-in").checked && !live.has(user.id)) return false;
    const text = `${user.username} ${user.email} ${user.id}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const shown = found.slice(0, usersShown);
  $("more-users").hidden = shown.length === found.length;
  count("users", state.users.length);
  put($("users-note"), state.users.length === 0 ? "There are no users. Add one, or let a client register."
    : `${plural(state.users.length, "user")}, ${live.size.toLocaleString("en")} signed in`
      + (found.length === state.users.length ? "" : `; ${found.length.toLocaleString("en")} found`));
  keyed($("users").tBodies[0], shown, (user) => user.id, makeUserRow, (row, user) => updateUserRow(row, user, live.get(user.id) ?? 0));
}

function makeUserRow(user) {
  const parts = {
    name: el("span", { class: "who" }), email: el("span", { class: "sub" }), extra: el("span", { class: "sub" }),
    created: el("time"), tags: el("div", { class: "tags" }),
    ban: el("button", { type: "button", class: "small", on: { click: () => ban(parts.user) } }),
    out: el("button", { type: "button", class: "small", text: "Sign out", on: { click: () => signOut(parts.user) } }),
    remove: el("button", { type: "button", class: "small danger", text: "Delete", on: { click: () => remove(parts.user) } }),
    user,
  };
  const row = el("tr", { role: "row", "data-user": user.id },
    cell(parts.name, parts.email, parts.extra), cell(parts.created), cell(parts.tags),
    cell(el("div", { class: "cells" }, parts.ban, parts.out, parts.remove)));
  row.parts = parts;
  return row;
}

function updateUserRow(row, user, live) {
  const parts = row.parts;
  parts.user = user;
  put(parts.name, user.username);
  put(parts.email, user.email || "no email");
  const extras = Object.entries(user).filter(([key, value]) => !knownOfUser.has(key) && value !== null && typeof value !== "object");
  put(parts.extra, extras.map(([key, value]) => `${key}: ${value}`).join(", "));
  parts.extra.hidden = extras.length === 0;
  put(parts.created, `${dateText(user.createdAt)} ${clockText(user.createdAt)}`);
  parts.created.dateTime = user.createdAt;
  const tags = [[live === 0 ? "signed out" : live === 1 ? "signed in" : `signed in, ${live} sessions`, live ? "good" : ""]];
  if (user.confirmed === false) tags.push(["not confirmed", "warn"]);
  if (isBanned(user)) {
    const until = Date.parse(user.bannedUntil);
    tags.unshift([until >= forever ? "banned" : `banned until ${dateText(user.bannedUntil)} ${clockText(user.bannedUntil)}`, "bad"]);
  }
  keyed(parts.tags, tags, ([text]) => text, () => el("span"), (tag, [text, look]) => {
    put(tag, text);
    tag.className = `tag ${look}`;
  });
  put(parts.ban, isBanned(user) ? "Lift ban" : "Ban");
  parts.ban.setAttribute("aria-label", isBanned(user) ? `Lift the ban of ${user.username}` : `Ban ${user.username}`);
  parts.out.disabled = false;
  parts.out.hidden = live === 0;
  parts.out.setAttribute("aria-label", `Sign ${user.username} out everywhere`);
  parts.remove.setAttribute("aria-label", `Delete ${user.username}`);
}

function ban(user) {
  const banned = !isBanned(user);
  act(() => call("PUT", "users", { user: user.id, banned }), `${user.username} is ${banned ? "banned" : "no longer banned"}.`);
}

function signOut(user) {
  act(() => call("POST", "revoke", { user: user.id }), ({ revoked }) => `${plural(revoked, "session")} of ${user.username} ended.`);
}

async function remove(user) {
  if (!await ask(`Delete ${user.username}?`, "The account, its sessions and its tokens are gone for good.", "Delete")) return;
  act(() => call("DELETE", `users?user=${encodeURIComponent(user.id)}`), `${user.username} is deleted.`);
}
