extension FormState {
  /// The form's message, where it stands between the fields and the button (D1.5); nil where it stands elsewhere, or nothing is to be said.
  public var messageAboveButton: String? { specification.messagePlacement == .aboveButton ? message : nil }

  /// The form's message, where it stands under the button (D5.4); nil where it stands elsewhere, or nothing is to be said.
  public var messageBelowButton: String? { specification.messagePlacement == .belowButton ? message : nil }
}

extension FormModel {
  /// The cursor went from one field to another, or to none, as a screen tells it that owns the cursor itself (D5.2).
  ///
  /// What only repeats where the form's own cursor is changes nothing, so that a screen may follow the form and report to it.
  public func cursorMoved(from previous: FieldName?, to next: FieldName?) {
    switch (previous, next) {
    case (_, let next?): dispatch(.entered(next))
    case (let previous?, nil): dispatch(.left(previous))
    case (nil, nil): break
    }
  }
}
