/// The invariants in words: 1 to 10 are the design's; 11 and 12 stand for what S8 and S16 ask and none of the ten says.
package enum Invariant {
  /// All, in order.
  package static let sentences = [
    "A refresh token is not sent a second time unless the outcome of the first is unknown to every living process.",
    "At most one living process refreshes a session.",
    "No request carries a token of another session, and no answer is delivered to one.",
    "After sign-out returned, this process stores and sends nothing of that session but its revocation, others for 1 s at most.",
    "No passing failure by itself signs out.",
    "A session is never ended while the server would accept a refresh token that the client holds.",
    "Every waiter gets exactly one answer, and its own.",
    "No wait is unbounded.",
    "Observers match the state.",
    "Quiescence: when faults stop and (6) applies, a call succeeds.",
    "A refresh has a reason: an old token, one that was refused, a caller who asks, or an unfinished try.",
    "A refresh that a crash cut short is tried again before its session's token is used.",
  ]

  /// One of them, by its number.
  package static func sentence(_ number: Int) -> String {
    sentences.indices.contains(number - 1) ? sentences[number - 1] : ""
  }
}
