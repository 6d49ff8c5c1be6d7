import Groundwork

extension MockScript {
  /// The script's members as `PUT /__mock/scripts` takes them.
  func writeMembers(to json: inout JSONWriter) {
    switch target {
    case .operation(let operation): json.member("operation", operation.rawValue)
    case .endpoint(let method, let path): json.member("endpoint", "\(method) \(path)")
    }
    json.key("actions")
    json.array(actions) { $1.write(to: &$0) }
    json.member("then", then.rawValue)
  }
}

extension MockAction {
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
  func write(to json: inout JSONWriter) {
    switch self {
    case .fixed(let duration): json.string(duration.text)
    case .uniform(let least, let most):
      json.object { json in
        json.member("distribution", "uniform")
        json.member("min", least.text)
        json.member("max", most.text)
      }
    case .lognormal(let median, let sigma):
      json.object { json in
        json.member("distribution", "lognormal")
        json.member("median", median.text)
        json.key("sigma")
        json.value(.number(sigma))
      }
    }
  }
}
