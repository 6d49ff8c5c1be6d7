"use strict";

// What the other files stand on: elements, the admin API, words for times. Text only ever becomes a text node.

const $ = (id) => document.getElementById(id);

/** Makes an element. `options` are its attributes; `on` its listeners, `text` its text. */
function el(tag, options = {}, ...children) {
  return fill(document.createElement(tag), options, children);
}

function svg(tag, options = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), options, children);
}

function fill(node, options, children) {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    else if (name === "text") node.textContent = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** Changes a text only if it differs: a live region speaks on every change, and a selection is lost. */
function put(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** A cell says what it is: a table that is laid out in blocks on a narrow screen would not be one any more. */
const cell = (...children) => el("td", { role: "cell" }, ...children);

/** Makes the children of `parent` those of `items`, and keeps the nodes of items that stay: focus stays with them. */
function keyed(parent, items, keyOf, make, update) {
  const nodes = parent.keyedNodes ?? (parent.keyedNodes = new Map());
  const seen = new Set();
  let place = parent.firstElementChild;
  for (const item of items) {
    const key = keyOf(item);
    if (seen.has(key)) continue;
    seen.add(key);
    let node = nodes.get(key);
    if (!node) nodes.set(key, (node = make(item)));
    update(node, item);
    if (node === place) place = place.nextElementSibling;
    else parent.insertBefore(node, place);
  }
  for (const [key, node] of nodes) {
    if (seen.has(key)) continue;
    if (node.contains(document.activeElement)) (node.nextElementSibling ?? parent.parentElement)?.querySelector("button")?.focus();
    node.remove();
    nodes.delete(key);
  }
}

/** Runs `work` once, soon, however often it is asked for. */
function soon(work, wait) {
  let timer = 0;
  return () => {
    if (timer) return;
    timer = setTimeout(() => { timer = 0; work(); }, wait);
  };
}

// ---- The admin API

const base = new URL(".", location.href);
const realmName = decodeURIComponent(/^\/r\/([^/]+)\//.exec(base.pathname)?.[1] ?? "default");

class Refusal extends Error {
  constructor(status, reason) {
    super(reason);
    this.status = status;
  }
}

async function call(method, path, body) {
  const options = { method, cache: "no-store", headers: {} };
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  let reply;
  try {
    reply = await fetch(new URL(path, base), options);
  } catch {
    throw new Refusal(0, "The server does not answer.");
  }
  if (reply.status === 204) return null;
  let json = null;
  try { json = await reply.json(); } catch { /* No JSON: the status has to do. */ }
  if (!reply.ok) throw new Refusal(reply.status, json?.reason ?? `The server answers ${reply.status}.`);
  return json;
}

/** Does what a button asks for, and says how it went. */
async function act(work, done) {
  try {
    const result = await work();
    if (done) say(typeof done === "function" ? done(result) : done);
    refreshSoon();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    say(error.message);
  }
}

/** Shows a refusal beside a form, on the field that it names, and moves the focus there. */
function showProblem(form, problem, error) {
  for (const field of form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
  put(problem, error ? error.message : "");
  if (!error) return;
  const words = error.message.toLowerCase();
  const fields = [...form.querySelectorAll("input, select, textarea")];
  const named = fields.find((field) => {
    const name = (field.dataset.key ?? field.name ?? "").toLowerCase();
    return name && (words.includes(`"${name}"`) || words.includes(` ${name} `));
  }) ?? (fields.length === 1 ? fields[0] : null);
  if (named) {
    named.setAttribute("aria-invalid", "true");
    named.focus();
  }
}

async function submit(form, problem, work) {
  try {
    await work();
    showProblem(form, problem, null);
    refreshSoon();
    return true;
  } catch (error) {
    showProblem(form, problem, error instanceof Refusal ? error : new Refusal(0, String(error.message)));
    return false;
  }
}

// ---- Telling and asking

let sayTimer = 0;
function say(text) {
  $("say").textContent = text;
  clearTimeout(sayTimer);
  sayTimer = setTimeout(() => { $("say").textContent = ""; }, 6000);
}

/** Asks before something is gone for good; resolves to whether to do it. */
function ask(title, text, yes) {
  const dialog = $("ask");
  $("ask-title").textContent = title;
  $("ask-text").textContent = text;
  $("ask-yes").textContent = yes;
  dialog.returnValue = "no";
  dialog.showModal();
  $("ask-no").focus();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}

// ---- Copying

const shellQuoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

function adminCurl(method, path, body) {
  const parts = [`curl -X ${method} ${shellQuoted(new URL(path, base).href)}`];
  if (body !== undefined) parts.push(`-H 'Content-Type: application/json'`, `-d ${shellQuoted(JSON.stringify(body))}`);
  return parts.join(" \\\n  ");
}

/** `refreshToken` becomes `$REFRESH_TOKEN`: what is masked has to be filled in by whoever pastes. */
const placeholder = (name) => "$" + name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").replace(/[^A-Za-z0-9]+/g, "_").toUpperCase();

function requestCurl(entry, exchange) {
  const parts = [`curl -i -X ${shellQuoted(entry.method)} ${shellQuoted(new URL(exchange.target, location.origin).href)}`];
  const skipped = /^(host|content-length|connection|transfer-encoding|accept-encoding|x-request-id|user-agent)$/i;
  for (const { name, value } of exchange.headers) {
    if (skipped.test(name)) continue;
    const secret = /^authorization$/i.test(name) ? "$ACCESS_TOKEN" : placeholder(name);
    const parted = `${name}: ${value}`.split("***").map(shellQuoted);
    parts.push(`-H ${parted.join(`"${secret}"`)}`);
  }
  if (exchange.bodySize > 0) {
    const body = exchange.body ?? "***";
    let text = shellQuoted(body).replace(/"([A-Za-z0-9_]+)":"\*\*\*"/g, (_, name) => `"${name}":"'"${placeholder(name)}"'"`);
    text = text.replace(/([A-Za-z0-9_]+)=\*\*\*/g, (_, name) => `${name}='"${placeholder(name)}"'`);
    parts.push(`--data-raw ${text}`);
  }
  return parts.join(" \\\n  ");
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el("textarea", { class: "unseen", "aria-hidden": "true", tabindex: "-1" });
    area.value = text;
    document.body.append(area);
    const before = document.activeElement;
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    before?.focus();
    if (!copied) return say("The browser does not let this page copy.");
  }
  say("Copied.");
}

// ---- Words

const forever = 253402300799000;
const clockText = (text) => text.slice(11, 19);
const dateText = (text) => text.slice(0, 10);
const shortID = (id) => id.slice(0, 8);
const plural = (count, one, many = one + "s") => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

/** `14 min 30 s`: two units at most. */
function spanText(milliseconds) {
  const sign = milliseconds < 0 ? "-" : "";
  let rest = Math.abs(milliseconds);
  if (rest < 1000) return `${sign}${Math.round(rest)} ms`;
  rest = Math.round(rest / 1000);
  const parts = [];
  for (const [unit, size] of [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]]) {
    if (rest < size && !(unit === "s" && parts.length === 0)) continue;
    parts.push(`${Math.floor(rest / size)} ${unit}`);
    rest %= size;
    if (parts.length === 2) break;
  }
  return sign + parts.join(" ");
}

/** How an outcome looks: good, warn (refused, or odd) or bad (broken, failed, reuse). */
function mood(entry) {
  if (entry.fault || entry.outcome === "reuse-detected" || entry.outcome === "malformed" || entry.status >= 500) return "bad";
  if (entry.outcome === "pending") return "warn";
  return entry.status >= 400 ? "warn" : "good";
}
