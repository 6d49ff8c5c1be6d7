/// A way in which a client may be wrong: put between the modules of the client that the rig makes, never into them.
///
/// Each stands in `breakages.yaml` with what it is and the ids that it breaks.
package enum ClientFault: String, Sendable, CaseIterable {
  // Between the calls and the engine.
  case refreshesBeforeEveryCall = "refreshes-before-every-call"
  case passingFailureFailsTheCall = "passing-failure-fails-the-call"
  case noSingleFlight = "no-single-flight"
  case late401Refreshes = "late-401-refreshes"
  case neverResends = "never-resends"
  case resent401SignsOut = "resent-401-signs-out"
  case answersToAnybody = "answers-to-anybody"
  case signInNeedsASession = "sign-in-needs-a-session"
  case cancellationSignsOut = "cancellation-signs-out"
  case serverFirst = "server-first"
  case retryLeftOut = "retry-left-out"
  case signUpNotSent = "sign-up-not-sent"
  // The engine's figures.
  case fullLeewayAlways = "full-leeway-always"
  case noLeeway = "no-leeway"
  case expiredTokenUsed = "expired-token-used"
  case noBackOff = "no-back-off"
  case noBounds = "no-bounds"
  case breakerNeverTrips = "breaker-never-trips"
  // Between the engine and the server's dialect.
  case unknownLifetimeIsNone = "unknown-lifetime-is-none"
  case lifetimeForgotten = "lifetime-forgotten"
  case passingFailureSignsOut = "passing-failure-signs-out"
  case refusedTokenIsSentAgain = "refused-token-is-sent-again"
  case endsWithoutLooking = "ends-without-looking"
  case lostAnswerNotRetried = "lost-answer-not-retried"
  case missingRefreshTokenLosesTheOld = "missing-refresh-token-loses-the-old"
  case lateRefreshRevives = "late-refresh-revives"
  case userForgotten = "user-forgotten"
  // Between the client and the network.
  case refreshIsRefreshed = "refresh-is-refreshed"
  case redirectsFollowed = "redirects-followed"
  case misnamesAField = "misnames-a-field"
  // Between the engine and the store.
  case noLock = "no-lock"
  case noIntent = "no-intent"
  case rotationNotSaved = "rotation-not-saved"
  case othersNeverNoticed = "others-never-noticed"
  case unreadableIsSignedOut = "unreadable-is-signed-out"
  case reasonForgotten = "reason-forgotten"
  case signOutKeepsTheTokens = "sign-out-keeps-the-tokens"
  case restartForgets = "restart-forgets"
  case expiryNotStored = "expiry-not-stored"
  case itemsNotMigrated = "items-not-migrated"
  // The machine.
  case ageByTheWallClock = "age-by-the-wall-clock"
  // What the client tells.
  case eventsLost = "events-lost"
  case unknownIsSignedOut = "unknown-is-signed-out"
  case tokensInPlainSight = "tokens-in-plain-sight"
  // The screens.
  case rootNeverSwitches = "root-never-switches"
  case foreignTexts = "foreign-texts"
  case oneButtonStyle = "one-button-style"
  case messageStays = "message-stays"
  case buttonAlwaysEnabled = "button-always-enabled"
  case fieldErrorsLost = "field-errors-lost"
  case serverMessageLost = "server-message-lost"
  case errorsTooEarly = "errors-too-early"
  case fieldsNeverLock = "fields-never-lock"
  case hintsLost = "hints-lost"
  case returnKeyDead = "return-key-dead"
  case secondTapCounts = "second-tap-counts"
  case silentErrors = "silent-errors"
  case anyPasswordWorks = "any-password-works"
  // The project's own files.
  case filesEmpty = "files-empty"
}
