public import AuthModels
public import AuthSession
import AuthStorage
public import Observation

/// The root's model over any `AuthService` (D4.3): who is signed in, from "not known yet" to an answer.
@MainActor
@Observable
public final class AuthViewModel {
  /// Whether somebody is signed in.
  public enum State: Sendable, Hashable {
    /// Not known yet: `restore` has not answered.
    case unknown
    /// A sign-in, sign-up or sign-out is under way.
    case working
    /// Nobody is signed in.
    case signedOut
    /// This user is signed in.
    case signedIn(AppUser)
  }

  /// Whether somebody is signed in.
  public private(set) var state: State = .unknown
  /// Why the last sign-in or sign-up failed (D4.6), or why it is not known who is signed in; each new try clears it first.
  public private(set) var errorMessage: String?

  @ObservationIgnored private let service: any AuthService
  @ObservationIgnored private let profile: AuthProfile
  @ObservationIgnored private var hasRestored = false

  /// Makes the model; nothing is asked before `restore`.
  public init(service: any AuthService, profile: AuthProfile = .supabase) {
    self.service = service
    self.profile = profile
  }

  /// The screen that belongs to the state: a splash while nothing is known, the sign-in screen also while working (D4.3).
  public var screen: RootScreen {
    switch state {
    case .unknown: errorMessage.map { .unavailable($0) } ?? .splash
    case .working, .signedOut: .signIn
    case .signedIn: .home
    }
  }

  /// Asks once, at launch, who is signed in; later calls do nothing.
  ///
  /// If the store cannot answer, nothing is known: the state stays `unknown`, `errorMessage` tells, and calling again asks again (S21).
  public func restore() async {
    guard !hasRestored else { return }
    hasRestored = true
    errorMessage = nil
    do {
      let user = try await service.currentUser
      // A sign-in that was faster than the store is the newer answer.
      guard state == .unknown else { return }
      state = user.map { .signedIn($0) } ?? .signedOut
    } catch {
      hasRestored = false
      guard state == .unknown else { return }
      errorMessage = profile.strings[.homeErrorUnknownUser, filling: ["reason": Self.reason(error)]]
    }
  }

  /// Signs an existing user in.
  public func signIn(email: String, password: String) async {
    await work(in: profile.login) { try await $0.signIn(email: email, password: password) }
  }

  /// Signs a new user up.
  public func signUp(_ registration: Registration) async {
    await work(in: profile.registration) { try await $0.signUp(registration) }
  }

  /// Signs out. It always ends on the sign-in screen, whatever the server says (D4.7).
  ///
  /// - Throws: the store's error if the session could not be removed here (S20): the state is signed out all the same.
  public func signOut() async throws {
    guard state != .working else { return }
    state = .working
    defer { state = .signedOut }
    try await service.signOut()
  }

  private func work(
    in form: FormSpecification, _ operation: (any AuthService) async throws -> AppUser
  ) async {
    guard state != .working else { return }
    let previous = state
    state = .working
    errorMessage = nil
    do {
      state = .signedIn(try await operation(service))
    } catch {
      if case .refused(let refusal) = FormModel.Outcome(failure: error, in: profile, form: form) {
        let parts = [refusal.message] + form.fields.map { refusal.fields[$0.name] }
        errorMessage = parts.compactMap(\.self).joined(separator: " ")
      }
      if case .signedIn = previous { state = previous } else { state = .signedOut }
    }
  }

  private static func reason(_ error: any Error) -> String {
    switch error {
    case let error as SessionError: error.message
    case let error as StoreError: error.message
    default: ""
    }
  }
}
