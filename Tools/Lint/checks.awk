# The checks of Tools/Lint/run. Plain POSIX awk without interval expressions, so that mawk, gawk and the BSD awk all run it.
# Every file is read twice: pass 1 collects, pass 2 reports.

function report(check, what, remedy) {
  if (allowed(check)) return
  printf "%s:%d: [%s] %s. Remedy: %s.\n", FILENAME, FNR, check, what, remedy
  violations++
}

# Whether a `lint:` comment at the end of this line, or alone on the line above, allows this check.
function allowed(check) {
  if (allow_here == check) { used[FILENAME, FNR] = 1; return 1 }
  if (allow_above == check) { used[FILENAME, FNR - 1] = 1; return 1 }
  return 0
}

# The check that a line's `// lint: CHECK because REASON` names, or "".
function allowance(text,    words, n) {
  if (!match(text, /\/\/ lint: [a-z-]+ because .........../)) return ""
  n = split(substr(text, RSTART), words, " ")
  return n > 4 ? words[3] : ""
}

# The line as code: no comment, string literals emptied. Sets in_text inside a multi-line literal.
function code_of(text,    out, i, c, quoted) {
  if (in_text) {
    if (index(text, "\"\"\"") == 0) return ""
    in_text = 0
    text = substr(text, index(text, "\"\"\"") + 3)
  }
  out = ""; quoted = 0
  for (i = 1; i <= length(text); i++) {
    c = substr(text, i, 1)
    if (quoted) {
      if (c == "\\") i++
      else if (c == "\"") { quoted = 0; out = out "\"" }
      continue
    }
    if (substr(text, i, 3) == "\"\"\"") {
      if (index(substr(text, i + 3), "\"\"\"") == 0) { in_text = 1; return out "\"\"" }
      i += 2 + index(substr(text, i + 3), "\"\"\"") + 2
      out = out "\"\""
      continue
    }
    if (c == "\"") { quoted = 1; out = out "\""; continue }
    if (substr(text, i, 2) == "//") return out
    out = out c
  }
  return out
}

# The name that a declaration declares: `func name(`, `var name`, `init(label:` …
function declared_name(text,    rest) {
  rest = text
  sub(/^[ ]*(@[A-Za-z]+(\([^)]*\))? +)*/, "", rest)
  gsub(/(public|package|internal|open|static|final|class|nonisolated|mutating|nonmutating|override|convenience|required|indirect|consuming|borrowing|async|weak|lazy|prefix|postfix|infix)(\(set\))? +/, "", rest)
  if (rest ~ /^func /) { sub(/^func +/, "", rest); sub(/[ (].*/, "", rest); if (rest ~ /^[A-Za-z_]/) sub(/<.*/, "", rest); return "func " rest }
  if (rest ~ /^(var|let) /) { sub(/^(var|let) +/, "", rest); sub(/[^A-Za-z0-9_`].*/, "", rest); return "var " rest }
  if (rest ~ /^init/) { sub(/^init[?!]?(<[^(]*>)?\(/, "", rest); sub(/[ :].*/, "", rest); return "init " rest }
  if (rest ~ /^typealias /) { sub(/^typealias +/, "", rest); sub(/[^A-Za-z0-9_].*/, "", rest); return "typealias " rest }
  return ""
}

# One `{` or `}` less or more.
function depth_change(text,    opens, closes, copy) {
  copy = text; opens = gsub(/\{/, "", copy)
  copy = text; closes = gsub(/\}/, "", copy)
  return opens - closes
}

function start_of_file() {
  in_text = 0; in_protocol = 0; documented = 0; commented = 0; allow_above = ""; branches = 0; previous_code = ""
  is_swift = FILENAME ~ /\.swift$/
  is_manifest = FILENAME == "Package.swift"
  is_test = FILENAME ~ /\/Tests\// || FILENAME ~ /^E2ETests\/Suites\//
  is_support = FILENAME ~ /^Modules\/AuthTestSupport\//
  in_modules = FILENAME ~ /^Modules\// && !is_test
  in_server = FILENAME ~ /^MockServer\// && !is_test
  in_rig = FILENAME ~ /^(E2ETests|Tools)\// && !is_test
  shipped = (in_modules || in_server) && !is_support
  is_api = shipped || FILENAME ~ /^E2ETests\/ScenarioKit\/Sources\//
  is_clock = FILENAME ~ /\/[A-Za-z+]*Clock[A-Za-z+]*\.swift$/
  is_bench = FILENAME ~ /^Tools\/Benchmarks\//
  may_print = FILENAME ~ /^(Modules\/(AuthCLI|chirp)|MockServer\/Executable|E2ETests\/Executable|Tools)\//
}

FNR == 1 { start_of_file() }

# ---- Pass 1: what is declared -------------------------------------------------------------------------------------------------

pass == 1 && FILENAME ~ /^Documentation\/(requirements|rules)\.md$/ {
  has_ids = 1
  text = $0
  while (match(text, /(D[1-5]\.[0-9]+|S[0-9]+)/)) {
    known_id[substr(text, RSTART, RLENGTH)] = 1
    text = substr(text, RSTART + RLENGTH)
  }
}

pass == 1 && FILENAME == "Tools/packages.txt" && !/^#/ && /\|/ {
  split($0, column, /[ ]*\|[ ]*/)
  listed[column[1]] = FNR
  if (column[2] ~ /command:/) is_program[column[1]] = 1
  count = split(column[3], names, " ")
  for (i = 1; i <= count; i++) needed_for[names[i]] = FNR
}

pass == 1 && FILENAME == "Makefile" {
  if (/^[a-z0-9-]+:/) { target = $1; sub(/:.*/, "", target); make_target[target] = 1 }
  if (/^\t\$\(require\)/) requires[target] = 1
}

pass == 1 && is_manifest && match($0, /apt: "[^"]+"/) { manifest_package[substr($0, RSTART + 6, RLENGTH - 7)] = 1 }

# The requirements of a public protocol carry the documentation of whatever implements them.
pass == 1 && is_swift && is_api {
  code = code_of($0)
  if (!in_protocol && code ~ /(public|package) protocol /) { in_protocol = 1; depth = 0 }
  else if (in_protocol && depth == 1) { name = declared_name(code); if (name != "") requirement[name] = 1 }
  if (in_protocol) { depth += depth_change(code); if (depth <= 0 && code ~ /\}/) in_protocol = 0 }
  next
}

pass == 1 { next }

# ---- Pass 2: the checks -------------------------------------------------------------------------------------------------------

{
  code = is_swift ? code_of($0) : ""
  allow_here = is_swift ? allowance($0) : ""
  if (allow_here != "" && !seen_allowance[FILENAME, FNR]++) {
    allowance_count++
    allowance_file[allowance_count] = FILENAME; allowance_line[allowance_count] = FNR; allowance_check[allowance_count] = allow_here
  } else if (is_swift && /\/\/ lint:/ && allow_here == "") {
    report("allowance", "an allowance without a check or a reason", "write `// lint: CHECK because REASON`, or repair the line")
  }
}

# Every kind of file.
/(^|[^A-Za-z0-9_])(TODO|FIXME|XXX|HACK)([^A-Za-z0-9_]|$)/ {
  report("marker", "a note to come back later", "do it now, or open an issue and leave no note")
}
# Anna is nobody: tests may give her a home.
/(\/home\/|\/Users\/|\/root\/)[A-Za-z0-9_.]/ && !/\/(home|Users)\/anna/ {
  report("home-path", "an absolute path of somebody's home", "take a path relative to the repository, or a temporary folder")
}

FILENAME ~ /^(Documentation\/|[A-Z]+\.md$)/ {
  text = $0
  while (match(text, /\]\([^)]+\)/)) {
    link = substr(text, RSTART + 2, RLENGTH - 3)
    text = substr(text, RSTART + RLENGTH)
    sub(/#.*/, "", link); sub(/ .*/, "", link)
    if (link == "" || link ~ /^[a-z]+:/) continue
    folder = FILENAME
    if (!sub(/\/[^\/]*$/, "", folder)) folder = "."
    if (link ~ /^\// || !exists(folder "/" link)) report("dead-link", "a link to " link ", which is not in the repository", "name a file that is there")
  }
}

function exists(path,    line, found, command) {
  gsub(/'/, "", path)
  command = "test -e '" path "' && echo yes"
  found = (command | getline line) > 0
  close(command)
  return found
}

has_ids && (is_swift || FILENAME ~ /\.(yaml|md)$/) {
  text = $0
  while (match(text, /(^|[^A-Za-z0-9_.\/#-])(D[1-5]\.[0-9]+|S[1-9][0-9]?)([^A-Za-z0-9_]|$)/)) {
    id = substr(text, RSTART, RLENGTH)
    text = substr(text, RSTART + RLENGTH - 1)
    gsub(/[^A-Z0-9.]/, "", id); sub(/\.$/, "", id); sub(/^\./, "", id)
    # Tests of the scenario reader need ids that do not exist: these two never will.
    if (id == "S99" || id == "D3.55") { if (text == "") break; continue }
    if (!(id in known_id)) report("unknown-id", "an id that no document explains: " id, "correct it, or explain it in Documentation/requirements.md or rules.md")
    if (text == "") break
  }
}

FILENAME == "Makefile" && /^[a-z0-9-]+:/ && !/^[a-z0-9-]+:.*## / && !/^\.PHONY/ {
  report("make-help", "a target that `make help` cannot tell about", "add `## what it does` to its line")
}

is_swift && !is_manifest {
  if (FNR == 601) report("long-file", "more than 600 lines", "move a topic into Type+Topic.swift")

  if ((shipped || in_rig || is_support) && FILENAME !~ /\/TaskStarter\.swift$/ &&
      code ~ /(^|[^A-Za-z0-9_.])Task[ ]*(<[^>]*>[ ]*)?(\{|\(|\.detached|\.immediate|\.init)/ && code !~ /(struct|class|enum|extension) Task/)
    report("task-start", "an unstructured task that no test can own", "start it through TaskStarter.start")

  if ((shipped || in_rig || is_support) && !is_clock && !is_bench &&
      code ~ /(^|[^A-Za-z0-9_])(Date\(\)|Date\.now|Date\(timeIntervalSinceNow|ContinuousClock\(\)|SuspendingClock\(\)|clock_gettime\(|gettimeofday\(|time\(nil\))/)
    report("clock", "logic that asks the system for the time", "take a TimeSource and ask it")
  if (!is_clock && code ~ /(^|[^A-Za-z0-9_])(Task\.sleep|usleep\(|nanosleep\(|Thread\.sleep|DispatchTime\.now)/)
    report("sleep", "a sleep in real time", is_test ? "wait for an event, or use VirtualClock" : "sleep on the injected TimeSource")

  if ((shipped || in_rig) && code ~ /(^|[^A-Za-z0-9_])(try!|as!|fatalError\(|preconditionFailure\(|unsafeBitCast\(|unowned\(unsafe\))/)
    report("trap", "code that ends the process", "throw an error, or return nil and handle it")

  # `try? container.decode(…)` in a Decodable asks which of several shapes is there; it drops nothing.
  if ((in_modules || in_server) && code ~ /(^|[^A-Za-z0-9_])try\?/ && code !~ /try\? [a-z]*[cC]ontainer\.decode[A-Za-z]*\(/)
    report("swallow", "an error that is dropped", "handle it, convert it, or let it through")

  if (code ~ /@unchecked Sendable|nonisolated\(unsafe\)/ && !commented)
    report("unchecked", "a promise to the compiler without its reason", "say in a comment directly above why it is safe")

  if (code ~ /#expect\((true|Bool\(true\)|1 == 1)\)|XCTAssertTrue\(true\)|XCTAssert\(true\)/ || code ~ /@Test\(.*\.disabled/)
    report("hollow-test", "a test that cannot fail", "expect what the rule promises")

  if ((shipped || FILENAME ~ /^E2ETests\/ScenarioKit\/Sources\//) && code ~ /^[ ]*(public |package |internal )?(@testable )?import (AuthTestSupport|Testing|XCTest)([^A-Za-z]|$)/)
    report("test-import", "shipped code that imports test support", "move it into a test target, or into AuthTestSupport")

  if (in_server && code ~ /import Auth[A-Z]/ && !(FILENAME ~ /^MockServer\/InProcess\// && code ~ /import Auth(Networking|Models)([^A-Za-z]|$)/))
    report("independence", "the mock server importing a client module", "write the wire format here once more, from Documentation/wire.md")

  if (code ~ /^[ ]*#if /) branch[++branches] = code
  else if (code ~ /^[ ]*#(else|elseif)/) branch[branches] = code " after " branch[branches]
  else if (code ~ /^[ ]*#endif/ && branches > 0) branches--
  if (shipped && code ~ /import Foundation(Networking)?([^A-Za-z]|$)/ && FILENAME !~ /AuthNetworkingURLSession\// && !guarded_import())
    report("heavy-import", "the whole of Foundation, which costs every start 5 ms and more", "import FoundationEssentials where it can be, Foundation only in the #else")

  if ((in_modules || in_server) && !may_print && code ~ /(^|[^A-Za-z0-9_.])(print|debugPrint|dump)\(/ && code !~ /(case|func) (print|dump)\(/)
    report("stray-print", "a library that writes to standard output", "return the text, or throw")

  if ($0 ~ /^[ ]*\/\/ *((let|var) [A-Za-z_]+ *[=:] *[A-Za-z"[(]|func [A-Za-z_]+\(|import [A-Z][A-Za-z]+$|return [a-z][A-Za-z]*\(.*\)$|print\(|try (await )?[a-z][A-Za-z.]*\(|(public|private|package) (let|var|func|struct|final)|\}$)/)
    report("dead-code", "code in a comment", "delete it; the history keeps it")

  if (is_api) check_documentation()

  # What the next line may rely on.
  if ($0 ~ /^[ ]*\/\/\//) documented = 1
  else if (code !~ /^[ ]*@[A-Za-z(]/ || code ~ /(func|var|let|struct|class|enum|actor|init|protocol) /) documented = 0
  commented = $0 ~ /^[ ]*\/\//
  if (code ~ /[^ ]/) previous_code = code
}

{ allow_above = (is_swift && $0 ~ /^[ ]*\/\//) ? allow_here : "" }

# Inside the #else of FoundationEssentials, or where only Apple's systems compile.
function guarded_import(    i) {
  for (i = 1; i <= branches; i++) {
    if (branch[i] ~ /#else.*canImport\(FoundationEssentials\)/) return 1
    if (branch[i] ~ /^[ ]*#if canImport\((SwiftUI|Darwin|os|Security|ObjectiveC)/) return 1
  }
  return 0
}

function check_documentation(    name) {
  if (!in_protocol && code ~ /public protocol /) {
    in_protocol = 1; depth = 0
  } else if (in_protocol && depth == 1 && code ~ /^[ ]*(static |mutating |@[A-Za-z]+ )*(func|var|init|subscript|associatedtype)[ (<]/) {
    if (!documented && code !~ /^[ ]*associatedtype/) report("undocumented", "a requirement without a doc comment", "say in a `///` line what whoever implements it promises")
  }
  if (in_protocol) { depth += depth_change(code); if (depth <= 0 && code ~ /\}/) in_protocol = 0 }

  if (code !~ /^[ ]*(@[A-Za-z]+(\([^)]*\))? +)*public / || code ~ /public (import|extension|internal)/ || documented) return
  if (code !~ /(func|var|let|struct|class|enum|actor|protocol|init|subscript|typealias|case)([ (<?]|$)/) return
  name = declared_name(code)
  if (name in requirement) return
  if (name ~ /^func (==|<|hash|encode|makeIterator|next|resolve|enqueue)$/) return
  if (name ~ /^var (description|debugDescription|customMirror|errorDescription|failureReason|recoverySuggestion|localizedDescription|hashValue|id|body|rawValue|unownedExecutor)$/) return
  if (name ~ /^init (from|stringLiteral|integerLiteral|floatLiteral|booleanLiteral|arrayLiteral|dictionaryLiteral|nilLiteral|rawValue)$/) return
  if (name ~ /^typealias (Element|AsyncIterator|RawValue|Body|ID|Failure)$/) return
  # A list of named values stands under one comment, that of their type.
  if (code ~ /public static let [A-Za-z0-9_`]+(: [A-Z][A-Za-z0-9.]*)? = / && name ~ /^var /) return
  report("undocumented", "a public declaration without a doc comment", "say in a `///` line what it is for, in which units, what it throws, and which rule it keeps")
}

END {
  for (i = 1; i <= allowance_count; i++)
    if (!((allowance_file[i], allowance_line[i]) in used)) {
      printf "%s:%d: [allowance] `lint: %s` allows nothing here. Remedy: delete it.\n", allowance_file[i], allowance_line[i], allowance_check[i]
      violations++
    }
  for (name in manifest_package) if (!(name in listed)) {
    printf "Package.swift:1: [packages] %s is not in Tools/packages.txt. Remedy: list it there with its reason.\n", name; violations++
  }
  for (name in listed) if (!(name in manifest_package) && !(name in is_program)) {
    printf "Tools/packages.txt:%d: [packages] no target of Package.swift asks for %s. Remedy: delete the line.\n", listed[name], name; violations++
  }
  for (name in requires) if (name != "bootstrap" && !(name in needed_for)) {
    printf "Makefile:1: [packages] make %s asks Tools/require, but no line of Tools/packages.txt names it. Remedy: name it there, or do not ask.\n", name; violations++
  }
  for (name in needed_for) if (!(name in requires)) {
    printf "Tools/packages.txt:%d: [packages] make %s does not ask Tools/require, or is no target. Remedy: add $(require) to it, or delete its name.\n", needed_for[name], name; violations++
  }
  if (violations) {
    printf "lint: %d violation%s.\n", violations, violations == 1 ? "" : "s"
    exit 1
  }
  print "lint: no violation."
}
