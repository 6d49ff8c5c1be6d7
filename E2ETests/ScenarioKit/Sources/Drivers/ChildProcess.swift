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

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - input: the file that it reads, `/dev/null` for none; nil for a pipe that ends when this process does, however it does.
  ///   - output: the file that its standard output goes to.
  ///   - errors: the file that its standard error goes to.
  init(
    _ program: String, _ arguments: [String], environment: [String: String], input: String?, output: String,
    errors: String
  ) throws(WorldError) {
    let lifeline = input == nil ? try Lifeline() : nil
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let input {
      posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0)
    } else if let lifeline {
      posix_spawn_file_actions_adddup2(&actions, lifeline.end, 0)
    }
    posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // What this process ignores or blocks is not the child's affair.
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigaddset(&signals, SIGPIPE)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    var words = ([program] + arguments).map { strdup($0) } + [nil]
    var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for word in words + variables { free(word) } }
    var child: pid_t = 0
    let code = posix_spawn(&child, program, &actions, &attributes, &words, &variables)
    guard code == 0 else { throw WorldError("\(program) cannot be started: \(String(cString: strerror(code)))") }
    id = child
    lifeline?.handOver()
    let (process, life) = (child, life)
    Thread.detachNewThread {
      Self.reap(process, life)
      lifeline?.close()
    }
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
      if case .running = life { _ = kill(id, number) }
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
