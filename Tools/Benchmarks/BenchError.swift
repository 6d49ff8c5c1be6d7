/// Why a benchmark could not run: what, where, and what to do.
struct BenchError: Error, Sendable, CustomStringConvertible {
  /// One sentence for a person.
  var description: String

  init(_ description: String) { self.description = description }
}
