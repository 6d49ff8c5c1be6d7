/// What a store did that its contract does not allow; thrown by the contract checks, so that any test library can
/// report it.
public struct ContractFailure: Error, Sendable, CustomStringConvertible {
  /// What should have held, and what was seen.
  public let description: String

  /// Makes a failure from its text.
  public init(_ description: String) {
    self.description = description
  }
}

/// Throws a ``ContractFailure`` unless `condition` holds.
func require(_ condition: Bool, _ text: @autoclosure () -> String) throws {
  if !condition { throw ContractFailure(text()) }
}

/// One promise of a contract, and the check that fails where it is broken.
public struct ContractCheck<Subject: Sendable>: Sendable, CustomStringConvertible {
  /// The promise, in a sentence.
  public let name: String
  /// Throws ``ContractFailure`` if the promise is broken, or what the store threw.
  public let run: @Sendable (Subject) async throws -> Void

  init(_ name: String, _ run: @escaping @Sendable (Subject) async throws -> Void) {
    self.name = name
    self.run = run
  }

  public var description: String { name }
}
