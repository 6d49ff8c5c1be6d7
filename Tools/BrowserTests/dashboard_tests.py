"""The dashboard in a real browser: its flows as a person goes through them, and what must never happen in it."""

import json

from browser import BrowserError
from harness import check, same, test
from server import Proxy, Realm, Server, StrangeSite

TABS = ("users", "requests", "sessions", "sequence", "scripts", "policy")
ROW = "tr[data-user]"


def open_page(page, realm, tab="users"):
    page.goto(f"{realm.url}/__mock/#/{tab}")
    page.wait("document.querySelector('#link').dataset.state === 'live'", "the page is live")


def row_of(page, username):
    page.wait(f"[...document.querySelectorAll('{ROW}')].some((r) => r.querySelector('.who').textContent === {json.dumps(username)})", f"{username} is listed")
    user = page.evaluate(f"[...document.querySelectorAll('{ROW}')].find((r) => r.querySelector('.who').textContent === {json.dumps(username)}).dataset.user")
    return f'tr[data-user="{user}"]'


def standing(page, username, word):
    row = row_of(page, username)
    page.wait(f"document.querySelector('{row} .tags').innerText.includes({json.dumps(word)})", f"{username} is {word}")


def button(page, within, text):
    """Clicks the button of that text."""
    page.wait(f"[...document.querySelectorAll({json.dumps(within + ' button')})].some((b) => b.innerText === {json.dumps(text)} && !b.hidden)", f"{within} has {text}")
    page.evaluate(f"""(() => {{
      document.querySelectorAll('[data-target]').forEach((b) => b.removeAttribute('data-target'));
      [...document.querySelectorAll({json.dumps(within + ' button')})].find((b) => b.innerText === {json.dumps(text)} && !b.hidden).setAttribute('data-target', '');
    }})()""")
    page.click("[data-target]")


@test("an added user can sign in, and is seen to")
def add_user(page, context):
    realm = context.realm("add")
    open_page(page, realm)
    for field, text in (("username", "bob"), ("email", "bob@example.com"), ("password", "correct horse")):
        page.fill(f"#new-{field}", text)
    page.press("Enter")
    standing(page, "bob", "signed out")
    same(page.evaluate("document.activeElement.id"), "new-username", "the focus is ready for the next user")
    same(realm.login("bob@example.com", "correct horse")[0], 200, "bob's login")
    standing(page, "bob", "signed in")
    check("correct horse" not in page.evaluate("document.documentElement.outerHTML"), "the password stands in the page")


@test("what the server refuses is said at the field that it names")
def refused_user(page, context):
    page.expected = {400, 409}
    open_page(page, context.realm("refused"))
    for field, text in (("username", "x"), ("email", "x@example.com"), ("password", "password123")):
        page.fill(f"#new-{field}", text)
    page.click("#add-user button")
    page.wait("document.querySelector('#add-user-error').innerText.includes('3 to 32')", "the reason is shown")
    same(page.evaluate("document.activeElement.id"), "new-username", "the field that is named")
    same(page.evaluate("document.querySelector('#new-username').getAttribute('aria-invalid')"), "true", "aria-invalid")
    page.fill("#new-username", "anna")
    page.click("#add-user button")
    page.wait("document.querySelector('#add-user-error').innerText.includes('has an account already')", "taken is said")


@test("a ban holds until it is lifted; signing out ends the sessions")
def ban(page, context):
    realm = context.realm("ban")
    tokens = realm.tokens()
    open_page(page, realm)
    standing(page, "anna", "signed in")
    button(page, row_of(page, "anna"), "Ban")
    standing(page, "anna", "banned")
    same(realm.login()[0], 403, "a banned user's login")
    same(realm.refresh(tokens)[0], 401, "a banned user's refresh")
    button(page, row_of(page, "anna"), "Lift ban")
    page.wait(f"!document.querySelector('{row_of(page, 'anna')} .tags').innerText.includes('banned')", "the ban is lifted")
    same(realm.me(tokens), 200, "the session goes on")
    button(page, row_of(page, "anna"), "Sign out")
    standing(page, "anna", "signed out")
    same(realm.me(tokens), 401, "the session has ended")


@test("a user is deleted only after a yes")
def delete(page, context):
    realm = context.realm("delete")
    open_page(page, realm)
    row = row_of(page, "anna")
    button(page, row, "Delete")
    page.wait("document.querySelector('#ask').open", "the question is there")
    page.press("Escape")
    page.wait("!document.querySelector('#ask').open", "the question is gone")
    same(realm.login()[0], 200, "anna is still there")
    button(page, row, "Delete")
    page.click("#ask-yes")
    page.wait(f"!document.querySelector('{row}')", "the row is gone")
    same(realm.login()[0], 401, "anna is gone")


@test("a request appears without a reload; filters find it")
def live(page, context):
    realm = context.realm("live")
    open_page(page, realm, "requests")
    page.evaluate("window.sameDocument = true")
    tokens = realm.tokens()
    realm.me(tokens)
    realm.send("GET", "/nowhere")
    page.wait("document.querySelectorAll('tr[data-seq]').length === 3", "three requests are listed")
    same(page.evaluate("[...document.querySelectorAll('tr[data-seq]')].map((r) => r.dataset.seq).join()"), "3,2,1", "the newest first")
    same(page.evaluate("window.sameDocument"), True, "the document was not loaded again")
    page.fill("#request-filter", "anna login")
    page.wait("document.querySelectorAll('tr[data-seq]').length === 1", "one is found")
    page.fill("#request-filter", "")
    page.choose("#request-kind", "bad")
    page.wait("document.querySelectorAll('tr[data-seq]').length === 1", "the refused one is found")
    page.choose("#request-kind", "")
    page.click("#pause")
    realm.me(tokens)
    page.wait("document.querySelector('[data-count=requests]').textContent === '4'", "it is counted")
    same(page.evaluate("document.querySelectorAll('tr[data-seq]').length"), 3, "paused")
    page.click("#pause")
    page.wait("document.querySelectorAll('tr[data-seq]').length === 4", "and goes on")


@test("one request whole: fault, outcome, masked fields, and as curl")
def detail(page, context):
    realm = context.realm("detail")
    tokens = realm.tokens()
    realm.send("GET", "/me", bearer=tokens["accessToken"], headers={"Cookie": "sid=secret-cookie"})
    realm.admin("PUT", "scripts", {"operation": "refresh", "actions": [{"phase": "after-commit", "break": "close"}]})
    same(realm.refresh(tokens)[0], 0, "the answer is lost")
    open_page(page, realm, "requests")
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => { window.copied = text; } } })")
    page.click("tr[data-seq='3'] button")
    page.wait("document.querySelector('#detail').innerText.includes('close')", "the fault is shown")
    check("rotated" in page.text("#detail"), "the outcome is shown")
    page.click("tr[data-seq='2'] button")
    page.wait("document.querySelector('#detail').innerText.includes('Bearer ***')", "the bearer token is masked")
    button(page, "#detail", "Copy as curl")
    copied = page.wait("window.copied", "something is copied")
    check('"$ACCESS_TOKEN"' in copied and "/r/detail/me" in copied, f"copied: {copied}")
    page.click("tr[data-seq='1'] button")
    page.wait("document.querySelector('#detail').innerText.includes('Request 1:')", "the login is shown")
    check("anna@example.com" in page.text("#detail"), "the body is shown")
    button(page, "#detail", "Copy as curl")
    page.wait("window.copied.includes('$PASSWORD')", "the password is to be filled in")
    html = page.evaluate("document.documentElement.outerHTML") + page.evaluate("window.copied")
    for secret in (tokens["accessToken"], tokens["refreshToken"], "password123", "secret-cookie"):
        check(secret not in html, f"{secret} stands in the page")
    page.press("Escape")
    same(page.evaluate("document.activeElement.closest('tr')?.dataset.seq"), "1", "Escape leads back to the row")


@test("advancing the clock makes a token expire")
def clock(page, context):
    page.expected = {400}
    realm = context.realm("clock")
    tokens = realm.tokens()
    open_page(page, realm)
    page.click("[data-advance='15m']")
    page.wait("document.querySelector('#say').innerText.includes('The clock shows')", "it is said")
    same(realm.me(tokens), 401, "the access token has expired")
    page.click("#clock-more summary")
    page.fill("#set-to", "yesterday")
    page.press("Enter")
    page.wait("document.querySelector('#set-error').innerText.includes('ISO 8601')", "the server's reason")
    page.fill("#set-to", "2031-02-03T04:05:06Z")
    page.press("Enter")
    page.wait("document.querySelector('#now').innerText.startsWith('2031-02-03 04:05:06')", "the clock is set")
    page.fill("#advance-by", "2h")
    page.press("Enter")
    page.wait("document.querySelector('#now').innerText.startsWith('2031-02-03 06:05:06')", "the clock is advanced")


@test("the policy is edited; a refusal names the field, and what is being typed stays")
def policy(page, context):
    page.expected = {400}
    realm = context.realm("policy")
    open_page(page, realm, "policy")
    page.fill("#policy-accessTTL", "soon")
    page.press("Enter")
    page.wait("document.querySelector('#policy-error').innerText.includes('duration')", "the server's reason")
    same(page.evaluate("document.activeElement.id"), "policy-accessTTL", "the field that is named")
    page.fill("#policy-accessTTL", "90s")
    realm.admin("PUT", "policy", {"grace": "25s"})
    page.wait("document.querySelector('#policy-grace').value === '25s'", "somebody else's change is shown")
    same(page.evaluate("document.querySelector('#policy-accessTTL').value"), "90s", "what is being typed")
    page.choose("#policy-rotation", "none")
    page.click("#policy-form button.main")
    page.wait("document.querySelector('#say').innerText.includes('saved')", "it is saved")
    tokens = realm.tokens()
    same(tokens["expiresIn"], 90, "the lifetime")
    same(realm.refresh(tokens)[1]["refreshToken"] == tokens["refreshToken"], True, "without rotation")


@test("a script takes effect, is edited, shows its refusals, and goes")
def scripts(page, context):
    page.expected = {400}
    realm = context.realm("scripts")
    tokens = realm.tokens()
    open_page(page, realm, "scripts")
    page.fill("#script-target", "refresh")
    page.fill("#script-actions", '[{"staus": 503}]')
    page.click("#script-form button.main")
    page.wait("document.querySelector('#script-error').innerText.includes('did you mean \"status\"')", "the server's reason")
    page.fill("#script-actions", "[{")
    page.click("#script-form button.main")
    page.wait("document.querySelector('#script-error').innerText.includes('no JSON')", "no JSON")
    page.fill("#script-actions", '[{"status": 503, "times": 2}]')
    page.click("#script-form button.main")
    page.wait("document.querySelector('[data-script=refresh]')", "the script is listed")
    same(realm.refresh(tokens)[0], 503, "the scripted answer")
    page.wait("document.querySelector('[data-script=refresh]').innerText.includes('answered 1')", "its progress")
    button(page, "[data-script=refresh]", "Edit")
    page.fill("#script-actions", '[{"status": 429}]')
    page.click("#script-form button.main")
    page.wait("document.querySelector('[data-script=refresh]').innerText.includes('429')", "the change")
    same(realm.refresh(tokens)[0], 429, "the changed answer")
    button(page, "[data-script=refresh]", "Remove")
    page.wait("!document.querySelector('[data-script=refresh]')", "it is gone")
    same(realm.refresh(tokens)[0], 200, "the real answer")


@test("sessions show their rotations as a picture, live, and end")
def sessions(page, context):
    realm = context.realm("sessions")
    realm.admin("PUT", "policy", {"rotation": "gotrue"})
    first = tokens = realm.tokens()
    for _ in range(2):
        tokens = realm.refresh(tokens)[1]
    open_page(page, realm, "sessions")
    button(page, "#sessions li", "Rotations")
    page.wait("document.querySelectorAll('#family circle').length === 3", "three pairs")
    realm.refresh(tokens)
    page.wait("document.querySelectorAll('#family circle').length === 4", "one more, live")
    same(realm.refresh(first)[0], 200, "a fork within the window")
    page.wait("document.querySelector('#family').innerText.includes('forked from 0')", "the fork is shown")
    page.wait("new Set([...document.querySelectorAll('#family circle')].map((c) => c.getAttribute('cx'))).size === 2", "in a lane of its own")
    button(page, "#sessions li", "End")
    page.wait("document.querySelector('#sessions li').innerText.includes('ended by admin')", "the end is shown")


@test("the sequence shows arrows, a lost answer and a jump of the clock")
def sequence(page, context):
    realm = context.realm("sequence")
    tokens = realm.tokens()
    realm.admin("POST", "clock", {"advance": "20m"})
    realm.admin("PUT", "scripts", {"operation": "refresh", "actions": [{"phase": "after-commit", "break": "close"}]})
    realm.refresh(tokens)
    open_page(page, realm, "sequence")
    page.wait("document.querySelectorAll('#sequence .arrow').length === 2", "two requests")
    same(page.evaluate("document.querySelectorAll('#sequence .cross').length"), 1, "the lost answer")
    same(page.evaluate("document.querySelectorAll('#sequence .jump').length"), 1, "the jump")
    check("20 min later" in page.evaluate("document.querySelector('#sequence ol').textContent"), "in words too")


@test("a held answer is released")
def held(page, context):
    realm = context.realm("held")
    realm.admin("PUT", "scripts", {"operation": "me", "actions": [{"hold": "race"}]})
    import threading
    seen = []
    thread = threading.Thread(target=lambda: seen.append(realm.send("GET", "/me")[0]))
    thread.start()
    open_page(page, realm, "scripts")
    button(page, "#held", "Release all")
    thread.join(20)
    same(seen, [401], "the answer")
    page.wait("document.querySelectorAll('#held li').length === 0", "nothing is held")


@test("another realm is another server")
def realms(page, context):
    one, other = context.realm("one"), context.realm("other")
    one.tokens()
    open_page(page, one, "sessions")
    page.wait("document.querySelectorAll('#sessions li').length === 1", "one session")
    page.fill("#realm", "other")
    page.press("Enter")
    page.wait("location.pathname === '/r/other/__mock/'", "the other realm's page")
    page.wait("document.querySelector('#link')?.dataset.state === 'live'", "live")
    page.wait("document.querySelector('#sessions-note').innerText.includes('Nobody')", "no session")
    same(other.admin("GET", "state")["sessions"], [], "no session")


@test("a broken connection leaves no gap and no double; another run of the server begins anew")
def reconnect(page, context):
    page.expected = {"net"}
    proxy = Proxy(context.port)
    try:
        realm = Realm(f"http://127.0.0.1:{proxy.port}", "/r/gap")
        direct = context.realm("gap")
        direct.tokens()
        open_page(page, realm, "requests")
        page.wait("document.querySelectorAll('tr[data-seq]').length === 1", "the first request")
        proxy.cut()
        page.wait("document.querySelector('#link').dataset.state === 'lost'", "the loss is told")
        for _ in range(5):
            direct.tokens()
        proxy.mend()
        page.wait("document.querySelector('#link').dataset.state === 'live'", "live again")
        direct.tokens()
        page.wait("document.querySelectorAll('tr[data-seq]').length === 7", "all seven")
        same(page.evaluate("[...document.querySelectorAll('tr[data-seq]')].map((r) => r.dataset.seq).join()"), "7,6,5,4,3,2,1", "each once")
        fresh = Server(context.program)
        try:
            proxy.cut()
            proxy.target = fresh.port
            for _ in range(9):
                fresh.realm("gap").send("GET", "/me")
            proxy.mend()
            page.wait("document.querySelectorAll('tr[data-seq]').length === 9", "the other run's nine")
        finally:
            fresh.close()
    finally:
        proxy.close()


@test("hostile names are shown as they are and run nowhere")
def hostile(page, context):
    realm = context.realm("hostile")
    evil = '"<img/src=x/onerror=window.pwned=1>"@example.com'
    realm.admin("POST", "users", [{"username": "mallory", "email": evil, "password": "password123"}])
    status, _ = realm.login(evil)
    same(status, 200, "mallory's login")
    realm.send("GET", "/<script>window.pwned=2</script>", headers={"X-Request-ID": "<img/src=x/onerror=window.pwned=3>", "X-Note": "<svg/onload=window.pwned=4>"})
    realm.admin("PUT", "scripts", {"endpoint": "GET /<b>", "actions": [{"body": "<img src=x onerror=window.pwned=5>", "hold": "<i>x</i>"}]})
    import threading
    threading.Thread(target=lambda: realm.send("GET", "/<b>"), daemon=True).start()
    open_page(page, realm)
    page.wait(f"document.querySelector('#users').innerText.includes({json.dumps(evil)})", "the address as it is")
    for tab in TABS:
        page.click(f"#tab-{tab}")
        if tab == "requests":
            for seq in (1, 2):
                page.click(f"tr[data-seq='{seq}'] button")
                page.wait(f"document.querySelector('#detail').innerText.includes('Request {seq}:')", "its details")
            page.wait("document.querySelector('#detail').innerText.includes('onload=window')", "the field as it is")
        if tab == "scripts":
            page.wait("document.querySelector('#held').innerText.includes('<i>x</i>')", "the hold as it is")
    same(page.evaluate("document.querySelectorAll('main img, main script, main b, main i').length"), 0, "elements out of texts")
    same(page.evaluate("typeof window.pwned"), "undefined", "a script ran")
    realm.admin("POST", "release", {"hold": "<i>x</i>"})


@test("everything goes by keyboard alone")
def keyboard(page, context):
    realm = context.realm("keyboard")
    realm.tokens()
    open_page(page, realm)
    page.press("Tab")
    same(page.evaluate("document.activeElement.className"), "skip", "the first stop")
    seen = []
    for _ in range(60):
        page.press("Tab")
        stop = page.evaluate("""(() => {
          const node = document.activeElement;
          const style = getComputedStyle(node);
          const box = node.getBoundingClientRect();
          return { id: node.id, tag: node.tagName, text: node.innerText?.slice(0, 20), ring: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2, there: box.width > 0 && box.height > 0 };
        })()""")
        if stop["tag"] == "BODY":
            break
        check(stop["ring"] and stop["there"], f"the focus cannot be seen on {stop}")
        seen.append(stop["id"] or stop["text"])
    same([s for s in seen if s.startswith("tab-")], ["tab-users"], "the tabs are one stop")
    for need in ("realm", "+1 s", "new-username", "user-filter", "only-signed-in", "Ban", "Delete"):
        check(need in seen, f"{need} is not reached; reached are {seen}")
    page.evaluate("document.querySelector('#tab-users').focus()")
    page.press("ArrowRight")
    same(page.evaluate("document.activeElement.id"), "tab-requests", "the arrow key")
    same(page.evaluate("document.querySelector('#panel-requests').hidden"), False, "its panel")
    page.press("End")
    same(page.evaluate("document.activeElement.id"), "tab-policy", "End")
    page.press("ArrowRight")
    same(page.evaluate("document.activeElement.id"), "tab-users", "round")
    page.press("ArrowRight")
    for _ in range(4):
        page.press("Tab")
    same(page.evaluate("document.activeElement.closest('tr')?.dataset.seq"), "1", "the newest request")
    page.press("Enter")
    page.wait("document.activeElement.id === 'detail'", "the focus goes to the details")
    page.press("Escape")
    page.wait("document.activeElement.closest('tr')?.dataset.seq === '1'", "and back")


CONTRAST = """(() => {
  const parse = (text) => { const m = text.match(/[\\d.]+/g).map(Number); return text.startsWith("color(srgb") ? [m[0] * 255, m[1] * 255, m[2] * 255, m[3] ?? 1] : [m[0], m[1], m[2], m[3] ?? 1]; };
  const light = ([r, g, b]) => { const f = (v) => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; }; return .2126 * f(r) + .7152 * f(g) + .0722 * f(b); };
  const back = (node) => { for (let n = node; n; n = n.parentElement) { const c = parse(getComputedStyle(n).backgroundColor); if (c[3] > 0.99) return c; } return [255, 255, 255]; };
  const poor = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    const box = node.getBoundingClientRect();
    if (!walker.currentNode.data.trim() || !box.width || node.closest("svg, script, style, option, datalist, .unseen, .skip, :disabled")) continue;
    const a = light(parse(getComputedStyle(node).color)), b = light(back(node));
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 4.5) poor.push(`${node.tagName}.${node.className} "${walker.currentNode.data.trim().slice(0, 20)}" ${ratio.toFixed(2)}`);
  }
  return poor;
})()"""


def populate(realm):
    realm.admin("POST", "users", [{"username": "a_name_of_thirty_two_letters_000", "email": "a.very.long.address.that.goes.on.and.on@subdomain.example.com", "password": "password123"}])
    realm.admin("PUT", "policy", {"rotation": "gotrue"})
    tokens = realm.tokens()
    old = tokens
    for _ in range(3):
        tokens = realm.refresh(tokens)[1]
    realm.refresh(old)
    realm.admin("POST", "clock", {"advance": "2h"})
    realm.me(tokens)
    realm.send("GET", "/a/very/long/path/" + "segment/" * 20)
    realm.admin("PUT", "users", {"user": "a.very.long.address.that.goes.on.and.on@subdomain.example.com", "banned": True})
    realm.admin("PUT", "scripts", {"operation": "refresh", "actions": [{"status": 503, "body": {"text": "long " * 40}}, {"break": "reset"}]})
    realm.refresh(tokens)
    realm.refresh(tokens)


def every_tab(page, look):
    for tab in TABS:
        page.click(f"#tab-{tab}")
        if tab == "requests":
            page.click("tr[data-seq] button")
            page.wait("!document.querySelector('#detail').hidden", "the details")
        if tab == "sessions":
            button(page, "#sessions li", "Rotations")
            page.wait("!document.querySelector('#family').hidden", "the rotations")
        if tab == "scripts":
            page.wait("document.querySelector('#scripts li')", "the script")
        look(tab)


@test("at 360 px nothing scrolls sideways", width=360, height=780)
def narrow(page, context):
    realm = context.realm("narrow")
    populate(realm)
    for width in (360, 320):
        page.resize(width, 780)
        open_page(page, realm)
        page.evaluate("document.querySelector('#clock-more').open = true")
        every_tab(page, lambda tab: same(page.overflow(), [], f"wider than {width} px in {tab}"))


@test("light and dark differ, and both can be read (WCAG AA)")
def colours(page, context):
    realm = context.realm("colours")
    populate(realm)
    backs = []
    for dark in (False, True):
        page.dark(dark)
        open_page(page, realm)
        every_tab(page, lambda tab: same(page.evaluate(CONTRAST), [], f"too little contrast in {tab}, {'dark' if dark else 'light'}"))
        backs.append(page.evaluate("getComputedStyle(document.documentElement).backgroundColor"))
    check(backs[0] != backs[1], f"one background for both: {backs}")


CONTROLS = {"button", "textbox", "searchbox", "combobox", "checkbox", "spinbutton", "tab", "link", "listbox", "DisclosureTriangle"}


@test("a screen reader is told what everything is")
def accessibility(page, context):
    realm = context.realm("reader")
    populate(realm)
    open_page(page, realm)

    def look(tab):
        tree = page.tree()
        for role, name, node in tree:
            check(role not in CONTROLS or name.strip(), f"a {role} without a name in {tab}: {json.dumps(node)[:300]}")
        roles = [role for role, _, _ in tree]
        for role, number in (("banner", 1), ("main", 1), ("tablist", 1), ("tab", 6), ("tabpanel", 1)):
            same(roles.count(role), number, f"how many {role} in {tab}")
        chosen = [name for role, name, node in tree if role == "tab" and any(p["name"] == "selected" and p["value"]["value"] for p in node.get("properties", []))]
        same(len(chosen), 1, f"chosen tabs in {tab}")
        names = [(role, name) for role, name, _ in tree if role == "button"]
        doubles = {n for n in names if names.count(n) > 1}
        check(not doubles, f"buttons that nobody can tell apart in {tab}: {doubles}")

    every_tab(page, look)
    page.resize(360, 780)
    page.click("#tab-users")
    page.wait("document.documentElement.clientWidth === 360", "narrow")
    roles = [role for role, _, _ in page.tree()]
    check("table" in roles and "cell" in roles and "row" in roles, "the table is none any more on a narrow screen")


@test("no other site reaches the server through the browser")
def other_sites(page, context):
    page.expected = {403, "net"}
    realm = context.realm("target")
    base = f"http://127.0.0.1:{context.port}/r/target"
    site = StrangeSite(f"""<!doctype html><title>strange</title><iframe id=f src="{base}/__mock/"></iframe><script>
      window.done = (async () => {{
        const tries = [];
        const body = JSON.stringify({{ all: true }});
        for (const options of [{{ mode: "no-cors", method: "POST", body }}, {{ method: "POST", body, headers: {{ "Content-Type": "application/json" }} }}, {{ method: "GET" }}]) {{
          try {{ const r = await fetch("{base}/__mock/" + (options.method === "GET" ? "state" : "revoke"), options); tries.push(r.type === "opaque" ? "opaque" : await r.text()); }} catch (e) {{ tries.push("refused"); }}
        }}
        return tries;
      }})();</script>""")
    try:
        tokens = realm.tokens()
        page.goto(site.url)
        tries = page.evaluate("window.done")
        check(all(t in ("opaque", "refused") for t in tries), f"another site reads: {tries}")
        same(realm.me(tokens), 200, "the session is untouched")
        page.wait("document.querySelector('#f')", "the frame")
        frames = page.send("Page.getFrameTree")["frameTree"].get("childFrames", [])
        check(all(f["frame"]["mimeType"] != "text/html" or f["frame"].get("unreachableUrl") for f in frames), f"framed: {frames}")
        page.problems.clear()
        page.goto(f"http://rebound.test:{context.port}/__mock/state")
        check("forbidden" in page.evaluate("document.body.innerText"), "a rebound name gets the state")
        page.goto(f"http://rebound.test:{context.port}/__mock/")
        check("forbidden" in page.evaluate("document.body.innerText"), "a rebound name gets the page")
        page.problems.clear()
    finally:
        site.close()


@test("thousands of users and requests: the page stays quick")
def many(page, context):
    realm = context.realm("many")
    for start in range(0, 2000, 500):
        realm.admin("POST", "users", [{"username": f"user{i}", "email": f"user{i}@example.com", "password": "password123"} for i in range(start, start + 500)])
    for _ in range(400):
        realm.send("GET", "/me")
    open_page(page, realm)
    page.wait("document.querySelectorAll('tr[data-user]').length === 200", "the first users")
    page.click("#more-users")
    page.wait("document.querySelectorAll('tr[data-user]').length === 400", "more of them")
    page.fill("#user-filter", "user1999")
    page.wait("document.querySelectorAll('tr[data-user]').length === 1", "the one")
    page.click("#tab-requests")
    page.wait("document.querySelectorAll('tr[data-seq]').length === 300", "the newest requests")


@test("over TLS too")
def tls(page, context):
    page.expected = {"net"}
    server = Server(context.program, "--tls")
    try:
        page.send("Security.setIgnoreCertificateErrors", {"ignore": True})
        page.goto(f"{server.url}/__mock/")
        page.wait("document.querySelector('#link').dataset.state === 'live'", "live over TLS")
    finally:
        server.close()
