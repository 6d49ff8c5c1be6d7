/// What may stand at a place of a file.
///
/// The whole format is one value of this type: the same value checks files, names what was probably meant, and prints the JSON
/// Schema for editors.
public indirect enum Shape: Sendable {
  /// Any text.
  case text
  /// One of these words.
  case choice([String])
  /// A whole number, written without quotes.
  case integer(ClosedRange<Int>)
  /// `true` or `false`, without quotes.
  case flag
  /// `250ms`, `30s`, `15m`, `2h`, `30d`; a bare number is seconds.
  case duration
  /// A duration with a sign: `+365d`, `-1h`.
  case signedDuration
  /// Nothing at all after the colon.
  case nothing
  /// Any JSON value: unquoted numbers, truth values and `null` are such, the rest is text.
  case json
  /// A list.
  case list(Shape)
  /// A mapping with names that the author chooses.
  case table(Shape)
  /// A mapping with names that the format knows.
  case object(ObjectShape)
  /// Several of these, told apart by what is written: nothing, a scalar, a list, a mapping.
  case either([Shape])
}

/// A mapping with known names.
public struct ObjectShape: Sendable {
  /// What the mapping is, in words for a message: "a step".
  public var noun: String
  /// The names it may have.
  public var fields: [FieldShape]
  /// Of these names exactly one has to be there, or at most one if `needsOne` is false.
  public var exclusive: [String]
  /// Whether one of `exclusive` has to be there.
  public var needsOne: Bool

  /// Makes a shape.
  public init(_ noun: String, _ fields: [FieldShape], exclusive: [String] = [], needsOne: Bool = false) {
    self.noun = noun
    self.fields = fields
    self.exclusive = exclusive
    self.needsOne = needsOne
  }
}

/// A name of an object and what may stand there.
public struct FieldShape: Sendable {
  /// The name.
  public var name: String
  /// What may stand there.
  public var shape: Shape
  /// Whether it has to be there.
  public var isRequired: Bool
  /// What it is for: one sentence, shown by editors.
  public var summary: String

  /// Makes a field.
  public init(_ name: String, _ shape: Shape, _ summary: String, isRequired: Bool = false) {
    self.name = name
    self.shape = shape
    self.isRequired = isRequired
    self.summary = summary
  }
}
