/// An argument that is known by its place.
public struct Positional: Sendable {
  /// What help calls it, in capitals; the name under which it is asked for.
  public var name: String
  /// One sentence for help.
  public var help: String
  /// Whether the command is refused without it.
  public var isRequired: Bool
  /// Whether it takes all arguments that are left; only the last one may.
  public var isRepeated: Bool
  /// What it must look like; `.flag` counts as `.text`.
  public var kind: Option.Kind

  /// Makes an argument.
  public init(
    _ name: String, kind: Option.Kind = .text, required: Bool = true, repeated: Bool = false, _ help: String
  ) {
    self.name = name
    self.kind = kind
    self.help = help
    isRequired = required
    isRepeated = repeated
  }

  /// The argument as a usage line writes it.
  var usage: String {
    let name = isRepeated ? "\(name)…" : name
    return isRequired ? name : "[\(name)]"
  }
}
