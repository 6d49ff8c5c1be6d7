import CheckedYAML
import Groundwork
import MockServerCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Makes a configuration from a file's text: YAML, then shape, then what the admin API would say to each part.
///
/// Every mistake is told once, with its place; below a wrong place nothing more is told.
struct ConfigurationReader {
  /// Mistakes, in the order of the file.
  struct Mistakes: Error {
    var diagnostics: [Diagnostic]
  }

  private let file: String
  private var found: [Diagnostic] = []

  private init(file: String) { self.file = file }

  /// Reads a configuration file.
  ///
  /// - Parameters:
  ///   - base: what holds where the file says nothing.
  ///   - overrides: what stands above the file: the options of the command line. A realm's own policy stands above them.
  static func configuration(
    _ text: String, file: String, onto base: MockServerConfiguration = MockServerConfiguration(),
    overrides: (inout MockServerConfiguration) -> Void = { _ in }
  ) throws(Mistakes) -> MockServerConfiguration {
    let root = try read(text, file: file)
    var reader = ConfigurationReader(file: file)
    var configuration = base
    if reader.fits(root, ConfigurationFormat.file) {
      reader.apply(root, to: &configuration)
      overrides(&configuration)
      for entry in root["realms"]?.entries ?? [] {
        guard MockRealm.isName(entry.key) else {
          reader.fault(
            entry.mark, "no realm can have this name: 1 to 64 letters, digits, \"-\", \"_\" or \".\" make one")
          continue
        }
        configuration.realms[entry.key] = reader.realm(entry.value, policy: configuration.policy)
      }
    }
    return try reader.result(configuration)
  }

  /// Reads a file of scripts: one, or a list of them.
  static func scripts(_ text: String, file: String) throws(Mistakes) -> [MockScript] {
    let root = try read(text, file: file)
    var reader = ConfigurationReader(file: file)
    var scripts: [MockScript] = []
    if reader.fits(root, ConfigurationFormat.scriptFile) {
      scripts = reader.scripts(root.entries.isEmpty ? root.elements : [root])
    }
    return try reader.result(scripts)
  }

  /// What kind of file it is, by its root: a list, or a mapping with `actions`, holds scripts.
  static func holdsScripts(_ text: String, file: String) throws(Mistakes) -> Bool {
    let root = try read(text, file: file)
    return !root.elements.isEmpty || root["actions"] != nil || root["operation"] != nil || root["endpoint"] != nil
  }

  private static func read(_ text: String, file: String) throws(Mistakes) -> YAMLNode {
    do throws(Diagnostic) {
      return try YAMLReader.read(text, file: file)
    } catch {
      throw Mistakes(diagnostics: [error])
    }
  }

  private func result<Value>(_ value: Value) throws(Mistakes) -> Value {
    guard found.isEmpty else {
      throw Mistakes(
        diagnostics: found.sorted { ($0.mark.line, $0.mark.column) < ($1.mark.line, $1.mark.column) })
    }
    return value
  }

  private mutating func fault(_ mark: Mark, _ message: String) {
    found.append(Diagnostic(file: file, mark: mark, message: message))
  }

  /// Whether a node has its shape; what is wrong with it is noted.
  private mutating func fits(_ node: YAMLNode, _ shape: Shape) -> Bool {
    let wrong = shape.check(node, file: file)
    found += wrong
    return wrong.isEmpty
  }

  /// Does what may be refused, and notes the refusal at a place.
  private mutating func attempt<Value>(
    at mark: Mark, _ body: () throws(MockServerError) -> Value
  ) -> Value? {
    do throws(MockServerError) {
      return try body()
    } catch {
      fault(mark, error.message)
      return nil
    }
  }

  private mutating func apply(_ root: YAMLNode, to configuration: inout MockServerConfiguration) {
    let own = realm(root, policy: configuration.policy)
    configuration.policy = own.policy ?? configuration.policy
    configuration.clock = own.clock ?? configuration.clock
    configuration.startsAt = own.startsAt ?? configuration.startsAt
    configuration.users = own.users ?? configuration.users
    configuration.clients = own.clients ?? configuration.clients
    configuration.scripts = own.scripts ?? configuration.scripts
    configuration.feedItems = own.feedItems ?? configuration.feedItems
    configuration.seed = root["seed"]?.integer.map { UInt64(clamping: $0) } ?? configuration.seed
    configuration.journalCapacity = root["journalCapacity"]?.integer ?? configuration.journalCapacity
    configuration.maximumRealms = root["maximumRealms"]?.integer ?? configuration.maximumRealms
    configuration.maximumSessions = root["maximumSessions"]?.integer ?? configuration.maximumSessions
  }

  /// - Parameter policy: what a policy changes.
  private mutating func realm(_ node: YAMLNode, policy: MockPolicy) -> MockRealmConfiguration {
    var realm = MockRealmConfiguration()
    if let changes = node["policy"] {
      realm.policy = attempt(at: changes.mark) { () throws(MockServerError) in
        var changed = policy
        try changed.apply(changes.json)
        return changed
      }
    }
    realm.clock = node["clock"]?.text.flatMap(MockClockMode.init)
    if let now = node["now"], let text = now.text {
      realm.startsAt = MockRealm.date(from: text)
      if realm.startsAt == nil {
        fault(now.mark, "this is no ISO 8601 time from 1970 to 9999, say 2030-01-31T12:00:00Z")
      }
    }
    if let users = node["users"] { realm.users = self.users(users.elements) }
    if let clients = node["clients"] { realm.clients = self.clients(clients.elements) }
    if let list = node["scripts"] { realm.scripts = scripts(list.elements) }
    realm.feedItems = node["feedItems"]?.integer
    return realm
  }

  private mutating func clients(_ nodes: [YAMLNode]) -> [MockOAuthClient] {
    var clients: [MockOAuthClient] = []
    for node in nodes {
      let client = attempt(at: node.mark) { () throws(MockServerError) in
        let client = try MockOAuthClient(json: node.json)
        guard !clients.contains(where: { $0.id == client.id }) else {
          throw MockServerError(.taken, "another client has the id \"\(client.id)\"")
        }
        return client
      }
      if let client { clients.append(client) }
    }
    return clients
  }

  private mutating func users(_ nodes: [YAMLNode]) -> [MockSeedUser] {
    var users: [MockSeedUser] = []
    for node in nodes {
      let user = MockSeedUser(
        username: node["username"]?.text ?? "", email: node["email"]?.text ?? "", password: node["password"]?.text ?? ""
      )
      // Together with those before it, so that the second of two is where the mistake is.
      let isSound: Void? = attempt(at: node.mark) { () throws(MockServerError) in
        try MockServerConfiguration.check([user])
        try MockServerConfiguration.check(users + [user])
      }
      if isSound != nil { users.append(user) }
    }
    return users
  }

  /// A script as the admin API takes it: header fields are texts there, and here `Retry-After: 5` is one too.
  private static func json(of script: YAMLNode) -> JSONValue {
    guard var members = script.json.object, let actions = script["actions"]?.elements else { return script.json }
    members["actions"] = .array(
      actions.map { action in
        guard var fields = action.json.object, let headers = action["headers"] else { return action.json }
        fields["headers"] = .object(headers.textTable.mapValues { .string($0) })
        return .object(fields)
      })
    return .object(members)
  }

  private mutating func scripts(_ nodes: [YAMLNode]) -> [MockScript] {
    var scripts: [MockScript] = []
    var marks: [MockScript.Target: Mark] = [:]
    for node in nodes {
      let script = attempt(at: node.mark) { () throws(MockServerError) in try MockScript(json: Self.json(of: node)) }
      guard let script else { continue }
      if let first = marks[script.target] {
        fault(
          node.mark, "\"\(script.target.text)\" has a script already, in line \(first.line): put the actions into one")
      }
      marks[script.target] = node.mark
      scripts.append(script)
    }
    return scripts
  }
}
