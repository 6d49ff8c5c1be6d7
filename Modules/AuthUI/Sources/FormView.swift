#if canImport(SwiftUI)
  import AuthForms
  import SwiftUI

  #if canImport(Accessibility)
    import Accessibility
  #endif

  /// A form of any profile: title, fields, message, button, in the order that its specification says (D1.5, D5.4).
  ///
  /// It follows the model's cursor and reports its own; what is announced to a screen reader is the model's (D5.9).
  struct FormView: View {
    let form: FormModel
    let notice: String?
    @FocusState private var cursor: FieldName?

    init(form: FormModel, notice: String?) {
      self.form = form
      self.notice = notice
    }

    var body: some View {
      ScrollView {
        VStack(alignment: .leading, spacing: 16) {
          Text(form.state.specification.title).font(.largeTitle).bold().accessibilityAddTraits(.isHeader)
          notice.map { Text($0).font(.callout) }
          ForEach(form.state.specification.fields, id: \.name) { field in
            FormFieldView(field: field, form: form, cursor: $cursor)
          }
          MessageView(text: form.state.messageAboveButton)
          SubmitButton(form: form)
          MessageView(text: form.state.messageBelowButton)
        }
        .padding(CGFloat(MainButtonStyle.screenPadding))
      }
      .onChange(of: cursor) { previous, next in form.cursorMoved(from: previous, to: next) }
      .onChange(of: form.state.focus) { _, next in cursor = next }
      .onChange(of: form.announcement) { _, next in next.map { AccessibilityNotification.Announcement($0.text).post() }
      }
    }
  }

  /// The button that submits: disabled while the form is invalid or loading, a spinner in it while loading (D5.3).
  private struct SubmitButton: View {
    let form: FormModel

    var body: some View {
      Button {
        form.dispatch(.submitPressed)
      } label: {
        switch form.state.isSubmitting {
        case true: ProgressView()
        case false: Text(form.state.specification.buttonTitle)
        }
      }
      .buttonStyle(MainButton())
      .disabled(!form.state.canSubmit)
      .accessibilityLabel(form.state.specification.buttonTitle)
    }
  }
#endif
