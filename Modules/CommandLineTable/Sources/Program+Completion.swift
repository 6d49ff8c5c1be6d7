extension Program {
  /// The completion script for a shell: commands, options, and the values of those that take one of a few words.
  ///
  /// The script stands alone and never runs the program, so that completing is fast and has no effect.
  /// bash: `source <(PROGRAM completion bash)`. zsh: save it as `_PROGRAM` in a folder of `fpath`. fish: save it as
  /// `PROGRAM.fish` in `~/.config/fish/completions`.
  public func completion(for shell: Shell) -> String {
    let places = places(at: [root])
    switch shell {
    case .bash: return BashCompletion(name: root.name, places: places).script
    case .zsh: return ZshCompletion(name: root.name, places: places).script
    case .fish: return FishCompletion(name: root.name, places: places).script
    }
  }

  /// Every command of the table, from the root down, with what may stand behind it.
  private func places(at chain: [Command]) -> [CompletionPlace] {
    let command = chain[chain.count - 1]
    var words = command.commands.filter { !$0.isHidden }.map { (name: $0.name, help: $0.summary) }
    if chain.count == 1, !words.isEmpty { words.append(("help", "Show help of a command.")) }
    var options = chain.flatMap(\.options)
    if let word = command.defaultCommand, let next = command.commands.first(where: { $0.name == word }) {
      options += next.options
    }
    options = options.filter { !$0.isHidden }
    options.append(.flag("help", short: "h", "Show help."))
    options.append(.flag("version", "Show the version."))
    let place = CompletionPlace(
      path: chain.map(\.name).joined(separator: " "), commands: words, options: options,
      positionals: command.positionals)
    return [place] + command.commands.filter { !$0.isHidden }.flatMap { places(at: chain + [$0]) }
  }
}

/// A command as completion sees it.
struct CompletionPlace {
  let path: String
  let commands: [(name: String, help: String)]
  let options: [Option]
  let positionals: [Positional]

  /// Options as one types them, with what they do.
  var optionWords: [(name: String, help: String)] {
    options.flatMap { option in
      let both = option.isNegatable ? [option.spelled, "--no-\(option.name)"] : [option.spelled]
      return both.map { ($0, option.help) }
    }
  }

  /// The spellings of the options whose next word is their value.
  var valueOptions: [(spellings: [String], kind: Option.Kind)] {
    options.filter { $0.kind != .flag }.map { option in
      ([option.spelled] + (option.short.map { ["-\($0)"] } ?? []), option.kind)
    }
  }

  /// A text in single quotes, for any of the three shells.
  static func quoted(_ text: String) -> String {
    "'\(text.replacing("'", with: "'\\''"))'"
  }
}

private struct BashCompletion {
  let name: String
  let places: [CompletionPlace]

  var script: String {
    let function = "_\(name.map { $0.isLetter || $0.isNumber ? String($0) : "_" }.joined())"
    var lines = [
      "# bash completion for \(name)",
      "\(function)() {",
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} path=\(CompletionPlace.quoted(name))",
      "  local word i skip= count=0 ended= words=",
      "  COMPREPLY=()",
      "  # bash splits --name=value in three words.",
      "  if [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi",
      "  for ((i = 1; i < COMP_CWORD; i++)); do",
      "    word=${COMP_WORDS[i]}",
      "    if [[ $word == = ]]; then skip=1; continue; fi",
      "    if [[ $skip ]]; then skip=; continue; fi",
      "    if [[ $ended ]]; then count=$((count + 1)); continue; fi",
      "    case \"$path:$word\" in",
    ]
    for place in places {
      for command in place.commands where command.name != "help" {
        let pattern = CompletionPlace.quoted("\(place.path):\(command.name)")
        lines.append("      \(pattern)) path=\(CompletionPlace.quoted("\(place.path) \(command.name)")) ;;")
      }
      let spellings = place.valueOptions.flatMap(\.spellings).map { CompletionPlace.quoted("\(place.path):\($0)") }
      if !spellings.isEmpty {
        lines.append("      \(spellings.joined(separator: "|"))) [[ ${COMP_WORDS[i+1]-} == = ]] || skip=1 ;;")
      }
    }
    lines += [
      "      *:--) ended=1 ;;", "      *:-*) ;;", "      *) count=$((count + 1)) ;;", "    esac", "  done",
      "  [[ $ended ]] || case \"$path:$prev\" in",
    ]
    for place in places {
      for (spellings, kind) in place.valueOptions {
        let pattern = spellings.map { CompletionPlace.quoted("\(place.path):\($0)") }.joined(separator: "|")
        lines.append("    \(pattern)) \(reply(kind)); return ;;")
      }
    }
    lines += ["  esac", "  if [[ $cur == -* && ! $ended ]]; then", "    case \"$path\" in"]
    for place in places {
      let words = place.optionWords.map(\.name).joined(separator: " ")
      lines.append("      \(CompletionPlace.quoted(place.path))) words=\(CompletionPlace.quoted(words)) ;;")
    }
    lines += ["    esac", "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))", "    return", "  fi"]
    lines.append("  case \"$path:$count\" in")
    for place in places {
      if !place.commands.isEmpty {
        let words = place.commands.map(\.name).joined(separator: " ")
        let pattern = CompletionPlace.quoted("\(place.path):0")
        lines.append("    \(pattern)) COMPREPLY=($(compgen -W \(CompletionPlace.quoted(words)) -- \"$cur\")) ;;")
      }
      for (index, positional) in place.positionals.enumerated() {
        let number = positional.isRepeated ? "*" : CompletionPlace.quoted("\(index)")
        lines.append("    \(CompletionPlace.quoted("\(place.path):"))\(number)) \(reply(positional.kind)) ;;")
      }
    }
    return (lines + ["  esac", "}", "complete -F \(function) \(name)", ""]).joined(separator: "\n")
  }

  private func reply(_ kind: Option.Kind) -> String {
    switch kind {
    case .choice(let words):
      "COMPREPLY=($(compgen -W \(CompletionPlace.quoted(words.joined(separator: " "))) -- \"$cur\"))"
    case .file: "COMPREPLY=($(compgen -f -- \"$cur\"))"
    case .folder: "COMPREPLY=($(compgen -d -- \"$cur\"))"
    case .flag, .text, .integer, .duration: ":"
    }
  }
}

private struct ZshCompletion {
  let name: String
  let places: [CompletionPlace]

  var script: String {
    let function = "_\(name.map { $0.isLetter || $0.isNumber ? String($0) : "_" }.joined())"
    var lines = [
      "#compdef \(name)",
      "\(function)() {",
      "  local place=\(CompletionPlace.quoted(name)) word skip= ended= count=0 i",
      "  local -a rows",
      "  for ((i = 2; i < CURRENT; i++)); do",
      "    word=$words[i]",
      "    if [[ -n $skip ]]; then skip=; continue; fi",
      "    if [[ -n $ended ]]; then ((count++)); continue; fi",
      "    case \"$place:$word\" in",
    ]
    for place in places {
      for command in place.commands where command.name != "help" {
        let pattern = CompletionPlace.quoted("\(place.path):\(command.name)")
        lines.append("      (\(pattern)) place=\(CompletionPlace.quoted("\(place.path) \(command.name)")) ;;")
      }
      let spellings = place.valueOptions.flatMap(\.spellings).map { CompletionPlace.quoted("\(place.path):\($0)") }
      if !spellings.isEmpty { lines.append("      (\(spellings.joined(separator: "|"))) skip=1 ;;") }
    }
    lines += ["      (*:--) ended=1 ;;", "      (*:-*) ;;", "      (*) ((count++)) ;;", "    esac", "  done"]
    // A value behind = is completed like one behind a space.
    lines += [
      "  local option=$words[CURRENT-1]",
      "  if [[ -z $ended && $words[CURRENT] == --*=* ]]; then",
      "    option=${words[CURRENT]%%=*}; compset -P '*='; skip=1",
      "  fi",
      "  if [[ -n $skip ]]; then", "    case \"$place:$option\" in",
    ]
    for place in places {
      for (spellings, kind) in place.valueOptions {
        let pattern = spellings.map { CompletionPlace.quoted("\(place.path):\($0)") }.joined(separator: "|")
        lines.append("      (\(pattern)) \(reply(kind)) ;;")
      }
    }
    lines += [
      "    esac", "    return", "  fi", "  if [[ -z $ended && $words[CURRENT] == -* ]]; then", "    case $place in",
    ]
    for place in places {
      lines.append("      (\(CompletionPlace.quoted(place.path))) rows=(\(rows(place.optionWords))) ;;")
    }
    lines += ["    esac", "    _describe -o option rows", "    return", "  fi", "  case \"$place:$count\" in"]
    for place in places {
      if !place.commands.isEmpty {
        let pattern = CompletionPlace.quoted("\(place.path):0")
        lines.append("    (\(pattern)) rows=(\(rows(place.commands))); _describe command rows ;;")
      }
      for (index, positional) in place.positionals.enumerated() {
        let number = positional.isRepeated ? "*" : CompletionPlace.quoted("\(index)")
        lines.append("    (\(CompletionPlace.quoted("\(place.path):"))\(number)) \(reply(positional.kind)) ;;")
      }
    }
    // Sourced, it registers itself; found in fpath, it is the function's body.
    lines += [
      "  esac", "}", "if [[ $funcstack[1] == \(function) ]]; then", "  \(function) \"$@\"", "else",
      "  compdef \(function) \(name)", "fi", "",
    ]
    return lines.joined(separator: "\n")
  }

  private func rows(_ words: [(name: String, help: String)]) -> String {
    words.map { CompletionPlace.quoted("\($0.name):\($0.help.replacing(":", with: "\\:"))") }.joined(separator: " ")
  }

  private func reply(_ kind: Option.Kind) -> String {
    switch kind {
    case .choice(let words): "compadd -- \(words.map(CompletionPlace.quoted).joined(separator: " "))"
    case .file: "_files"
    case .folder: "_files -/"
    case .flag, .text, .integer, .duration: ":"
    }
  }
}

private struct FishCompletion {
  let name: String
  let places: [CompletionPlace]

  var script: String {
    let function = "__\(name.map { $0.isLetter || $0.isNumber ? String($0) : "_" }.joined())_place"
    var lines = [
      "# fish completion for \(name)",
      "function \(function)",
      "  set -l place \(CompletionPlace.quoted(name))",
      "  set -l skip 0",
      "  set -l count 0",
      "  for word in (commandline -opc)[2..-1]",
      "    if test $skip = 1",
      "      set skip 0",
      "      continue",
      "    end",
      "    switch \"$place:$word\"",
    ]
    for place in places {
      for command in place.commands where command.name != "help" {
        lines.append("      case \(CompletionPlace.quoted("\(place.path):\(command.name)"))")
        lines.append("        set place \(CompletionPlace.quoted("\(place.path) \(command.name)"))")
      }
      let spellings = place.valueOptions.flatMap(\.spellings).map { CompletionPlace.quoted("\(place.path):\($0)") }
      if !spellings.isEmpty {
        lines += ["      case \(spellings.joined(separator: " "))", "        set skip 1"]
      }
    }
    lines += [
      "      case '*:-*'", "      case '*'", "        set count (math $count + 1)", "    end", "  end",
      "  echo \"$place:$count\"", "end", "complete -c \(name) -f",
    ]
    for place in places {
      let here = "string match -q -- \(CompletionPlace.quoted("\(place.path):*").fishInner) (\(function))"
      for command in place.commands {
        let start = "test (\(function)) = \(CompletionPlace.quoted("\(place.path):0").fishInner)"
        lines.append(
          "complete -c \(name) -n \"\(start)\" -a \(command.name) -d \(CompletionPlace.quoted(command.help))")
      }
      for option in place.options {
        let short = option.short.map { " -s \($0)" } ?? ""
        let help = CompletionPlace.quoted(option.help)
        lines.append("complete -c \(name) -n \"\(here)\" -l \(option.name)\(short)\(value(option.kind)) -d \(help)")
        if option.isNegatable {
          lines.append("complete -c \(name) -n \"\(here)\" -l no-\(option.name) -d \(help)")
        }
      }
      for (index, positional) in place.positionals.enumerated() {
        let arguments = argument(positional.kind)
        guard !arguments.isEmpty else { continue }
        let number = positional.isRepeated ? "*" : "\(index)"
        let pattern = CompletionPlace.quoted("\(place.path):\(number)").fishInner
        lines.append("complete -c \(name) -n \"string match -q -- \(pattern) (\(function))\"\(arguments)")
      }
    }
    return (lines + [""]).joined(separator: "\n")
  }

  private func value(_ kind: Option.Kind) -> String {
    switch kind {
    case .flag: ""
    case .choice(let words): " -x -a \(CompletionPlace.quoted(words.joined(separator: " ")))"
    case .file: " -r -F"
    case .folder: " -x -a '(__fish_complete_directories)'"
    case .text, .integer, .duration: " -x"
    }
  }

  private func argument(_ kind: Option.Kind) -> String {
    switch kind {
    case .choice(let words): " -a \(CompletionPlace.quoted(words.joined(separator: " ")))"
    case .file: " -F"
    case .folder: " -a '(__fish_complete_directories)'"
    case .flag, .text, .integer, .duration: ""
    }
  }
}

extension String {
  /// A quoted text as it stands inside double quotes of fish.
  fileprivate var fishInner: String {
    replacing("$", with: "\\$")
  }
}
