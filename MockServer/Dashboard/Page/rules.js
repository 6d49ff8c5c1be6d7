// Scripts, held answers, failing connections, the policy and the realm: what the server is told to do.

const templates = [
  ["503, twice", [{ status: 503, times: 2 }]],
  ["429 with Retry-After", [{ status: 429, headers: { "Retry-After": "2" } }]],
  ["Done, but the answer is lost", [{ phase: "after-commit", break: "close" }]],
  ["Connection reset before anything is done", [{ break: "reset" }]],
  ["Answer cut in its body", [{ phase: "mid-body", break: "truncate" }]],
  ["Half a JSON", [{ phase: "after-commit", break: "malformed" }]],
  ["Held until released", [{ hold: "race" }]],
  ["Slow, as real servers are", [{ delay: { distribution: "lognormal", median: "80ms", sigma: 0.5 }, times: 20 }]],
  ["Session revoked after the answer", [{ phase: "after-commit", revoke: "session" }]],
  ["The real answer, then a 401", [{}, { status: 401 }]],
];

const actionsText = (actions) => `[\n${actions.map((action) => `  ${JSON.stringify(action)}`).join(",\n")}\n]`;

/** What a script is for, as the API has it: `POST /auth/refresh` is an endpoint, one word an operation. */
const targetOf = (text) => text.includes(" ") || text.includes("/") ? { endpoint: text } : { operation: text };

function setUpRules() {
  $("script-template").replaceChildren(...templates.map(([name], index) => el("option", { value: index, text: name })));
  const begin = () => { $("script-actions").value = actionsText(templates[$("script-template").value][1]); };
  $("script-template").addEventListener("input", begin);
  begin();
  $("script-form").noValidate = true;
  $("script-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const done = await submit($("script-form"), $("script-error"), async () => {
      const script = readScript();
      await call("PUT", "scripts", script);
      say(`The script for ${$("script-target").value.trim()} is set.`);
    });
    if (done) showScripts();
    else markScriptField();
  });
  $("script-curl").addEventListener("click", () => {
    try {
      copy(adminCurl("PUT", "scripts", readScript()));
    } catch (error) {
      showProblem($("script-form"), $("script-error"), error);
      markScriptField();
    }
  });
  $("remove-scripts").addEventListener("click", async () => {
    if (!await ask("Remove all scripts?", "The server gives its real answers again.", "Remove all")) return;
    act(() => call("DELETE", "scripts"), "All scripts are removed.");
  });
  $("connections-form").noValidate = true;
  $("connections-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const number = Number($("connections-count").value);
    submit($("connections-form"), $("connections-error"), async () => {
      await call("POST", "connections", { [$("connections-kind").value]: number });
      say(`The next ${plural(number, "connection")} will fail.`);
    });
  });
  onState(() => {
    count("scripts", Object.keys(store.state.scripts).length);
    if (isShown("scripts")) showScripts();
    showHeld();
    showPolicy();
    showRealm();
  });
  onTab((name) => { if (name === "scripts") showScripts(); });
  setUpPolicy();
}

function readScript() {
  const target = $("script-target").value.trim();
  if (!target) throw new Refusal(0, "For: name an operation, or a method and a path.");
  let actions;
  try {
    actions = JSON.parse($("script-actions").value);
  } catch (error) {
    throw new Refusal(0, `Actions: no JSON. ${error.message}`);
  }
  return { ...targetOf(target), actions, then: $("script-then").value };
}

/** The server names what is wrong with a script, not the field of this form. */
function markScriptField() {
  const text = $("script-error").textContent;
  const isTarget = /^For:|operation|endpoint/.test(text) && !/action/i.test(text);
  const field = $(isTarget ? "script-target" : "script-actions");
  for (const other of $("script-form").querySelectorAll("[aria-invalid]")) other.removeAttribute("aria-invalid");
  field.setAttribute("aria-invalid", "true");
  field.focus();
}

async function showScripts() {
  let scripts;
  try {
    ({ scripts } = await call("GET", "scripts"));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return;
  }
  const operations = ["login", "register", "refresh", "logout", "me", "feed", "post", ...store.entries.map((entry) => entry.operation)];
  const endpoints = store.entries.filter((entry) => entry.dialect !== "none").map((entry) => `${entry.method} ${entry.path}`);
  const names = [...new Set([...operations, ...endpoints])].filter((name) => name !== "unknown").slice(0, 60);
  if ($("script-targets").childElementCount !== names.length) {
    $("script-targets").replaceChildren(...names.map((name) => el("option", { value: name })));
  }
  put($("scripts-note"), scripts.length === 0 ? "No script: the server gives its real answers." : "");
  $("remove-scripts").disabled = scripts.length === 0;
  keyed($("scripts"), scripts, (script) => script.operation ?? script.endpoint, makeScript, updateScript);
}

function makeScript(first) {
  const name = first.operation ?? first.endpoint;
  const parts = { tags: el("div", { class: "tags" }), actions: el("pre", { tabindex: "0", role: "region", "aria-label": `Actions for ${name}` }), script: first };
  const target = () => parts.script.operation ? { operation: parts.script.operation } : { endpoint: parts.script.endpoint };
  const whole = () => ({ ...target(), actions: parts.script.actions, then: parts.script.then });
  const button = (text, label, work, look = "") => el("button", { type: "button", class: `small ${look}`, text, "aria-label": `${label} ${name}`, on: { click: work } });
  const item = el("li", { "data-script": name }, parts.tags, parts.actions, el("div", { class: "acts" },
    button("Edit", "Edit the script for", () => {
      $("script-target").value = name;
      $("script-then").value = parts.script.then;
      $("script-actions").value = actionsText(parts.script.actions);
      showProblem($("script-form"), $("script-error"), null);
      $("script-actions").focus();
    }),
    button("Copy as curl", "Copy as curl the script for", () => copy(adminCurl("PUT", "scripts", whole()))),
    button("Remove", "Remove the script for", () => {
      act(() => call("PUT", "scripts", { ...target(), actions: [] }), `The script for ${name} is removed.`);
    }, "danger")));
  parts.tags.append(el("strong", { class: "mono", text: name }), parts.used = el("span", { class: "tag" }), parts.left = el("span"));
  item.parts = parts;
  return item;
}

function updateScript(item, script) {
  const parts = item.parts;
  parts.script = script;
  put(parts.used, `answered ${script.used}`);
  put(parts.left, script.remaining === null ? "repeats" : script.remaining > 0 ? `${script.remaining} left`
    : script.then === "fail" ? "used up: fails" : "used up: real answers");
  parts.left.className = `tag ${script.remaining === 0 ? (script.then === "fail" ? "bad" : "") : "warn"}`;
  put(parts.actions, actionsText(script.actions));
}

function showHeld() {
  const held = Object.entries(store.state.held);
  put($("held-note"), (held.length === 0 ? "Nothing is held." : "")
    + (store.state.delayed ? ` ${plural(store.state.delayed, "answer")} ${store.state.delayed === 1 ? "waits" : "wait"} for the clock.` : ""));
  keyed($("held"), held, ([name]) => name, ([name]) => {
    const number = el("span", { class: "tag warn" });
    const release = (text, options) => el("button", { type: "button", class: "small", text, "aria-label": `${text} of ${name}`, on: { click: () => {
      act(() => call("POST", "release", { hold: name, ...options }), ({ released }) => `${plural(released, "answer")} released.`);
    } } });
    const item = el("li", {}, el("div", { class: "tags" }, el("strong", { class: "mono", text: name }), number), el("div", { class: "acts" }, release("Release one", { count: 1 }), release("Release all", {})));
    item.number = number;
    return item;
  }, (item, [, number]) => put(item.number, plural(number, "answer waits", "answers wait")));
}

// ---- Policy

const choices = {
  rotation: ["none", "strict", "grace", "parent-ok", "gotrue"], tokens: ["opaque", "jwt-hs256", "jwt-rs256", "jwt-es256"],
  supabaseErrors: ["current", "oauth"], idTokenFlaw: [null, "audience", "issuer", "signature", "alg-none", "expired", "not-yet-valid", "nonce"],
};
const titles = {
  accessTTL: "Access token lives", refreshTTL: "Refresh token lives", rotation: "Rotation", grace: "Grace window", tokens: "Tokens",
  clockSkew: "Clock skew it tells", rateLimit: "Rate limit", cors: "Cross-origin requests (JSON, null: none)",
  autoconfirm: "Addresses are confirmed at once", supabaseErrors: "Supabase errors", idTokenFlaw: "Flaw of ID tokens",
};
const titleOf = (key) => titles[key] ?? key.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/^./, (letter) => letter.toUpperCase());

function setUpPolicy() {
  $("policy-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const done = await submit($("policy-form"), $("policy-error"), async () => {
      const change = policyChange();
      if (Object.keys(change).length === 0) return say("Nothing has changed.");
      const policy = await call("PUT", "policy", change);
      store.state.policy = policy;
      say("The policy is saved.");
    });
    if (done) showPolicy({ anew: true });
  });
  $("policy-undo").addEventListener("click", () => {
    showProblem($("policy-form"), $("policy-error"), null);
    showPolicy({ anew: true });
  });
  $("policy-curl").addEventListener("click", () => {
    try {
      const change = policyChange();
      copy(adminCurl("PUT", "policy", Object.keys(change).length ? change : store.state.policy));
    } catch (error) {
      showProblem($("policy-form"), $("policy-error"), error);
    }
  });
  $("reset").addEventListener("click", async () => {
    if (!await ask("Reset the realm?", "Users, sessions, scripts, policy and journal begin anew, as the server was started.", "Reset")) return;
    act(() => call("POST", "reset"), "The realm is as new.");
  });
}

/** One field for each member of the policy, whatever members this server knows. */
function showPolicy({ anew = false } = {}) {
  const policy = store.state.policy;
  keyed($("policy-fields"), [Object.keys(policy)], (keys) => keys.join(), (keys) => {
    const box = el("div", { class: "policy" });
    box.fields = keys.map((key) => policyField(key, policy[key]));
    box.append(...box.fields.map((field) => field.node));
    for (const field of box.fields) field.show(policy[field.key]);
    return box;
  }, () => {});
  for (const field of $("policy-fields").firstElementChild?.fields ?? []) {
    // What somebody is typing stays.
    if (anew || !field.isChanged()) field.show(policy[field.key]);
  }
}

function policyField(key, first) {
  const id = `policy-${key}`;
  let value = first;
  const simple = (input, read, write) => ({
    key,
    node: el("div", { class: "field" }, el("label", { for: id, text: titleOf(key) }), input),
    read: () => read(input),
    isChanged: () => JSON.stringify(read(input)) !== JSON.stringify(value),
    show(next) { value = next; write(input, next); },
  });
  const options = { id, "data-key": key, "aria-describedby": "policy-error", autocomplete: "off" };
  if (key === "rateLimit") return rateLimitField(key, first);
  if (choices[key]) {
    const names = choices[key].includes(first) ? choices[key] : [...choices[key], first];
    return simple(el("select", options, ...names.map((name) => el("option", { value: name ?? "", text: name ?? "none" }))),
      (input) => input.value === "" ? null : input.value, (input, next) => { input.value = next ?? ""; });
  }
  if (typeof first === "boolean") {
    const names = ["true", "false"];
    return simple(el("select", options, ...names.map((name) => el("option", { value: name, text: name === "true" ? "yes" : "no" }))), (input) => input.value === "true", (input, next) => { input.value = String(next); });
  }
  if (typeof first === "number") {
    return simple(el("input", { ...options, type: "number" }), (input) => Number(input.value), (input, next) => { input.value = next; });
  }
  if (typeof first === "string") {
    return simple(el("input", { ...options, spellcheck: "false" }), (input) => input.value.trim(), (input, next) => { input.value = next; });
  }
  const field = simple(el("textarea", { ...options, rows: 4, spellcheck: "false" }), (input) => {
    try { return JSON.parse(input.value); } catch (error) { throw new Refusal(0, `"${key}" is no JSON: ${error.message}`); }
  }, (input, next) => { input.value = JSON.stringify(next, null, 1); });
  const read = field.read;
  field.isChanged = () => { try { return JSON.stringify(read()) !== JSON.stringify(value); } catch { return true; } };
  field.node.classList.add("wide");
  return field;
}

function rateLimitField(key, first) {
  let value = first;
  const input = (name, title, options = {}) => {
    const node = el("input", { id: `policy-${key}-${name}`, "data-key": name, "aria-describedby": "policy-error", autocomplete: "off", ...options });
    return { node, field: el("div", { class: "field" }, el("label", { for: node.id, text: title }), node) };
  };
  const limit = input("limit", "Calls (empty: no limit)", { inputmode: "numeric", "data-key": "limit" });
  const per = input("per", "Per");
  const operations = input("operations", "Of operations");
  const node = el("fieldset", { class: "wide" }, el("legend", { text: titleOf(key) }), el("div", { class: "row" }, limit.field, per.field, operations.field));
  const read = () => limit.node.value.trim() === "" ? null : {
    limit: /^\d+$/.test(limit.node.value.trim()) ? Number(limit.node.value) : limit.node.value, per: per.node.value.trim(),
    operations: operations.node.value.split(/[\s,]+/).filter(Boolean),
  };
  return {
    key, node, read,
    isChanged: () => JSON.stringify(read()) !== JSON.stringify(value),
    show(next) {
      value = next;
      limit.node.value = next?.limit ?? "";
      per.node.value = next?.per ?? "1m";
      operations.node.value = (next?.operations ?? ["login"]).join(", ");
    },
  };
}

function policyChange() {
  const fields = $("policy-fields").firstElementChild?.fields ?? [];
  return Object.fromEntries(fields.filter((field) => field.isChanged()).map((field) => [field.key, field.read()]));
}

function showRealm() {
  const { realm, users, sessions, journal } = store.state;
  const facts = [["Name", realm], ["Users", users.length], ["Sessions", sessions.length], ["Requests", journal.seq], ["Fallen out of the journal", journal.dropped], ["Address", new URL("..", base).href.replace(/\/$/, "")]];
  const node = $("realm-facts");
  const drawn = JSON.stringify(facts);
  if (node.drawn === drawn) return;
  node.drawn = drawn;
  node.replaceChildren(...facts.flatMap(([name, value]) => [el("dt", { text: name }), el("dd", { text: typeof value === "number" ? value.toLocaleString("en") : value })]));
}
