/// One benchmark: a name on the command line, and what it measures.
struct Benchmark: Sendable {
  /// What a benchmark may need.
  struct Context: Sendable {
    /// Where the built programs stand: beside this one.
    var programs: String
    /// A folder of this run's own.
    var scratch: ScratchFolder
    /// How many rounds are measured.
    var rounds: Int
  }

  /// All there are, in the order in which they run; growth first, while the process is still small.
  static let all: [Benchmark] = [
    .growth, .hotPath, .storm, .calls, .ready, .server, .coldStart, .storeSpeed, .simulator, .endurance,
  ]

  /// The word on the command line.
  var name: String
  /// What it measures, in a line.
  var summary: String
  /// Whether it runs when none is named; one that takes minutes does not.
  var isPartOfAll = true
  /// Measures. It may block its thread: nothing else runs meanwhile.
  var run: @Sendable (Context) async throws -> [Figure]
  /// Measures how something grows, where that is its matter.
  var curves: @Sendable (Context) async throws -> [Curve] = { _ in [] }
}
