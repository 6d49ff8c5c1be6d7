// swift-format-ignore-file
// Made from MockServer/Dashboard/Page/page.html by Tools/dashboard: change that file, then run make dashboard.

extension DashboardPage {
  static let pageMarkup = #"""
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>mock-server</title>
    <link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%232456c8'/%3E%3Cpath d='M4 8h5m-2-3 3 3-3 3' stroke='white' stroke-width='1.6' fill='none'/%3E%3Ccircle cx='12.4' cy='8' r='1.2' fill='white'/%3E%3C/svg%3E">
    <!--style-->
    </head>
    <body>
    <a class="skip" href="#main">Skip to the content</a>
    <header>
    <div class="brand">
    <svg aria-hidden="true" viewBox="0 0 16 16" width="28" height="28"><rect width="16" height="16" rx="4"/><path d="M4 8h5m-2-3 3 3-3 3"/><circle cx="12.4" cy="8" r="1.2"/></svg>
    <h1>mock-server</h1>
    <p id="link" role="status" data-state="connecting"><span class="dot" aria-hidden="true"></span><span id="link-text">Connecting…</span></p>
    </div>
    <form id="realm-form" class="realm" aria-label="Realm">
    <label for="realm">Realm</label>
    <input id="realm" list="realms" autocomplete="off" spellcheck="false" pattern="[A-Za-z0-9_.\-]{1,64}" maxlength="64" aria-describedby="realm-hint">
    <datalist id="realms"></datalist>
    <button type="submit">Open</button>
    <span id="realm-hint" class="unseen">A realm is an independent server. One that does not exist yet is made.</span>
    </form>
    </header>
    <section id="clock" aria-labelledby="clock-title">
    <h2 id="clock-title" class="unseen">Clock</h2>
    <div class="now">
    <time id="now">–</time>
    <span id="clock-mode" class="tag">–</span>
    </div>
    <div class="advance" role="group" aria-label="Advance the clock">
    <button type="button" data-advance="1s">+1 s</button>
    <button type="button" data-advance="30s">+30 s</button>
    <button type="button" data-advance="1m">+1 min</button>
    <button type="button" data-advance="15m">+15 min</button>
    <button type="button" data-advance="1h">+1 h</button>
    <button type="button" data-advance="1d">+1 day</button>
    <button type="button" data-advance="30d">+30 days</button>
    </div>
    <details id="clock-more">
    <summary>More</summary>
    <div class="more">
    <form id="advance-form">
    <label for="advance-by">Advance by</label>
    <span class="pair"><input id="advance-by" size="8" placeholder="2h" autocomplete="off" required aria-describedby="advance-error"><button type="submit">Advance</button></span>
    <p id="advance-error" class="problem" role="alert"></p>
    </form>
    <form id="set-form">
    <label for="set-to">Set to (ISO 8601)</label>
    <span class="pair"><input id="set-to" size="22" placeholder="2030-01-31T12:00:00Z" autocomplete="off" required aria-describedby="set-error"><button type="submit">Set</button></span>
    <p id="set-error" class="problem" role="alert"></p>
    </form>
    <button type="button" id="clock-switch">Stop the clock</button>
    </div>
    </details>
    </section>
    <div role="tablist" aria-label="Views" id="tabs">
    <button role="tab" id="tab-users" aria-controls="panel-users" aria-selected="true">Authentication <span class="count" data-count="users"></span></button>
    <button role="tab" id="tab-requests" aria-controls="panel-requests" aria-selected="false" tabindex="-1">Requests <span class="count" data-count="requests"></span></button>
    <button role="tab" id="tab-sessions" aria-controls="panel-sessions" aria-selected="false" tabindex="-1">Sessions <span class="count" data-count="sessions"></span></button>
    <button role="tab" id="tab-sequence" aria-controls="panel-sequence" aria-selected="false" tabindex="-1">Sequence</button>
    <button role="tab" id="tab-scripts" aria-controls="panel-scripts" aria-selected="false" tabindex="-1">Scripts <span class="count" data-count="scripts"></span></button>
    <button role="tab" id="tab-policy" aria-controls="panel-policy" aria-selected="false" tabindex="-1">Policy</button>
    </div>
    <main id="main" tabindex="-1">
    <section role="tabpanel" id="panel-users" aria-labelledby="tab-users">
    <form id="add-user" class="card row" aria-labelledby="add-user-title">
    <h2 id="add-user-title">Add a user</h2>
    <div class="field"><label for="new-username">Username</label><input id="new-username" name="username" autocomplete="off" spellcheck="false" required aria-describedby="add-user-error"></div>
    <div class="field"><label for="new-email">Email</label><input id="new-email" name="email" autocomplete="off" spellcheck="false" inputmode="email" required aria-describedby="add-user-error"></div>
    <div class="field"><label for="new-password">Password</label><input id="new-password" name="password" type="password" autocomplete="new-password" required aria-describedby="add-user-error"></div>
    <div class="field act"><button type="submit" class="main">Add</button></div>
    <p id="add-user-error" class="problem" role="alert"></p>
    </form>
    <div class="bar">
    <h2>Users</h2>
    <div class="field grow"><label for="user-filter" class="unseen">Filter users</label><input id="user-filter" type="search" placeholder="Filter by name, email or id" autocomplete="off"></div>
    <label class="check"><input type="checkbox" id="only-signed-in"> Signed in</label>
    </div>
    <p id="users-note" class="note" role="status"></p>
    <table id="users" class="stack" role="table">
    <caption class="unseen">Users, with what can be done about each</caption>
    <thead role="rowgroup"><tr role="row"><th scope="col" role="columnheader">User</th><th scope="col" role="columnheader">Created</th><th scope="col" role="columnheader">Standing</th><th scope="col" role="columnheader">Actions</th></tr></thead>
    <tbody role="rowgroup"></tbody>
    </table>
    <button type="button" id="more-users" hidden>Show more</button>
    </section>
    <section role="tabpanel" id="panel-requests" aria-labelledby="tab-requests" hidden>
    <div class="bar">
    <h2>Requests</h2>
    <div class="field grow"><label for="request-filter" class="unseen">Filter requests</label><input id="request-filter" type="search" placeholder="Filter: path, operation, outcome, status, user…" autocomplete="off"></div>
    <div class="field"><label for="request-kind" class="unseen">Kind</label>
    <select id="request-kind"><option value="">All</option><option value="bad">Refused and failed</option><option value="fault">Faults and scripts</option><option value="retry">Retries</option></select></div>
    <button type="button" id="pause" aria-pressed="false">Pause</button>
    </div>
    <p id="requests-note" class="note" role="status"></p>
    <div class="split">
    <table id="requests" class="list" role="table">
    <caption class="unseen">Requests, the newest first</caption>
    <thead role="rowgroup"><tr role="row"><th scope="col" role="columnheader">No.</th><th scope="col" role="columnheader">Time</th><th scope="col" role="columnheader">Request</th><th scope="col" role="columnheader">Status</th><th scope="col" role="columnheader">Outcome</th></tr></thead>
    <tbody role="rowgroup"></tbody>
    </table>
    <aside id="detail" class="card" aria-labelledby="detail-title" tabindex="-1" hidden></aside>
    </div>
    </section>
    <section role="tabpanel" id="panel-sessions" aria-labelledby="tab-sessions" hidden>
    <div class="bar">
    <h2>Sessions</h2>
    <div class="field grow"><label for="session-filter" class="unseen">Filter sessions</label><input id="session-filter" type="search" placeholder="Filter by user or id" autocomplete="off"></div>
    <label class="check"><input type="checkbox" id="only-alive"> Alive</label>
    <button type="button" id="revoke-all" class="danger">End all</button>
    </div>
    <p id="sessions-note" class="note" role="status"></p>
    <div class="split">
    <ul id="sessions" class="plain" aria-label="Sessions, the newest first"></ul>
    <aside id="family" class="card" aria-labelledby="family-title" tabindex="-1" hidden></aside>
    </div>
    </section>
    <section role="tabpanel" id="panel-sequence" aria-labelledby="tab-sequence" hidden>
    <div class="bar">
    <h2>Sequence</h2>
    <div class="field grow"><label for="sequence-session">Session</label><select id="sequence-session"><option value="">All requests</option></select></div>
    </div>
    <p id="sequence-note" class="note" role="status"></p>
    <div id="sequence" class="card"></div>
    </section>
    <section role="tabpanel" id="panel-scripts" aria-labelledby="tab-scripts" hidden>
    <div class="columns">
    <form id="script-form" class="card" aria-labelledby="script-title">
    <h2 id="script-title">Put a script</h2>
    <div class="row">
    <div class="field"><label for="script-target">For</label><input id="script-target" list="script-targets" autocomplete="off" spellcheck="false" required placeholder="refresh" aria-describedby="script-target-hint script-error"><datalist id="script-targets"></datalist></div>
    <div class="field"><label for="script-then">Then</label><select id="script-then"><option value="real">the real answers</option><option value="repeat">the actions again</option><option value="fail">500 script_exhausted</option></select></div>
    </div>
    <p id="script-target-hint" class="note">An operation, or a method and a path: <code>POST /auth/refresh</code></p>
    <div class="field"><label for="script-template">Begin with</label><select id="script-template"></select></div>
    <div class="field"><label for="script-actions">Actions (JSON)</label><textarea id="script-actions" rows="8" spellcheck="false" required aria-describedby="script-error"></textarea></div>
    <p id="script-error" class="problem" role="alert"></p>
    <div class="acts"><button type="submit" class="main">Put</button><button type="button" id="script-curl">Copy as curl</button></div>
    </form>
    <div>
    <div class="bar"><h2>Scripts</h2><button type="button" id="remove-scripts" class="danger">Remove all</button></div>
    <p id="scripts-note" class="note" role="status"></p>
    <ul id="scripts" class="plain" aria-label="Scripts"></ul>
    <h2>Held answers</h2>
    <p id="held-note" class="note" role="status"></p>
    <ul id="held" class="plain" aria-label="Held answers"></ul>
    <form id="connections-form" class="card" aria-labelledby="connections-title">
    <h2 id="connections-title">Next connections</h2>
    <div class="row">
    <div class="field"><label for="connections-count">How many</label><input id="connections-count" type="number" min="0" max="100000" value="1" required></div>
    <div class="field"><label for="connections-kind">What happens</label><select id="connections-kind"><option value="refuse">reset at once</option><option value="failHandshakes">TLS handshake fails</option></select></div>
    <div class="field act"><button type="submit">Let them fail</button></div>
    </div>
    <p class="note">Counts for the whole server, and for this page’s own connections too.</p>
    <p id="connections-error" class="problem" role="alert"></p>
    </form>
    </div>
    </div>
    </section>
    <section role="tabpanel" id="panel-policy" aria-labelledby="tab-policy" hidden>
    <div class="columns">
    <form id="policy-form" class="card" aria-labelledby="policy-title" novalidate>
    <h2 id="policy-title">Policy</h2>
    <p class="note">Holds from the next request on. Durations: <code>250ms</code>, <code>30s</code>, <code>15m</code>, <code>2h</code>, <code>30d</code>.</p>
    <div id="policy-fields"></div>
    <p id="policy-error" class="problem" role="alert"></p>
    <div class="acts"><button type="submit" class="main">Save</button><button type="button" id="policy-undo">Undo</button><button type="button" id="policy-curl">Copy as curl</button></div>
    </form>
    <div class="card">
    <h2>Realm</h2>
    <dl id="realm-facts"></dl>
    <div class="acts"><button type="button" id="reset" class="danger">Reset the realm</button></div>
    </div>
    </div>
    </section>
    </main>
    <div id="say" role="status"></div>
    <dialog id="ask" aria-labelledby="ask-title" aria-describedby="ask-text">
    <form method="dialog">
    <h2 id="ask-title"></h2>
    <p id="ask-text"></p>
    <div class="acts"><button value="no" id="ask-no">Cancel</button><button value="yes" id="ask-yes" class="danger"></button></div>
    </form>
    </dialog>
    <noscript><p class="problem">This page needs JavaScript. Without it: <code>curl /__mock/state</code>.</p></noscript>
    <!--script-->
    </body>
    </html>
    """#
}
