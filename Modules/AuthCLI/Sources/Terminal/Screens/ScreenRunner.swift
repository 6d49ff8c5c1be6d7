import Groundwork
import Observation
import TerminalScreen

/// Runs pages on a terminal until there is none left: keys go to the page that is there, and each change is drawn.
@MainActor
final class ScreenRunner {
  private let port: any ScreenPort
  private let look: ScreenLook
  private let time: any TimeSource
  private let tasks: TaskStarter
  private let page: @MainActor () -> (any ScreenPage)?
  private var decoder = KeyDecoder()
  private var writer: FrameWriter
  private var spinner = 0
  private var isTicking = false
  private var isDrawing = false
  private var isStale = false

  /// - Parameter page: the page that is to be shown now, or nil when the screen is to be left; observed.
  init(
    port: any ScreenPort, look: ScreenLook, time: any TimeSource, tasks: TaskStarter,
    page: @escaping @MainActor () -> (any ScreenPage)?
  ) {
    self.port = port
    self.look = look
    self.time = time
    self.tasks = tasks
    self.page = page
    writer = FrameWriter(usesColor: look.usesColor)
  }

  /// Shows pages until there is none; then the terminal is as it was.
  ///
  /// - Throws: `ConsoleError` if the terminal cannot be taken; `CommandFailure.cancelled` when it is gone.
  func run() async throws {
    try await port.open()
    defer { port.close() }
    while page() != nil {
      await draw()
      switch await port.read() {
      case .bytes(let bytes): press(decoder.feed(bytes))
      case .pause: press(decoder.pause())
      case .resized, .resumed: writer.forget()
      case .woken: break
      case .ended: throw CommandFailure.cancelled
      }
    }
  }

  private func press(_ keys: [Key]) {
    for key in keys {
      switch key {
      case .interrupt: port.raise(.interrupt)
      case .quit: port.raise(.quit)
      case .suspend: port.raise(.suspend)
      case .redraw: writer.forget()
      default: page()?.take(key)
      }
    }
  }

  /// Draws what is there now; calls that come while a drawing is under way make it draw once more.
  private func draw() async {
    isStale = true
    guard !isDrawing else { return }
    isDrawing = true
    defer { isDrawing = false }
    while isStale {
      isStale = false
      guard let page = page() else { return port.wake() }
      page.follow()
      let size = port.size
      let frame = withObservationTracking {
        _ = self.page()
        return page.frame(size: size, look: look, spinner: spinner)
      } onChange: { [weak self, tasks] in
        // Called before the change: it is drawn after it.
        tasks.start { [weak self] in await self?.draw() }
      }
      if page.isWorking { tick() }
      await port.write(writer.draw(frame, size: size))
    }
  }

  /// Turns the spinner as long as something is waited for.
  private func tick() {
    guard !isTicking else { return }
    isTicking = true
    tasks.start { [weak self, time] in
      while await self?.turn() == true {
        do { try await time.sleep(for: .milliseconds(100)) } catch { return }
      }
    }
  }

  /// - Returns: whether it is still to turn.
  private func turn() async -> Bool {
    guard page()?.isWorking == true else {
      isTicking = false
      return false
    }
    spinner += 1
    await draw()
    return true
  }
}
