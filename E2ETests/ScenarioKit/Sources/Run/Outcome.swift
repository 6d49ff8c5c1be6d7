package import Groundwork

/// How a verb ended, as a driver saw it. Holds no secret.
package struct Outcome: Sendable {
  /// In the words that every driver knows.
  package var kind: OutcomeKind
  /// The answer's status, where there was an answer.
  package var status: Int?
  /// The client's own name for the error.
  package var error: String?
  /// What a person would read.
  package var message: String?
  /// What the server says of single fields.
  package var fields: [String: String]
  /// How long to wait before another try.
  package var retryAfter: Duration?
  /// What came back.
  package var body: JSONValue?
  /// The program's exit code, where each verb is a program.
  package var exitCode: Int?

  /// Makes an outcome.
  package init(
    _ kind: OutcomeKind, status: Int? = nil, error: String? = nil, message: String? = nil,
    fields: [String: String] = [:],
    retryAfter: Duration? = nil, body: JSONValue? = nil
  ) {
    self.kind = kind
    self.status = status
    self.error = error
    self.message = message
    self.fields = fields
    self.retryAfter = retryAfter
    self.body = body
  }

  /// The outcome in one line, for failures and reports.
  package var summary: String {
    var parts = [kind.rawValue]
    if let status { parts.append("status \(status)") }
    if let error { parts.append(error) }
    if let message, !message.isEmpty { parts.append("\"\(message)\"") }
    return parts.joined(separator: ", ")
  }
}

/// What a client believes, as a driver saw it.
package struct ClientView: Sendable {
  /// `unknown`, `unavailable`, `signedOut`, `signedIn`.
  package var state: String
  /// Why it is signed out.
  package var reason: String?
  /// The names by which the signed-in user may be known: email, username.
  package var userNames: [String]
  /// The events since the client's launch; nil if the driver cannot see them.
  package var events: [String]?
}

/// What a screen shows, as a driver saw it.
package struct FormView: Sendable {
  package var screen: String
  package var title: String
  package var buttonTitle: String
  package var isButtonEnabled: Bool
  package var hasSpinner: Bool
  package var isLocked: Bool
  package var errors: [String: String]
  package var message: String
  package var focus: String
  package var announced: String
  package var captions: [String]
  /// Keyboard and content type of each field.
  package var hints: JSONValue = [:]
  /// The main button's looks.
  package var style: JSONValue = [:]
}

/// What a store holds, as a driver saw it.
package struct StoreView: Sendable {
  package var isPresent: Bool
  package var isSameSession: Bool
  package var rotations: Int?
  package var pendingRevocations: Int?
  package var userNames: [String]
  /// The files that others than their owner may read or write; nil where there are none.
  package var looseFiles: [String]?
}

/// Something that a client or server has said: no secret may be in it.
package struct Output: Sendable {
  /// Where it was said.
  package var place: String
  /// What was said.
  package var bytes: [UInt8]

  /// Makes an output.
  package init(_ place: String, _ text: String) {
    self.place = place
    bytes = Array(text.utf8)
  }

  /// Makes an output, say of a file.
  package init(_ place: String, bytes: [UInt8]) {
    self.place = place
    self.bytes = bytes
  }
}

/// Something that must never be said.
package struct Secret: Sendable, Hashable {
  /// What it is, for the message.
  package var name: String
  /// The secret itself.
  package var text: String

  /// Makes a secret.
  package init(_ name: String, _ text: String) {
    self.name = name
    self.text = text
  }
}
