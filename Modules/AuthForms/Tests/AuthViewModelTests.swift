import AuthForms
import AuthModels
import AuthSession
import AuthStorage
import Groundwork
import Observation
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Any `AuthService`, in memory, with one account.
private final class AccountService: AuthService {
  let signedIn: Guarded<AppUser?>
  let restores = Guarded(0)
  let storeError = Guarded<StoreError?>(nil)
  let signOutError: StoreError?
  static let anna = AppUser(id: UUID(), email: "anna@example.com")

  init(signedIn: AppUser? = nil, signOutError: StoreError? = nil) {
    self.signedIn = Guarded(signedIn)
    self.signOutError = signOutError
  }

  var currentUser: AppUser? {
    get async throws {
      restores.withLock { $0 += 1 }
      if let error = storeError.withLock({ $0 }) { throw error }
      return signedIn.withLock { $0 }
    }
  }

  func signIn(email: String, password: String) async throws -> AppUser {
    guard password == "password123" else { throw APIError(.invalidCredentials, status: 400) }
    signedIn.withLock { $0 = Self.anna }
    return Self.anna
  }

  func signUp(_ registration: Registration) async throws -> AppUser {
    guard registration.email != Self.anna.email else {
      throw APIError(.conflict, status: 422, serverCode: "user_already_exists")
    }
    return AppUser(id: UUID(), email: registration.email)
  }

  func signOut() async throws {
    signedIn.withLock { $0 = nil }
    if let signOutError { throw signOutError }
  }
}

/// The root's model over an `AuthService` (D4.3).
@MainActor
struct AuthViewModelTests {
  private func screens(of model: AuthViewModel, during work: () async -> Void) async -> [RootScreen] {
    let watch = ScreenWatch { model.screen }
    await work()
    return watch.seen
  }

  @Test("a returning user sees the splash, then the home screen, never the sign-in screen (D4.3)")
  func returningUser() async {
    let model = AuthViewModel(service: AccountService(signedIn: AccountService.anna))
    let seen = await screens(of: model) { await model.restore() }
    #expect(seen == [.splash, .home])
    #expect(model.state == .signedIn(AccountService.anna))
  }

  @Test("a new user sees the splash, then the sign-in screen; the service is asked once (D4.3)")
  func newUser() async {
    let service = AccountService()
    let model = AuthViewModel(service: service)
    let seen = await screens(of: model) {
      await model.restore()
      await model.restore()
    }
    #expect(seen == [.splash, .signIn])
    #expect(service.restores.withLock { $0 } == 1)
  }

  @Test("a store that cannot be read is not taken for signed out, and is asked again (S21)")
  func unreadableStore() async {
    let service = AccountService(signedIn: AccountService.anna)
    service.storeError.withLock { $0 = StoreError(.locked, "The key store is locked.") }
    let model = AuthViewModel(service: service)
    let seen = await screens(of: model) {
      await model.restore()
      service.storeError.withLock { $0 = nil }
      await model.restore()
    }
    let text = "It cannot be told whether you are signed in. The key store is locked."
    #expect(seen == [.splash, .unavailable(text), .splash, .home])
    #expect(service.restores.withLock { $0 } == 2)
  }

  @Test("signing in keeps the sign-in screen until it has worked")
  func signIn() async {
    let model = AuthViewModel(service: AccountService())
    await model.restore()
    let seen = await screens(of: model) { await model.signIn(email: "anna@example.com", password: "password123") }
    #expect(seen == [.signIn, .home])
    #expect(model.errorMessage == nil)
  }

  @Test("a wrong password and a duplicate email are shown as messages, and the next try clears them (D4.6)")
  func messages() async {
    let model = AuthViewModel(service: AccountService())
    await model.restore()
    await model.signIn(email: "anna@example.com", password: "wrong")
    #expect(model.errorMessage == "Wrong email or password.")
    #expect(model.state == .signedOut)
    await model.signUp(Registration(username: nil, email: "anna@example.com", password: "password123"))
    #expect(model.errorMessage == "This email already has an account.")
    await model.signUp(Registration(username: nil, email: "bob@example.com", password: "password123"))
    #expect(model.errorMessage == nil)
    #expect(model.screen == .home)
  }

  @Test("sign-out always ends on the sign-in screen, also when the store fails (D4.7)")
  func signOut() async {
    let model = AuthViewModel(
      service: AccountService(signedIn: AccountService.anna, signOutError: StoreError(.readOnly, "read-only")))
    await model.restore()
    await #expect(throws: StoreError.self) { try await model.signOut() }
    #expect(model.state == .signedOut)
    #expect(model.screen == .signIn)
  }

  @Test("the home screen's Logout ends the session, and tells what the store could not do (D2.3, S20)")
  func home() async {
    let model = AuthViewModel(
      service: AccountService(signedIn: AccountService.anna, signOutError: StoreError(.readOnly, "It is read-only.")))
    await model.restore()
    let home = HomeViewModel(profile: .envelope) { try await model.signOut() }
    #expect(home.title == "Welcome!")
    #expect(home.logoutButtonTitle == "Logout")
    #expect(home.logoutButtonStyle.color == .red)
    await home.logout()
    #expect(model.screen == .signIn)
    #expect(home.errorMessage == "You are signed out, but the session could not be removed here. It is read-only.")
    #expect(!home.isWorking)
  }
}
