public import Groundwork

extension MockScript {
  /// Reads a script as the admin API and scenario files have it.
  ///
  /// - Throws: `MockServerError`, which names the unknown key or the bad value.
  public init(json: JSONValue) throws(MockServerError) {
    let fields = try FieldReader(json, at: "script", knows: ["operation", "endpoint", "actions", "then"])
    let operation = try fields.choice("operation", of: MockOperation.self)
    let endpoint = try fields.text("endpoint")
    switch (operation, endpoint) {
    case (let operation?, nil): target = .operation(operation)
    case (nil, let endpoint?):
      let parts = endpoint.split(separator: " ", omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty, parts[1].hasPrefix("/") else {
        throw fields.failure("\"endpoint\" is a method, a space and a path, say \"POST /auth/refresh\"")
      }
      target = .endpoint(method: parts[0].uppercased(), path: String(parts[1]))
    default: throw fields.failure("give either \"operation\" or \"endpoint\"")
    }
    guard let list = try fields.array("actions") else { throw fields.failure("\"actions\" is missing") }
    var actions: [MockAction] = []
    for (index, element) in list.enumerated() {
      actions.append(try MockAction(json: element, at: "actions[\(index)]"))
    }
    self.actions = actions
    then = try fields.choice("then", of: Then.self) ?? .real
    if then == .repeat, actions.isEmpty { throw fields.failure("there is nothing to repeat: \"actions\" is empty") }
  }
}

extension MockAction {
  /// Reads one ACTION.
  ///
  /// - Parameter place: how errors call it.
  /// - Throws: `MockServerError`, which names the unknown key or the bad value.
  public init(json: JSONValue, at place: String = "action") throws(MockServerError) {
    let fields = try FieldReader(
      json, at: place,
      knows: ["status", "body", "headers", "delay", "hold", "break", "phase", "after", "revoke", "times"])
    self.init()
    status = try fields.integer("status", in: 200...599)
    body = fields["body"]
    if let given = fields["headers"] {
      guard let members = given.object else { throw fields.failure("\"headers\" is an object of texts") }
      for (name, value) in members.sorted(by: { $0.key < $1.key }) {
        guard let text = value.string, MockAction.isFieldName(name), MockAction.isFieldValue(text) else {
          throw fields.failure("\"headers\": \"\(name)\" is no header field with a text value")
        }
        headers.append(MockRequest.Field(name, text))
      }
    }
    if let given = fields["delay"] { delay = try MockDelay(json: given, at: "\(place).delay") }
    hold = try fields.text("hold")
    breaks = try fields.choice("break", of: MockBreak.self)
    phase = try fields.choice("phase", of: MockPhase.self)
    after = try fields.integer("after", in: 0...(1 << 30))
    revoke = try fields.choice("revoke", of: MockRevokeTarget.self)
    times = try fields.integer("times", in: 1...1_000_000_000) ?? 1
    if after != nil, phase != .midBody, breaks != .truncate {
      throw fields.failure("\"after\" goes with \"phase\": \"mid-body\" or \"break\": \"truncate\"")
    }
    if phase == .midBody, let breaks, ![.close, .reset, .truncate].contains(breaks) {
      throw fields.failure("\"phase\": \"mid-body\" goes with \"break\": close, reset or truncate")
    }
  }

  private static func isFieldName(_ name: String) -> Bool {
    !name.isEmpty
      && name.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
      }
  }

  private static func isFieldValue(_ value: String) -> Bool {
    value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
  }
}

extension MockDelay {
  init(json: JSONValue, at place: String) throws(MockServerError) {
    if case .object = json {
      let fields = try FieldReader(json, at: place, knows: ["distribution", "min", "max", "median", "sigma"])
      switch try fields.text("distribution") {
      case "uniform":
        guard let least = try fields.duration("min"), let most = try fields.duration("max"), least <= most,
          fields["median"] == nil, fields["sigma"] == nil
        else { throw fields.failure("a uniform delay has \"min\" and \"max\", in this order") }
        self = .uniform(min: least, max: most)
      case "lognormal":
        guard let median = try fields.duration("median"), let sigma = try fields.number("sigma"), (0...10) ~= sigma,
          fields["min"] == nil, fields["max"] == nil
        else { throw fields.failure("a lognormal delay has \"median\" and \"sigma\", 0 to 10") }
        self = .lognormal(median: median, sigma: sigma)
      default: throw fields.failure("\"distribution\" is uniform or lognormal")
      }
    } else {
      guard let duration = FieldReader.duration(json) else {
        throw MockServerError(.invalidRequest, "\(place): a delay is a duration, say \"250ms\", or a distribution")
      }
      self = .fixed(duration)
    }
  }

  /// One delay, with the realm's own randomness; a day at most.
  func sample(_ random: inout SeededRandom) -> Duration {
    switch self {
    case .fixed(let duration): duration
    case .uniform(let least, let most):
      least + .clamped(seconds: (most - least).inSeconds * random.unit())
    case .lognormal(let median, let sigma):
      .clamped(seconds: min(median.inSeconds * SeededRandom.exponential(sigma * random.normal()), 86400))
    }
  }
}
