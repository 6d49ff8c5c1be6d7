// Threads of one's own are in Foundation alone.
internal import Foundation
internal import Groundwork

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// A program that runs beside this one, its input and outputs in files.
final class ChildProcess: Sendable {
  /// How it ended.
  enum End: Sendable {
    case exited(Int32)
    case killed(signal: Int32)
  }

  private enum Life {
    case running([CheckedContinuation<End, Never>])
    case ended(End)
  }

  /// Its process id.
  let id: pid_t
  private let life = Guarded(Life.running([]))

  /// Where one of a program's three streams leads.
  enum Stream: Sendable {
    /// A file that it reads (standard input) or that is made anew (the other two).
    case file(String)
    /// A descriptor of this process; it stays open here.
    case descriptor(Int32)
    /// A pipe that ends when this process does, however it does; for standard input.
    case lifeline
    /// A terminal by its path, for reading and writing.
    case terminal(String)
  }

  /// How a program stands to this one.
  enum Standing: Sendable {
    /// In this process's group, so that an interrupt at the terminal reaches it too.
    case same
    /// The leader of a group of its own: signals go to the whole group.
    case ownGroup
    /// The leader of a session of its own: the first terminal that it opens is its controlling one.
    case ownSession
  }

  private let standing: Standing

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - input: the file that it reads, `/dev/null` for none; nil for a pipe that ends when this process does, however it does.
  ///   - output: the file that its standard output goes to.
  ///   - errors: the file that its standard error goes to.
  convenience init(
    _ program: String, _ arguments: [String], environment: [String: String], input: String?, output: String,
    errors: String
  ) throws(WorldError) {
    try self.init(
      program, arguments, environment: environment,
      streams: [input.map { .file($0) } ?? .lifeline, .file(output), .file(errors)])
  }

  /// Starts a program with its three streams.
  init(
    _ program: String, _ arguments: [String], environment: [String: String], streams: [Stream],
    standing: Standing = .same
  ) throws(WorldError) {
    self.standing = standing
    var lifeline: Lifeline?
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (number, stream) in zip(Int32(0)..., streams) {
      switch stream {
      case .file(let path):
        let flags = number == 0 ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC
        posix_spawn_file_actions_addopen(&actions, number, path, flags, 0o600)
      case .terminal(let path): posix_spawn_file_actions_addopen(&actions, number, path, O_RDWR, 0)
      case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, number)
      case .lifeline:
        let line = try Lifeline()
        posix_spawn_file_actions_adddup2(&actions, line.end, number)
        lifeline = line
      }
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // What this process ignores or blocks is not the child's affair.
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigaddset(&signals, SIGPIPE)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    var flags = Int32(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)
    if standing == .ownGroup { flags |= Int32(POSIX_SPAWN_SETPGROUP) }
    if standing == .ownSession { flags |= Self.newSession }
    posix_spawnattr_setflags(&attributes, Int16(flags))
    var words = ([program] + arguments).map { strdup($0) } + [nil]
    var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for word in words + variables { free(word) } }
    var child: pid_t = 0
    let code = posix_spawn(&child, program, &actions, &attributes, &words, &variables)
    guard code == 0 else { throw WorldError("\(program) cannot be started: \(String(cString: strerror(code)))") }
    id = child
    lifeline?.handOver()
    let (process, life, held) = (child, life, lifeline)
    Thread.detachNewThread {
      Self.reap(process, life)
      held?.close()
    }
  }

  /// `POSIX_SPAWN_SETSID`, which the module map of neither system shows.
  private static var newSession: Int32 {
    #if canImport(Darwin)
      0x0400
    #else
      0x80
    #endif
  }

  /// Waits for the end of the program on a thread that may block.
  private static func reap(_ child: pid_t, _ life: Guarded<Life>) {
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
    let end: End = status & 0x7F == 0 ? .exited((status >> 8) & 0xFF) : .killed(signal: status & 0x7F)
    let waiters = life.withLock { life -> [CheckedContinuation<End, Never>] in
      defer { life = .ended(end) }
      if case .running(let waiters) = life { return waiters }
      return []
    }
    for waiter in waiters { waiter.resume(returning: end) }
  }

  /// Waits until the program has ended.
  func end() async -> End {
    await withCheckedContinuation { continuation in
      let end = life.withLock { life -> End? in
        switch life {
        case .ended(let end): return end
        case .running(let waiters):
          life = .running(waiters + [continuation])
          return nil
        }
      }
      if let end { continuation.resume(returning: end) }
    }
  }

  /// Sends it a signal, if it still runs.
  func signal(_ number: Int32) {
    life.withLock { life in
      guard case .running = life else { return }
      _ = kill(standing == .same ? id : -id, number)
    }
  }
}

/// A pipe between this process and a child, on which nothing is ever written: its end tells the child that this process is gone.
private final class Lifeline: Sendable {
  /// What the child reads.
  let end: Int32
  private let held: Int32

  init() throws(WorldError) {
    var ends: [Int32] = [-1, -1]
    let status = pipe(&ends)
    // No other child may inherit either end: it would keep the pipe open.
    for end in ends where status == 0 { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    guard status == 0 else { throw WorldError("no pipe can be made: \(String(cString: strerror(errno)))") }
    (end, held) = (ends[0], ends[1])
  }

  /// The child has its end: this process's copy of it goes.
  func handOver() { closeDescriptor(end) }

  /// The child has ended.
  func close() { closeDescriptor(held) }
}

/// `close(2)`, under a name that nothing here has.
private func closeDescriptor(_ descriptor: Int32) {
  close(descriptor)
}
