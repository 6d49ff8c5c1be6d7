/// Why the front could not begin to listen; `description` says what to do about it.
public struct FrontError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of trouble it is.
  public enum Code: Sendable, Hashable {
    /// Another program listens on the port.
    case portInUse
    /// The port is one that only root may use, or the system forbids it otherwise.
    case notPermitted
    /// The host is no address of this machine, or no address at all.
    case badHost
    /// The certificate or its key cannot be used.
    case badCertificate
    /// It was started before: a front starts once.
    case alreadyStarted
    /// The system has run out of something: descriptors, memory, threads.
    case exhausted
  }

  /// What kind of trouble it is.
  public let code: Code
  /// What happened, and what to do.
  public let message: String

  /// What happened, and what to do.
  public var description: String { message }

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }
}
