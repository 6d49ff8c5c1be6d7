import Groundwork

extension MockScript {
  /// The members that `PUT /__mock/scripts` takes.
  func writeMembers(to json: inout JSONWriter) {
    switch target {
    case .operation(let operation): json.member("operation", operation.rawValue)
    case .endpoint: json.member("endpoint", target.text)
    }
    json.key("actions")
    json.array(actions) { $1.write(to: &$0) }
    json.member("then", then.rawValue)
  }
}

extension MockAction {
  /// The action as scripts have it: what it says, and nothing that it does not.
  func write(to writer: inout JSONWriter) {
    writer.object { json in
      if let status { json.member("status", status) }
      if let body {
        json.key("body")
        json.value(body)
      }
      if !headers.isEmpty {
        json.key("headers")
        json.object { json in
          for field in headers { json.member(field.name, field.value) }
        }
      }
      if let delay {
        json.key("delay")
        delay.write(to: &json)
      }
      if let hold { json.member("hold", hold) }
      if let breaks { json.member("break", breaks.rawValue) }
      if let phase { json.member("phase", phase.rawValue) }
      if let after { json.member("after", after) }
      if let revoke { json.member("revoke", revoke.rawValue) }
      if times != 1 { json.member("times", times) }
    }
  }
}

extension MockDelay {
  func write(to writer: inout JSONWriter) {
    switch self {
    case .fixed(let duration): writer.string(duration.text)
    case .uniform(let least, let most):
      writer.object { json in
        json.member("distribution", "uniform")
        json.member("min", least.text)
        json.member("max", most.text)
      }
    case .lognormal(let median, let sigma):
      writer.object { json in
        json.member("distribution", "lognormal")
        json.member("median", median.text)
        json.key("sigma")
        json.value(.number(sigma))
      }
    }
  }
}

extension MockRealm {
  /// Every script with how far it has got, in the order of their targets.
  public var scripts: [(script: MockScript, progress: MockScriptProgress)] {
    step { state, _, _ in
      state.scripts.scripts.map { target, progress in
        (script: progress.script, progress: MockScriptProgress(target: target, progress))
      }.sorted { $0.progress.target < $1.progress.target }
    }
  }
}
