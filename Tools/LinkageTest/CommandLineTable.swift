import CommandLineTable

let program = Program(
  Command("tool", "Does one thing.", options: [.flag("now", "At once.")]), version: "1", exitCodes: [])
if case .run(let call) = try program.parse(["--now"]) { print(call.flag("now")) }
