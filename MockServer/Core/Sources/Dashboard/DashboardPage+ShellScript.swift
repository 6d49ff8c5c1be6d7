// swift-format-ignore-file
// Made from MockServer/Dashboard/Page/shell.js by Tools/dashboard: change that file, then run make dashboard.

extension DashboardPage {
  static let shellScript = #"""
    const tabs = [...$("tabs").querySelectorAll("[role=tab]")];
    const tabListeners = [];
    const onTab = (listener) => tabListeners.push(listener);
    const isShown = (name) => !$(`panel-${name}`).hidden;
    const hashTab = () => location.hash.replace(/^#\/?/, "");
    function showTab(name, options = {}) {
    const chosen = $(`tab-${name}`) ?? tabs[0];
    for (const tab of tabs) {
    const isChosen = tab === chosen;
    tab.setAttribute("aria-selected", String(isChosen));
    tab.tabIndex = isChosen ? 0 : -1;
    $(tab.getAttribute("aria-controls")).hidden = !isChosen;
    }
    const id = chosen.id.slice(4);
    if (options.focus) chosen.focus();
    if (hashTab() !== id) history.replaceState(null, "", `#/${id}`);
    for (const listener of tabListeners) listener(id);
    }
    for (const [index, tab] of tabs.entries()) {
    tab.type = "button";
    tab.addEventListener("click", () => showTab(tab.id.slice(4)));
    tab.addEventListener("keydown", (event) => {
    const next = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    showTab(tabs[(next + tabs.length) % tabs.length].id.slice(4), { focus: true });
    });
    }
    addEventListener("hashchange", () => showTab(hashTab()));
    function count(name, number) {
    put(document.querySelector(`[data-count="${name}"]`), number ? String(number) : "");
    }
    function setUpRealm() {
    document.title = `${realmName} – mock-server`;
    $("realm").value = realmName;
    const list = async () => {
    try {
    const { realms } = await call("GET", "realms");
    $("realms").replaceChildren(...realms.map(({ name, users, requests }) => (
    el("option", { value: name, label: `${plural(users, "user")}, ${plural(requests, "request")}` }))));
    } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    }
    };
    $("realm").addEventListener("focus", list);
    $("realm-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const name = $("realm").value.trim() || "default";
    location.assign((name === "default" ? "/__mock/" : `/r/${encodeURIComponent(name)}/__mock/`) + location.hash);
    });
    list();
    }
    """#
}
