import AuthForms
import TerminalScreen

/// A form on a terminal as a value: where the cursor is, how each field is being edited, and what a key means there.
///
/// Pure: keys and the form's state go in, events for the form come out. The rules are `FormState`'s; this only knows a keyboard.
struct FormScreen: Sendable, Hashable {
  /// What has the cursor.
  enum Target: Sendable, Hashable {
    case field(FieldName)
    case button
  }

  /// What a key asks for.
  enum Action: Sendable, Hashable {
    /// Tell the form.
    case form(FormEvent)
    /// Stop waiting for the answer.
    case giveUp
    /// Leave the screen.
    case cancel
  }

  private(set) var target: Target
  private var inputs: [FieldName: TextInput] = [:]
  private var wasSubmitting = false

  /// A screen for a form; the cursor begins in the first field that is still empty.
  init(_ form: FormState) {
    let names = form.specification.fields.map(\.name)
    target = (names.first { form[$0].isEmpty } ?? names.first).map { .field($0) } ?? .button
  }

  /// What stands in a field, and its caret.
  func input(_ name: FieldName) -> TextInput { inputs[name] ?? TextInput() }

  /// Follows the form after a change of it.
  ///
  /// - Returns: what the form is to be told: it puts the cursor nowhere when a request starts (D5.7), and a terminal has one all the
  ///   same, so after an answer that names no field it goes to where the mistake is most likely, the password.
  mutating func follow(_ form: FormState) -> FormEvent? {
    for field in form.specification.fields {
      var input = input(field.name)
      input.take(form[field.name])
      inputs[field.name] = input
    }
    let hasEnded = wasSubmitting && !form.isSubmitting
    wasSubmitting = form.isSubmitting
    if let focus = form.focus {
      target = .field(focus)
      return nil
    }
    guard !form.isLocked else { return nil }
    if hasEnded, let last = form.specification.fields.last { target = .field(last.name) }
    guard case .field(let name) = target else { return nil }
    return .entered(name)
  }

  /// Takes a key.
  mutating func handle(_ key: Key, _ form: FormState) -> [Action] {
    if form.isLocked { return key == .escape && form.isSubmitting ? [.giveUp] : [] }
    switch key {
    case .escape: return [.cancel]
    case .tab, .down: return move(1, form)
    case .backTab, .up: return move(-1, form)
    case .enter:
      guard case .field(let name) = target else { return [.form(.submitPressed)] }
      return [.form(.returnPressed(name))]
    case .text(" ") where target == .button: return [.form(.submitPressed)]
    default: return edit(key, form)
    }
  }

  private mutating func edit(_ key: Key, _ form: FormState) -> [Action] {
    guard case .field(let name) = target, let field = form.specification[name] else { return [] }
    var input = input(name)
    let before = input.value
    guard input.handle(key, keepsTabs: field.hints.isSecure) else { return [] }
    inputs[name] = input
    return input.value == before ? [] : [.form(.edited(name, input.value))]
  }

  private mutating func move(_ step: Int, _ form: FormState) -> [Action] {
    let targets = form.specification.fields.map { Target.field($0.name) } + [.button]
    let index = targets.firstIndex(of: target) ?? 0
    let previous = target
    target = targets[(index + step + targets.count) % targets.count]
    switch (previous, target) {
    // The form itself knows that entering one field is leaving another.
    case (_, .field(let name)): return [.form(.entered(name))]
    case (.field(let name), .button): return [.form(.left(name))]
    case (.button, .button): return []
    }
  }
}

extension FormScreen: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Tells where the cursor is without what was typed.
  var description: String { "FormScreen(\(target))" }
  var debugDescription: String { description }
  var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
