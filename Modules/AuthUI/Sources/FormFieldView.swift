#if canImport(SwiftUI)
  import AuthForms
  import SwiftUI

  /// One field with its error under it (D5.2), locked while a request runs (D5.3).
  struct FormFieldView: View {
    let field: FormField
    let form: FormModel
    let cursor: FocusState<FieldName?>.Binding

    var body: some View {
      VStack(alignment: .leading, spacing: 4) {
        input
          .textFieldStyle(.roundedBorder)
          .hinted(field.hints)
          .focused(cursor, equals: field.name)
          .onSubmit { form.dispatch(.returnPressed(field.name)) }
          .disabled(form.state.isLocked)
          .accessibilityHint(form.state.error(for: field.name) ?? "")
        MessageView(text: form.state.error(for: field.name)).accessibilityHidden(true)
      }
    }

    @ViewBuilder private var input: some View {
      switch field.hints.isSecure {
      case true: SecureField(field.title, text: text)
      case false: TextField(field.title, text: text)
      }
    }

    private var text: Binding<String> {
      Binding {
        form.state[field.name]
      } set: {
        form.dispatch(.edited(field.name, $0))
      }
    }
  }
#endif
