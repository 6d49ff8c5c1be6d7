/// A form as a value: what was typed, what was left, what the server said, and what may happen next.
///
/// It is the whole of D5's rules (D5.1 to D5.9) as state × event → state + effects. It knows no task, no service and no screen, so
/// every rule is tested on it alone; a view model only runs it. Events that make no sense in a state change nothing: a second
/// press while a submission runs (D5.8), typing into locked fields (D5.3), an answer to a submission that is no longer awaited.
public struct FormState: Sendable, Hashable {
  /// What the form consists of.
  public let specification: FormSpecification
  /// The field that has the cursor, if one has.
  public private(set) var focus: FieldName?
  /// Whether a submission is running: fields locked, spinner in the button (D5.3).
  public private(set) var isSubmitting = false
  /// Whether the last submission was accepted: the form is done until it is reset.
  public private(set) var isAccepted = false
  /// What the server said of the whole form (D5.4).
  public private(set) var message: String?

  private var values: [FieldName: String] = [:]
  private var leftOnce: Set<FieldName> = []
  private var serverErrors: [FieldName: String] = [:]
  private var submissions = 0

  /// An untouched form.
  public init(_ specification: FormSpecification) {
    self.specification = specification
  }

  /// The number of the submission whose answer is awaited, if one runs.
  public var runningSubmission: Int? { isSubmitting ? submissions : nil }

  /// What stands in a field, as it was typed.
  public subscript(name: FieldName) -> String { values[name] ?? "" }

  /// Whether every field takes what stands in it.
  public var isValid: Bool { specification.fields.allSatisfy { $0.accepts(self[$0.name]) } }

  /// Whether the button is enabled (D1.5, D5.3).
  public var canSubmit: Bool { isValid && !isSubmitting && !isAccepted }

  /// Whether the fields take input (D5.3).
  public var isLocked: Bool { isSubmitting || isAccepted }

  /// What stands under a field: its own error once it was left (D5.2), else what the server said of it (D1.7).
  public func error(for name: FieldName) -> String? {
    guard let field = specification[name] else { return nil }
    if leftOnce.contains(name), !field.accepts(self[name]) { return field.errorText }
    return serverErrors[name]
  }

  /// Takes an event and tells what is to be done about it, in order.
  public mutating func handle(_ event: FormEvent) -> [FormEffect] {
    switch event {
    case .edited(let name, let value): edit(name, value)
    case .entered(let name): enter(name)
    case .left(let name): leave(name)
    case .returnPressed(let name): pressReturn(in: name)
    case .submitPressed: submit()
    case .accepted(let number): accept(number)
    case .refused(let number, let refusal): refuse(number, refusal)
    case .abandoned(let number): abandon(number)
    case .reset: reset()
    }
  }

  private mutating func edit(_ name: FieldName, _ value: String) -> [FormEffect] {
    // By bytes: two texts that look the same are two passwords.
    guard !isLocked, specification[name] != nil, !value.utf8.elementsEqual(self[name].utf8) else { return [] }
    values[name] = value
    serverErrors[name] = nil
    message = nil
    return []
  }

  private mutating func enter(_ name: FieldName) -> [FormEffect] {
    guard !isLocked, specification[name] != nil, focus != name else { return [] }
    let previous = focus
    focus = name
    return previous.map { markLeft($0) } ?? []
  }

  private mutating func leave(_ name: FieldName) -> [FormEffect] {
    guard specification[name] != nil else { return [] }
    if focus == name { focus = nil }
    let effects = markLeft(name)
    return isLocked ? [] : effects
  }

  private mutating func pressReturn(in name: FieldName) -> [FormEffect] {
    guard !isLocked, let index = specification.fields.firstIndex(where: { $0.name == name }) else { return [] }
    guard index + 1 < specification.fields.count else { return submit() }
    // A bad value never holds the cursor back: it only shows its error from now on.
    return moveFocus(to: specification.fields[index + 1].name, from: name)
  }

  private mutating func submit() -> [FormEffect] {
    guard !isLocked else { return [] }
    message = nil
    if let bad = specification.fields.first(where: { !$0.accepts(self[$0.name]) }) {
      leftOnce.formUnion(specification.fields.map(\.name))
      focus = bad.name
      return [.focus(bad.name), .announce(bad.errorText)]
    }
    serverErrors = [:]
    submissions += 1
    isSubmitting = true
    if let focus { leftOnce.insert(focus) }
    focus = nil
    let pairs = specification.fields.map { ($0.name, $0.normalized(self[$0.name])) }
    let values = Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    return [.hideKeyboard, .submit(FormSubmission(number: submissions, values: values))]
  }

  private mutating func accept(_ number: Int) -> [FormEffect] {
    guard isSubmitting, number == submissions else { return [] }
    isSubmitting = false
    isAccepted = true
    values[.password] = nil
    return []
  }

  private mutating func refuse(_ number: Int, _ refusal: FormRefusal) -> [FormEffect] {
    guard isSubmitting, number == submissions else { return [] }
    isSubmitting = false
    message = refusal.message
    serverErrors = refusal.fields.filter { specification[$0.key] != nil }
    let named = specification.fields.map(\.name).filter { serverErrors[$0] != nil }
    var effects = named.compactMap { serverErrors[$0] }.map { FormEffect.announce($0) }
    if let message { effects.insert(.announce(message), at: 0) }
    if let first = named.first {
      focus = first
      effects.append(.focus(first))
    }
    return effects
  }

  private mutating func abandon(_ number: Int) -> [FormEffect] {
    guard isSubmitting, number == submissions else { return [] }
    isSubmitting = false
    return []
  }

  /// An answer that is still on its way finds no submission running, and the next one has another number.
  private mutating func reset() -> [FormEffect] {
    var fresh = FormState(specification)
    fresh.submissions = submissions
    self = fresh
    return []
  }

  private mutating func moveFocus(to next: FieldName, from previous: FieldName) -> [FormEffect] {
    focus = next
    return markLeft(previous) + [.focus(next)]
  }

  private mutating func markLeft(_ name: FieldName) -> [FormEffect] {
    let isNew = leftOnce.insert(name).inserted
    guard isNew, let field = specification[name], !field.accepts(self[name]) else { return [] }
    return [.announce(field.errorText)]
  }
}

extension FormState: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Tells the form's condition without what was typed.
  public var description: String {
    "FormState(valid: \(isValid), submitting: \(isSubmitting), accepted: \(isAccepted), message: \(message ?? "none"))"
  }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
