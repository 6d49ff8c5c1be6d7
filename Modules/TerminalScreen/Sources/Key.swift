/// A key as an editor of one line understands it, whatever bytes a terminal sends for it.
public enum Key: Sendable, Hashable {
  /// Typed text: one Unicode scalar, so that a letter and its combining accent come one after the other.
  case text(String)
  /// Pasted text, or a part of it: never a command, whatever is in it.
  case paste(String)
  /// Return.
  case enter
  /// Tab.
  case tab
  /// Shift-Tab.
  case backTab
  /// Esc.
  case escape
  /// Deletes what stands before the caret.
  case backspace
  /// Deletes what stands after the caret.
  case delete
  /// Deletes the word before the caret (Ctrl-W, Alt-Backspace).
  case deleteWord
  /// Deletes everything before the caret (Ctrl-U).
  case deleteToStart
  /// Deletes everything after the caret (Ctrl-K).
  case deleteToEnd
  /// One place to the left.
  case left
  /// One place to the right.
  case right
  /// Up, or Ctrl-P.
  case up
  /// Down, or Ctrl-N.
  case down
  /// To the start of the line.
  case home
  /// To the end of the line.
  case end
  /// One word to the left.
  case wordLeft
  /// One word to the right.
  case wordRight
  /// Ctrl-C.
  case interrupt
  /// Ctrl-\.
  case quit
  /// Ctrl-Z.
  case suspend
  /// Ctrl-L: draw everything again.
  case redraw
}
