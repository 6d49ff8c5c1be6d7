// swift-format-ignore-file
// Made from MockServer/Dashboard/Page/page.css by Tools/dashboard: change that file, then run make dashboard.

extension DashboardPage {
  static let pageStyle = #"""
    :root {
    color-scheme: light dark;
    --back: #f4f5f8; --card: #ffffff; --ink: #171b26; --soft: #5a6274; --line: #d9dde6; --hover: #eef1f7;
    --accent: #2456c8; --on-accent: #ffffff; --accent-soft: #e6edfb;
    --good: #16703a; --good-soft: #e0f3e6; --warn: #8a5300; --warn-soft: #fcefd6; --bad: #b3261e; --bad-soft: #fbe4e2;
    --mono: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace;
    --shadow: 0 1px 2px rgb(20 25 40 / 8%);
    }
    @media (prefers-color-scheme: dark) {
    :root {
    --back: #10131a; --card: #181c26; --ink: #e8ebf2; --soft: #9aa3b5; --line: #2c3240; --hover: #1f2430;
    --accent: #8fb1ff; --on-accent: #0d1730; --accent-soft: #1d2a49;
    --good: #74d398; --good-soft: #15301f; --warn: #f0bd69; --warn-soft: #352812; --bad: #ff9b92; --bad-soft: #3c1a18;
    --shadow: none;
    }
    }
    *, *::before, *::after { box-sizing: border-box; }
    html { background: var(--back); color: var(--ink); font: 15px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; }
    body { margin: 0 auto; max-width: 1240px; padding: 0 20px 48px; }
    td, li, dd, dt, p, h2, pre, summary { overflow-wrap: anywhere; }
    label, button, .count { white-space: nowrap; }
    [hidden] { display: none !important; }
    h1, h2, h3, p, ul, ol, dl, dd, table { margin: 0; padding: 0; }
    h1 { font-size: 1.15rem; letter-spacing: -.01em; }
    h2 { font-size: 1.02rem; letter-spacing: -.005em; }
    h3 { font-size: .8rem; color: var(--soft); text-transform: uppercase; letter-spacing: .05em; }
    code, pre, .mono, time { font-family: var(--mono); font-size: .88em; }
    .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
    .skip { position: absolute; left: 12px; top: -60px; background: var(--accent); color: var(--on-accent); padding: 8px 14px; border-radius: 0 0 8px 8px; z-index: 5; }
    .skip:focus { top: 0; }
    :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
    main:focus, aside:focus { outline: none; }
    aside:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
    header { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 10px 20px; padding: 18px 0 14px; }
    .brand { display: flex; align-items: center; gap: 10px; }
    .brand svg rect { fill: var(--accent); }
    .brand svg path { stroke: var(--on-accent); stroke-width: 1.6; fill: none; }
    .brand svg circle { fill: var(--on-accent); }
    #link { display: flex; align-items: center; gap: 6px; font-size: .82rem; color: var(--soft); }
    .dot { width: 9px; height: 9px; border-radius: 50%; background: var(--warn); }
    [data-state="live"] .dot { background: var(--good); }
    [data-state="lost"] .dot { background: var(--bad); }
    .realm { display: flex; align-items: center; gap: 8px; }
    .realm label { color: var(--soft); font-size: .88rem; }
    .realm input { width: 11em; }
    button, input, select, textarea { font: inherit; color: inherit; border: 1px solid var(--line); border-radius: 8px; background: var(--card); padding: 6px 12px; min-height: 36px; max-width: 100%; }
    input, select, textarea { border-color: color-mix(in srgb, var(--soft) 65%, var(--line)); }
    input::placeholder, textarea::placeholder { color: var(--soft); opacity: .85; }
    textarea { font-family: var(--mono); font-size: .85rem; width: 100%; resize: vertical; line-height: 1.5; padding: 10px 12px; }
    button { cursor: pointer; font-weight: 500; }
    button:hover { background: var(--hover); }
    button:active { transform: translateY(1px); }
    button.main { background: var(--accent); border-color: var(--accent); color: var(--on-accent); font-weight: 600; }
    button.main:hover { filter: brightness(1.08); }
    button.danger { color: var(--bad); border-color: color-mix(in srgb, var(--bad) 45%, var(--line)); }
    button.danger:hover { background: var(--bad-soft); }
    button[aria-pressed="true"] { background: var(--warn-soft); border-color: var(--warn); color: var(--warn); }
    button.link { border: 0; background: none; padding: 4px 2px; min-height: 28px; color: var(--accent); font-weight: 600; text-align: left; }
    button.link:hover { text-decoration: underline; }
    button.small { min-height: 30px; padding: 3px 10px; font-size: .86rem; }
    [aria-invalid="true"] { border-color: var(--bad); box-shadow: 0 0 0 1px var(--bad); }
    #clock { display: flex; flex-wrap: wrap; align-items: center; gap: 10px 18px; background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 10px 14px; box-shadow: var(--shadow); }
    .now { display: flex; align-items: center; gap: 10px; margin-right: auto; }
    #now { font-size: 1.08rem; font-weight: 600; font-variant-numeric: tabular-nums; }
    .advance { display: flex; flex-wrap: wrap; gap: 6px; }
    .advance button { padding: 4px 10px; font-variant-numeric: tabular-nums; }
    #clock-more[open] { flex-basis: 100%; }
    summary { cursor: pointer; color: var(--accent); font-weight: 600; padding: 6px 4px; border-radius: 6px; }
    .more { display: flex; flex-wrap: wrap; gap: 12px 24px; align-items: end; padding-top: 6px; }
    .more label { display: block; font-size: .82rem; color: var(--soft); }
    .pair { display: flex; gap: 6px; }
    .pair input { flex: 1 1 auto; min-width: 0; }
    [role="tablist"] { display: flex; flex-wrap: wrap; gap: 2px; margin: 16px 0 14px; border-bottom: 1px solid var(--line); }
    [role="tab"] { border: 0; border-radius: 8px 8px 0 0; background: none; padding: 8px 14px; min-height: 42px; color: var(--soft); border-bottom: 3px solid transparent; margin-bottom: -1px; }
    [role="tab"]:hover { color: var(--ink); background: var(--hover); }
    [role="tab"][aria-selected="true"] { color: var(--accent); border-bottom-color: var(--accent); font-weight: 650; }
    .count { font-size: .76rem; font-variant-numeric: tabular-nums; color: var(--soft); background: var(--hover); border: 1px solid var(--line); border-radius: 99px; padding: 0 7px; margin-left: 3px; }
    .count:empty { display: none; }
    .card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 16px; box-shadow: var(--shadow); }
    .row { display: flex; flex-wrap: wrap; gap: 10px 12px; align-items: end; }
    .row > h2, .row > p { flex-basis: 100%; }
    .field { display: flex; flex-direction: column; gap: 3px; flex: 1 1 150px; min-width: 0; }
    .field.act { flex: 0 0 auto; }
    .field label { font-size: .82rem; color: var(--soft); }
    .field input, .field select { width: 100%; }
    .grow { flex: 1 1 220px; }
    .bar { display: flex; flex-wrap: wrap; gap: 10px 12px; align-items: center; margin: 18px 0 6px; }
    .bar:first-child { margin-top: 0; }
    .bar h2 { margin-right: 4px; }
    .bar .field { flex-direction: row; align-items: center; gap: 8px; }
    .bar .field:not(.grow) { flex: 0 0 auto; }
    .check { display: flex; align-items: center; gap: 6px; min-height: 36px; }
    .check input { min-height: 0; width: 18px; height: 18px; margin: 0; accent-color: var(--accent); }
    .acts { display: flex; flex-wrap: wrap; gap: 8px; margin-top: 12px; }
    .columns { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 18px; align-items: start; }
    .columns .field { margin-top: 10px; flex-basis: 130px; }
    .columns h2:not(:first-child) { margin-top: 20px; }
    .columns form + form, .columns ul + form { margin-top: 20px; }
    .note:empty { display: none; }
    .note { color: var(--soft); font-size: .86rem; min-height: 1.3em; margin: 4px 0 8px; }
    .problem { color: var(--bad); font-weight: 550; font-size: .9rem; margin-top: 8px; }
    .problem:empty { margin: 0; }
    .problem:not(:empty)::before { content: "⚠ "; }
    table { border-collapse: collapse; width: 100%; background: var(--card); border: 1px solid var(--line); border-radius: 12px; border-spacing: 0; border-collapse: separate; overflow: hidden; box-shadow: var(--shadow); }
    th { text-align: left; font-size: .76rem; font-weight: 600; color: var(--soft); text-transform: uppercase; letter-spacing: .04em; padding: 9px 12px; border-bottom: 1px solid var(--line); }
    td { padding: 8px 12px; border-bottom: 1px solid var(--line); vertical-align: middle; }
    tbody tr:last-child td { border-bottom: 0; }
    .list td { padding: 3px 12px; }
    .list tbody tr:hover { background: var(--hover); }
    .list tbody tr.chosen { background: var(--accent-soft); }
    .list time { color: var(--soft); white-space: nowrap; }
    .who { font-weight: 600; }
    .sub { display: block; color: var(--soft); font-size: .84rem; }
    .tag { display: inline-block; font-size: .78rem; font-weight: 600; border-radius: 99px; padding: 1px 9px; border: 1px solid var(--line); color: var(--soft); background: var(--hover); white-space: nowrap; }
    .tag.good { color: var(--good); background: var(--good-soft); border-color: transparent; }
    .tag.warn { color: var(--warn); background: var(--warn-soft); border-color: transparent; }
    .tag.bad { color: var(--bad); background: var(--bad-soft); border-color: transparent; }
    .tags { display: flex; flex-wrap: wrap; gap: 5px; align-items: center; }
    .cells { display: flex; flex-wrap: wrap; gap: 6px; }
    .method { font-weight: 700; font-family: var(--mono); font-size: .84em; }
    .path { font-family: var(--mono); font-size: .88em; }
    .fresh { animation: fresh 1.6s ease-out; }
    @keyframes fresh { from { background: var(--accent-soft); } }
    .split { display: grid; grid-template-columns: minmax(0, 1fr); gap: 16px; align-items: start; }
    .split:has(> aside:not([hidden])) { grid-template-columns: minmax(0, 1fr) minmax(0, 440px); }
    aside { position: sticky; top: 12px; max-height: calc(100vh - 24px); overflow-y: auto; }
    aside .head { display: flex; align-items: start; gap: 8px; justify-content: space-between; }
    aside h3 { margin: 16px 0 4px; }
    dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 3px 14px; font-size: .92rem; margin-top: 8px; }
    dt { color: var(--soft); }
    dl.fields { font-family: var(--mono); font-size: .8rem; grid-template-columns: minmax(0, 2fr) minmax(0, 3fr); margin-top: 0; }
    pre { margin: 0; background: var(--back); border: 1px solid var(--line); border-radius: 8px; padding: 9px 11px; white-space: pre-wrap; overflow-wrap: anywhere; font-size: .8rem; max-height: 260px; overflow-y: auto; }
    ul.plain { list-style: none; display: grid; gap: 8px; }
    ul.plain > li { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 10px 14px; box-shadow: var(--shadow); }
    ul.plain > li > pre { margin-top: 8px; }
    ul.plain:empty { display: none; }
    ul.plain > li.chosen { border-color: var(--accent); background: var(--accent-soft); }
    .session { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 4px 12px; align-items: center; }
    .session svg { display: block; max-width: 100%; }
    .facts { color: var(--soft); font-size: .84rem; }
    .chain { --gap: 14px; }
    svg text { font: 12px var(--mono); fill: var(--ink); }
    svg .soft { fill: var(--soft); }
    svg .edge { stroke: var(--soft); stroke-width: 1.6; fill: none; }
    svg .spent { fill: var(--card); stroke: var(--soft); stroke-width: 1.8; }
    svg .current { fill: var(--good); stroke: var(--good); stroke-width: 1.8; }
    svg .dead { fill: var(--bad); stroke: var(--bad); stroke-width: 1.8; }
    svg .lapsed { fill: var(--warn); stroke: var(--warn); stroke-width: 1.8; }
    .graph { position: relative; margin-top: 10px; }
    .graph > svg { position: absolute; left: 0; top: 0; }
    .graph ol { list-style: none; }
    .graph li { min-height: 58px; padding-top: 2px; }
    .graph li strong { margin-right: 6px; }
    .graph li.gap { min-height: 34px; color: var(--soft); font-size: .86rem; }
    #sequence { padding: 8px; max-width: 900px; margin: 0 auto; }
    #sequence > svg { display: block; width: 100%; height: auto; }
    #sequence .lane { stroke: var(--line); stroke-width: 2; }
    #sequence .head { font: 600 13px system-ui, sans-serif; text-anchor: middle; }
    #sequence .arrow { stroke: var(--ink); stroke-width: 1.6; fill: none; }
    #sequence .answer { stroke: var(--good); stroke-width: 1.6; stroke-dasharray: 5 3; fill: none; }
    #sequence .answer.warn { stroke: var(--warn); }
    #sequence .answer.bad { stroke: var(--bad); }
    #sequence text.good { fill: var(--good); } #sequence text.warn { fill: var(--warn); } #sequence text.bad { fill: var(--bad); }
    #sequence .cross { stroke: var(--bad); stroke-width: 2.4; }
    #sequence .jump { fill: var(--accent-soft); }
    #sequence text.jumped { fill: var(--accent); text-anchor: middle; }
    #sequence .mid { text-anchor: middle; }
    #sequence text.no { text-anchor: end; fill: var(--soft); font-size: 11px; }
    .policy { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 4px 14px; }
    .policy .wide { grid-column: 1 / -1; }
    fieldset { border: 1px solid var(--line); border-radius: 8px; margin: 12px 0 0; padding: 4px 14px 12px; min-width: 0; }
    legend { font-size: .86rem; color: var(--soft); padding: 0 6px; }
    #say { position: fixed; left: 50%; bottom: 18px; transform: translateX(-50%); max-width: min(560px, calc(100vw - 24px)); background: var(--ink); color: var(--back); border-radius: 10px; padding: 10px 16px; font-weight: 550; z-index: 6; box-shadow: 0 6px 24px rgb(0 0 0 / 25%); }
    #say:empty { display: none; }
    dialog { border: 1px solid var(--line); border-radius: 14px; background: var(--card); color: var(--ink); max-width: min(440px, calc(100vw - 32px)); padding: 20px; }
    dialog p { margin-top: 8px; }
    dialog .acts { justify-content: end; margin-top: 18px; }
    dialog::backdrop { background: rgb(10 14 25 / 50%); }
    @media (max-width: 900px) {
    .columns, .split, .split:has(> aside:not([hidden])) { grid-template-columns: minmax(0, 1fr); }
    .split > aside { grid-row: 1; position: static; max-height: none; }
    }
    @media (max-width: 640px) {
    body { padding: 0 12px 64px; }
    header { padding-top: 12px; }
    .realm { width: 100%; }
    .realm input { flex: 1 1 auto; width: auto; min-width: 0; }
    .now { width: 100%; flex-wrap: wrap; }
    .advance { display: grid; grid-template-columns: repeat(4, minmax(0, 1fr)); width: 100%; }
    .advance button { padding: 4px 2px; font-size: .88rem; }
    [role="tab"] { flex: 1 1 auto; padding: 6px 6px; font-size: .9rem; }
    .policy { grid-template-columns: minmax(0, 1fr); }
    .stack thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
    .stack, .stack tbody, .stack tr, .stack td { display: block; }
    .stack tr { padding: 10px 12px; border-bottom: 1px solid var(--line); }
    .stack tr:last-child { border-bottom: 0; }
    .stack td { padding: 3px 0; border: 0; }
    .list thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
    .list, .list tbody, .list td { display: block; }
    .list tr { display: grid; grid-template-columns: 3.2em minmax(0, 1fr) auto; gap: 2px 8px; padding: 8px 12px; border-bottom: 1px solid var(--line); align-items: start; }
    .list tr:last-child { border-bottom: 0; }
    .list td { padding: 0; border: 0; }
    .list td:nth-child(2) { display: none; }
    .list td:nth-child(5) { grid-column: 2 / -1; }
    .list button.link { padding: 0; min-height: 24px; }
    .session { grid-template-columns: minmax(0, 1fr); }
    }
    @media (prefers-reduced-motion: reduce) { *, *::before { animation: none !important; transition: none !important; } }
    @media (forced-colors: active) { .dot, svg .current, svg .dead, svg .lapsed { forced-color-adjust: none; } [role="tab"][aria-selected="true"] { border-bottom-color: Highlight; } }
    """#
}
