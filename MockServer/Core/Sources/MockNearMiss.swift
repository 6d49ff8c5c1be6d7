import Groundwork

/// The script that a request nearly was for, and why it was not.
public struct MockNearMiss: Sendable, Hashable {
  /// The script's target: an operation, or a method and a path.
  public var script: String
  /// Why the script did not take the request, as a sentence's end: "the method is GET".
  public var reason: String

  /// Makes a near miss.
  public init(script: String, reason: String) {
    self.script = script
    self.reason = reason
  }
}

/// The request that came nearest to a script.
public struct MockNearRequest: Sendable, Hashable {
  /// Its number in the journal.
  public var seq: Int
  /// Why the script did not take it.
  public var reason: String
}

extension MockNearRequest {
  func write(to writer: inout JSONWriter) {
    writer.object { json in
      json.member("seq", seq)
      json.member("reason", reason)
    }
  }
}

extension ScriptTable {
  /// The script that a request was nearest to, if it was near any; the script remembers the request.
  ///
  /// Asked only about requests that no script took. Of two scripts that are equally near, the one with the lesser name is told.
  mutating func nearMiss(of call: RealmState.Call, seq: Int) -> MockNearMiss? {
    guard !scripts.isEmpty else { return nil }
    var best: (rank: Int, target: MockScript.Target, reason: String)?
    for (target, progress) in scripts {
      guard let (rank, reason) = Self.distance(of: call, to: target, progress) else { continue }
      if let best, (best.rank, best.target.text) <= (rank, target.text) { continue }
      best = (rank, target, reason)
    }
    guard let best else { return nil }
    // One that is used up waits for nothing.
    if best.rank > 0 { remember(MockNearRequest(seq: seq, reason: best.reason), for: best.target) }
    return MockNearMiss(script: best.target.text, reason: best.reason)
  }

  /// How far a request is from a script, and what parts them; nil if they have nothing to do with each other.
  private static func distance(
    of call: RealmState.Call, to target: MockScript.Target, _ progress: Progress
  ) -> (rank: Int, reason: String)? {
    switch target {
    case .operation(let operation):
      if operation == call.operation { return (0, usedUp(progress)) }
      guard call.operation == .unknown else { return nil }
      if let route = call.route, route.operations.contains(operation) {
        return (1, "the method is \(shown(call.request.method)), not \(route.allow)")
      }
      let paths = Route.paths(of: operation)
      guard call.route == nil, let nearest = Self.nearest(to: call.path, among: paths) else { return nil }
      return (3, "there is no endpoint \(shown(call.path)); the nearest of this operation is \(nearest)")
    case .endpoint(let method, let path):
      if path == call.path {
        if method == call.request.method { return (0, usedUp(progress)) }
        return (1, "the method is \(shown(call.request.method))")
      }
      if method == call.request.method, path.hasPrefix("/r/"), path.hasSuffix(call.path) {
        return (1, "a script's path is without the realm: \(shown(call.path))")
      }
      if method == call.request.method, path.contains("?"), path.hasPrefix("\(call.path)?") {
        return (1, "a script's path is without the query: \(shown(call.path))")
      }
      if let scripted = Route.at(path).first, let asked = call.route, scripted.dialect != asked.dialect,
        scripted.operations.contains(call.operation)
      {
        return (2, "the path is \(shown(call.path)), in another dialect; a script for the operation takes both")
      }
      guard method == call.request.method, call.route == nil || Route.at(path).isEmpty,
        Self.nearest(to: call.path, among: [path]) != nil
      else { return nil }
      return (3, "the path is \(shown(call.path))")
    }
  }

  private static func usedUp(_ progress: Progress) -> String {
    let count = progress.script.actions.reduce(0) { $0 + $1.times }
    return count == 1 ? "its one action is used up" : "its \(count) actions are used up"
  }

  private static func nearest(to path: String, among paths: [String]) -> String? {
    nearestName(to: path, among: paths)
  }

  /// What a request says about itself, as the journal would have it.
  private static func shown(_ text: String) -> String { Secrets.masked(String(text.prefix(256))) }
}
