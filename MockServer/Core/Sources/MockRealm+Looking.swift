// What a person looks at closely: one request whole, one session with all of its tokens.
extension MockRealm {
  /// One request of the journal and its answer, with secrets masked; the last 256 are kept.
  ///
  /// - Throws: `MockServerError`, code `forgotten`.
  public func exchange(seq: Int) throws(MockServerError) -> (entry: MockJournalEntry, exchange: MockExchange) {
    try step { state, _, _ throws(MockServerError) in
      guard let exchange = state.exchanges[seq], let entry = state.journal.entry(seq) else {
        throw MockServerError(.forgotten, "request \(seq) is not there, or its details have fallen out")
      }
      return (entry, MockExchange(exchange, mask: SecretMask(state)))
    }
  }

  /// A session with all of its tokens, as their standing.
  ///
  /// - Throws: `MockServerError`, code `unknownSession`.
  public func family(ofSession id: String) throws(MockServerError) -> MockFamily {
    try step { state, now, _ throws(MockServerError) in
      guard let family = state.family(ofSession: id, now: now) else {
        throw MockServerError(.unknownSession, "no session has the id \"\(id.prefix(80))\"")
      }
      return family
    }
  }
}
