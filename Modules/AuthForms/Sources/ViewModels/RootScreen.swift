/// Which screen the app shows (D1.4, D2.3, D4.3): the root switches on this and on nothing else.
public enum RootScreen: Sendable, Hashable {
  /// It is not known yet whether somebody is signed in.
  case splash
  /// The sign-in flow.
  case signIn
  /// The app itself: feed, tabs, welcome.
  case home
  /// The store could not say whether somebody is signed in; showing the sign-in screen would be a lie (S21). Holds what to tell.
  case unavailable(String)
}
