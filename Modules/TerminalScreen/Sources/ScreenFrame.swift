/// How a piece of text is drawn. No color is set for ordinary text, so that it is readable on a light and on a dark ground.
public struct TextStyle: Sendable, Hashable {
  /// The colors that a screen uses, out of the eight that the user's terminal defines.
  public enum Color: UInt8, Sendable, Hashable {
    /// For errors, and for what ends something.
    case red = 1
    /// For what goes well.
    case green = 2
    /// For the main button.
    case blue = 4
  }

  /// Bold.
  public var isBold = false
  /// Fainter than ordinary text.
  public var isDim = false
  /// Ground and text change places.
  public var isReversed = false
  /// The text's color, or with `isReversed` the ground's.
  public var color: Color?

  /// Makes a style from its parts.
  public init(isBold: Bool = false, isDim: Bool = false, isReversed: Bool = false, color: Color? = nil) {
    self.isBold = isBold
    self.isDim = isDim
    self.isReversed = isReversed
    self.color = color
  }

  /// Text as the terminal has it.
  public static let plain = TextStyle()
}

/// One line of a screen: pieces of text, each in its style.
public struct ScreenLine: Sendable, Hashable {
  /// A piece of text in one style.
  public struct Span: Sendable, Hashable {
    /// The text.
    public var text: String
    /// Its style.
    public var style: TextStyle

    /// Makes a span.
    public init(_ text: String, _ style: TextStyle = .plain) {
      self.text = text
      self.style = style
    }
  }

  /// The pieces from left to right.
  public var spans: [Span]

  /// Makes a line of pieces.
  public init(_ spans: [Span] = []) {
    self.spans = spans
  }

  /// Makes a line of one piece.
  public init(_ text: String, _ style: TextStyle = .plain) {
    spans = [Span(text, style)]
  }

  /// The text without styles.
  public var text: String { spans.map(\.text).joined() }
  /// How many cells it takes.
  public var width: Int { CellWidth.of(text) }
}

/// A whole screen as a value: what stands where, and the cursor.
public struct ScreenFrame: Sendable, Hashable {
  /// A place on the screen, from 0.
  public struct Place: Sendable, Hashable {
    /// Lines from the top.
    public var row: Int
    /// Cells from the left.
    public var column: Int

    /// Makes a place.
    public init(row: Int, column: Int) {
      self.row = row
      self.column = column
    }
  }

  /// The lines from the top; what is below them is empty.
  public var lines: [ScreenLine]
  /// Where the cursor stands: at the caret, so that an input method opens its window there; nil hides it.
  public var cursor: Place?

  /// Makes a frame.
  public init(lines: [ScreenLine] = [], cursor: Place? = nil) {
    self.lines = lines
    self.cursor = cursor
  }
}

/// How large a terminal is.
public struct ScreenSize: Sendable, Hashable {
  /// Cells in a line.
  public var columns: Int
  /// Lines.
  public var rows: Int

  /// Takes what a terminal says of itself; one that says nothing useful is taken for 80 × 24.
  public init(columns: Int, rows: Int) {
    self.columns = columns > 0 ? min(columns, 1000) : 80
    self.rows = rows > 0 ? min(rows, 1000) : 24
  }
}
