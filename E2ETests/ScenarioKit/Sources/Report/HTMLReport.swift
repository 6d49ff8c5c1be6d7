/// A run as one HTML page that needs nothing else: summary, filter, and for each run its steps, its journal and a sequence diagram.
package enum HTMLReport {
  /// The page's text.
  package static func text(
    _ reports: [ScenarioReport], title: String = "Scenarios", introduction: String = ""
  ) -> String {
    let counts = { (result: ScenarioReport.Result) in reports.count { $0.result == result } }
    let seconds = reports.reduce(0) { $0 + $1.seconds }
    let cards = reports.map(card).joined(separator: "\n")
    return """
      <!doctype html>
      <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
      <title>\(escaped(title)): \(counts(.passed)) passed, \(counts(.failed) + counts(.known)) failed</title>
      <style>\(style)</style></head><body>
      <header><h1>\(escaped(title))</h1>
      <p class="counts"><span class="passed">\(counts(.passed)) passed</span> <span class="failed">\(counts(.failed)) failed</span>
      \(counts(.known) > 0 ? "<span class=\"known\">\(counts(.known)) failed as expected</span>" : "")
      <span class="skipped">\(counts(.skipped)) skipped</span> <span>\(TerminalReport.milliseconds(seconds)) in all</span></p>
      <p><input id="text" type="search" placeholder="Filter by name, id, driver or file" aria-label="Filter">
      <label><input type="checkbox" class="kind" value="passed" checked> passed</label>
      <label><input type="checkbox" class="kind" value="failed" checked> failed</label>
      <label><input type="checkbox" class="kind" value="known" checked> failed as expected</label>
      <label><input type="checkbox" class="kind" value="skipped"> skipped</label></p></header>
      \(introduction)
      <main>
      \(cards)
      </main>
      <script>\(script)</script>
      </body></html>

      """
  }

  private static func card(_ report: ScenarioReport) -> String {
    let scenario = report.scenario
    let search = [scenario.name, scenario.file, report.driver, scenario.report ?? ""] + scenario.covers
    let mark = ["passed": "✓", "failed": "✗", "skipped": "–", "known": "≈"][report.result.rawValue] ?? ""
    let ids = scenario.covers.map { "<span class=\"id\">\(escaped($0))</span>" }.joined(separator: " ")
    let issue = scenario.report.map { "<span class=\"id\">\(escaped($0))</span>" } ?? ""
    return """
      <details class="run \(report.result.rawValue)" data-search="\(escaped(search.joined(separator: " ").lowercased()))"\(report.result == .failed ? " open" : "")>
      <summary><span class="mark">\(mark)</span> \(escaped(scenario.name)) <span class="driver">\(report.driver)</span>
      <span class="time">\(report.result == .skipped ? "" : TerminalReport.milliseconds(report.seconds))</span></summary>
      <p>\(ids) \(issue) <span class="file">\(escaped(scenario.file))</span></p>
      \(body(report))
      </details>
      """
  }

  private static func body(_ report: ScenarioReport) -> String {
    if report.result == .skipped { return "<p>Skipped: \(escaped(report.skipReason ?? ""))</p>" }
    let known = report.skipReason.map { "<p>Known: \(escaped($0))</p>" } ?? ""
    let unjudged =
      report.unjudged.isEmpty
      ? "" : "<p>Not judged, since the client does not tell it: \(escaped(report.unjudged.joined(separator: ", ")))</p>"
    let failures = report.failures.map { failure in
      "<div class=\"failure\"><p>\(escaped(failure.place))</p><dl><dt>expected</dt><dd>\(escaped(failure.expected))</dd><dt>seen</dt><dd>\(escaped(failure.seen))</dd></dl></div>"
    }
    let steps = report.steps.map { step in
      "<tr class=\"\(step.passed ? "" : "bad")\"><td>\(step.line)</td><td>\(escaped(step.title))</td><td>\(escaped(step.seen))</td></tr>"
    }
    let journal = report.journal.prefix(400).map { entry in
      "<tr><td>\(entry.sequence)</td><td>\(escaped(String(entry.at.dropFirst(11))))</td><td>\(escaped(entry.operation))</td><td>\(escaped(entry.request))</td><td>\(entry.status)</td><td>\(escaped(entry.outcome))\(entry.fault.map { ", broken: \(escaped($0))" } ?? "")</td></tr>"
    }
    return """
      \(known)\(unjudged)\(failures.joined(separator: "\n"))
      <div class="columns"><div><table><thead><tr><th>line</th><th>step</th><th>seen</th></tr></thead><tbody>\(steps.joined())</tbody></table></div>
      <div>\(SequenceDiagram(report).svg)</div></div>
      <details><summary>the server's journal (\(report.journal.count))</summary>
      <table><thead><tr><th>#</th><th>at</th><th>operation</th><th>request</th><th>status</th><th>outcome</th></tr></thead><tbody>\(journal.joined())</tbody></table></details>
      """
  }

  static func escaped(_ text: String) -> String { JUnitReport.escaped(text) }

  private static let style = """
    :root{color-scheme:light dark;--back:#fff;--text:#1b1f24;--soft:#5b6570;--line:#d8dee4;--good:#1a7f37;--bad:#b3261e;--skip:#7a6000;--card:#f6f8fa}
    @media (prefers-color-scheme:dark){:root{--back:#0f1419;--text:#e6e9ec;--soft:#9aa5b1;--line:#30363d;--good:#57c06f;--bad:#ff8a80;--skip:#e0b84a;--card:#171d24}}
    body{margin:0 auto;max-width:1200px;padding:24px;background:var(--back);color:var(--text);font:15px/1.5 system-ui,sans-serif}
    h1{margin:0 0 8px;font-size:24px}.counts span{margin-right:16px;font-weight:600}.passed .mark,.counts .passed{color:var(--good)}
    .failed .mark,.counts .failed{color:var(--bad)}.skipped .mark,.counts .skipped,.known .mark,.counts .known{color:var(--skip)}ul{margin:0;padding-left:16px;list-style:none}li.failed{color:var(--bad)}
    input[type=search]{font:inherit;padding:6px 10px;width:340px;max-width:100%;background:var(--card);color:inherit;border:1px solid var(--line);border-radius:6px}
    label{margin-left:12px;color:var(--soft)}details.run{border:1px solid var(--line);border-radius:8px;margin:8px 0;padding:8px 14px;background:var(--card)}
    details.failed{border-color:var(--bad)}summary{cursor:pointer}.driver,.id,.time,.file{color:var(--soft);font-size:13px;margin-left:8px}
    .id{border:1px solid var(--line);border-radius:4px;padding:0 5px;margin:0 2px}table{border-collapse:collapse;width:100%;font-size:13px}
    th,td{text-align:left;padding:3px 8px;border-bottom:1px solid var(--line);vertical-align:top}th{color:var(--soft);font-weight:500}
    tr.bad td{color:var(--bad)}.failure{border-left:3px solid var(--bad);padding:2px 12px;margin:8px 0}.failure dl{margin:0;display:grid;grid-template-columns:80px 1fr;font-family:ui-monospace,monospace;font-size:13px}
    dd{margin:0;overflow-wrap:anywhere}.columns{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:20px}@media(max-width:800px){.columns{grid-template-columns:1fr}}
    svg{max-width:100%;height:auto}svg text{font:12px ui-monospace,monospace;fill:var(--text);paint-order:stroke;stroke:var(--card);stroke-width:4px;stroke-linejoin:round}svg .lane{stroke:var(--line)}svg .arrow{stroke:var(--soft);fill:none}
    svg .refresh{stroke:#3a78c9}svg .fault{stroke:var(--bad)}svg .step{fill:var(--soft)}[hidden]{display:none}
    """

  private static let script = """
    const text=document.getElementById('text'),kinds=[...document.querySelectorAll('.kind')],runs=[...document.querySelectorAll('details.run')];
    function show(){const t=text.value.toLowerCase(),on=new Set(kinds.filter(k=>k.checked).map(k=>k.value));
    for(const r of runs){r.hidden=!(r.dataset.search.includes(t)&&[...on].some(k=>r.classList.contains(k)))}}
    text.addEventListener('input',show);kinds.forEach(k=>k.addEventListener('change',show));show();
    """
}
