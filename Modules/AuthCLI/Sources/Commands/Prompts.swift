import AuthForms

/// A form filled in by plain prompts: one question a field, its errors under it, nothing echoed that is secret.
///
/// The rules are the form's own: what D5 says of a screen holds here for a terminal's lines.
@MainActor
struct PromptedForm {
  let form: FormModel
  let console: any Console
  /// Whether a secret that is being made is asked for twice, since nobody sees it.
  let repeatsSecrets: Bool

  /// Asks for every field that does not hold a good value yet; what the server refused is asked again.
  ///
  /// - Throws: `CommandFailure.cancelled` when the user ends the input (Ctrl-D); `ConsoleError`.
  func fill(keeping given: Set<FieldName>) async throws {
    for field in form.state.specification.fields {
      let name = field.name
      if given.contains(name), form.state.error(for: name) == nil, field.accepts(form.state[name]) { continue }
      await form.handle(.entered(name))
      repeat {
        if let error = form.state.error(for: name) { say("  \(error)") }
        await form.handle(.edited(name, try await answer(for: field)))
        await form.handle(.left(name))
      } while form.state.error(for: name) != nil
    }
  }

  /// Says what stands with the button.
  func sayMessage() {
    if let message = form.state.message { say(message) }
  }

  private func answer(for field: FormField) async throws -> String {
    let present = field.hints.isSecure ? "" : form.state[field.name]
    let suffix = present.isEmpty ? "" : " [\(Printable.line(present))]"
    let typed = try await ask("\(field.title)\(suffix): ", hidden: field.hints.isSecure)
    if typed.isEmpty, !present.isEmpty { return present }
    guard repeatsSecrets, field.hints.isSecure, field.accepts(typed) else { return typed }
    if try await ask("\(field.title) again: ", hidden: true) == typed { return typed }
    say("  The two are not the same.")
    return try await answer(for: field)
  }

  private func ask(_ prompt: String, hidden: Bool) async throws -> String {
    guard let answer = try await console.ask(prompt, hidden: hidden) else { throw CommandFailure.cancelled }
    return answer
  }

  private func say(_ text: String) {
    console.writeError(Printable.line(text) + "\n")
  }
}
