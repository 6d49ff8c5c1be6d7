import Groundwork
import MockServerCore
import Testing

@testable import MockServerHTTP

@Suite("Every answer of every dialect, by bodies written by hand: in process and over a socket")
struct DialectTests {
  static let rows = ChirpRows.all + SupabaseRows.all + OAuthRows.all

  @Test("each row has a name of its own")
  func names() {
    #expect(Set(Self.rows.map { $0.description }).count == Self.rows.count)
  }

  @Test("in process", arguments: rows)
  func inProcess(row: DialectRow) throws {
    let server = MockAuthServer(configuration: DialectRow.configuration)
    let variables = try row.variables(server.realm("row"))
    let answers = Guarded<[MockDelivery]>([])
    server.receive(row.request("row", variables)) { delivery in answers.withLock { $0.append(delivery) } }
    let reply = try #require(answers.withLock { $0.count == 1 ? $0[0].reply : nil })
    let head = reply.headers.map { "\($0.name): \($0.value)\r\n" }.joined()
    let answer = Answer(
      status: reply.status, head: "HTTP/1.1 \(reply.status)\r\n\(head)\r\n",
      body: String(decoding: reply.body, as: UTF8.self))
    try check(answer, row, variables, server.realm("row"))
  }

  @Test("over a socket")
  func overSockets() async throws {
    let server = MockAuthServer(configuration: DialectRow.configuration)
    try await withFront(server) { port in
      try await onThread {
        for (index, row) in Self.rows.enumerated() {
          let realm = server.realm("row-\(index)")
          let variables = try row.variables(realm)
          let client = try RawClient(port: port)
          defer { client.end() }
          client.write(row.request("row-\(index)", variables).wireText)
          try check(try client.readAnswer(hasBody: row.method != "HEAD"), row, variables, realm)
        }
      }
    }
  }

  private func check(_ answer: Answer, _ row: DialectRow, _ variables: [String: String], _ realm: MockRealm) throws {
    #expect(answer.status == row.status, "\(row): \(answer.body)")
    if let golden = row.golden {
      let difference = try Golden.difference(answer.body, from: golden, variables: variables)
      #expect(difference == nil, "\(row)")
      #expect(answer.field("Content-Type") == "application/json", "\(row)")
    } else {
      #expect(answer.body.isEmpty, "\(row)")
    }
    for (name, value) in row.expected {
      let found = answer.field(name)
      if value.isEmpty {
        #expect(found == nil, "\(row): \(name)")
      } else {
        let wanted = DialectRow.filled(value, variables)
        // What follows an ellipsis differs from run to run.
        let isAsWanted = wanted.hasSuffix("…") ? found?.hasPrefix(wanted.dropLast()) == true : found == wanted
        #expect(isAsWanted, "\(row): \(name): \(found ?? "none")")
      }
    }
    let entry = try #require(realm.journal().last)
    let dialect = entry.outcome == .notFound && entry.operation == .unknown ? row.dialect : entry.dialect
    #expect(
      entry.outcome == row.outcome && dialect == row.dialect && entry.status == row.status, "\(row): \(entry.outcome)")
    for name in ["access", "refresh", "service"] {
      #expect(!"\(entry)".contains(variables[name] ?? "?"), "\(row)")
    }
  }
}
