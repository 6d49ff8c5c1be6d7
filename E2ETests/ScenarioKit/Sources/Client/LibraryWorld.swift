internal import AuthModels
internal import AuthNetworking
internal import AuthSession
internal import AuthStorage
internal import Groundwork

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A world whose clients are made of this package's modules: under virtual time without sockets, or over real ones.
final class LibraryWorld: ScenarioWorld {
  /// What differs between the drivers.
  struct Surroundings: Sendable {
    var admin: AdminClient
    var tasks: TaskStarter
    var server: ServerIdentity
    var clock: any MachineClock
    var transport: any HTTPTransport
    /// The store as a process of that name sees it.
    var store: @Sendable (_ process: String, _ clock: any TimeSource) throws(StoreError) -> any SessionStore
    var elapsed: @Sendable () -> Duration?
    var advance: @Sendable (Duration) async throws(WorldError) -> Void
    var settle: @Sendable () async -> Void
    /// The store's files, in which no secret may stand.
    var files: @Sendable () -> [Output]
    /// Those of them that others may read or write.
    var looseFiles: (@Sendable () -> [String])?
    var close: @Sendable () async -> Void
    /// What the clients do wrong, on purpose.
    var faults: Set<ClientFault> = []
  }

  private struct State {
    var processes: [String: ClientProcess] = [:]
    var ended: [ClientProcess] = []
    var offline: [String: Guarded<Bool>] = [:]
    var storeFaults: [String: Guarded<StoreError.Code?>] = [:]
    var screens: [String: Screens] = [:]
    var boots = 1
  }

  private let scenario: Scenario
  private let surroundings: Surroundings
  private let tokens = TokenLog()
  private let storeLog = StoreLog()
  private let bundles = InMemoryTokenStore()
  private let items = TwoItems()
  private let state = Guarded(State())

  init(_ scenario: Scenario, _ surroundings: Surroundings) {
    self.scenario = scenario
    self.surroundings = surroundings
  }

  var admin: AdminClient { surroundings.admin }
  var tasks: TaskStarter { surroundings.tasks }
  var filesAreEmpty: Bool { surroundings.faults.contains(.filesEmpty) }
  var elapsed: Duration? { surroundings.elapsed() }

  func perform(_ verb: Verb, as name: String) async -> Outcome {
    do throws(WorldError) {
      let process = try await process(name)
      guard verb.isForm else { return await process.perform(verb) }
      return await screens(name, process).perform(verb)
    } catch {
      return Outcome(.other, message: error.message)
    }
  }

  func change(_ verb: Verb, of name: String) async throws(WorldError) {
    switch verb {
    case .relaunch, .kill: await end(name)
    case .reboot:
      await end(name)
      let boots = state.withLock { state in
        state.boots += 1
        return state.boots
      }
      surroundings.clock.restartMachine(bootID: "scenario-boot-\(boots)")
    case .offline(let isOffline): offlineSwitch(name).withLock { $0 = isOffline }
    case .storeFault(let code):
      storeFault(name).withLock { $0 = code.flatMap(StoreError.Code.init(rawValue:)) }
    case .clientClock(let jump): surroundings.clock.jumpWallClock(by: jump)
    default: throw WorldError("nothing happens to a client by \(verb)")
    }
  }

  func advance(by duration: Duration) async throws(WorldError) { try await surroundings.advance(duration) }

  func settle() async { await surroundings.settle() }

  func pause() async {
    // Cut short only when the whole run is; then the next look is the last one.
    do { try await surroundings.clock.sleep(for: .milliseconds(20)) } catch { return }
  }

  func client(_ name: String) async throws(WorldError) -> ClientView {
    let process = try await process(name)
    await settle()
    return process.view
  }

  func form(_ name: String) async throws(WorldError) -> FormView {
    let process = try await process(name)
    // What is ready to be shown is shown: the session's state comes to the screens by a task of its own.
    await settle()
    return await screens(name, process).view()
  }

  func store() async throws(WorldError) -> StoreView {
    do throws(StoreError) {
      let store = try store(of: "the check", surroundings.clock)
      let record = try await store.read(SessionSlot(server: surroundings.server.text)).record
      return StoreView(
        isPresent: record != nil, isSameSession: record.map { storeLog.isFirst($0.sessionID) } ?? false,
        rotations: record.map { storeLog.rotations(of: $0.sessionID) },
        pendingRevocations: try await store.pendingRevocations().count,
        userNames: [record?.user?.email, record?.user?.username].compactMap(\.self),
        looseFiles: surroundings.looseFiles?())
    } catch {
      throw WorldError("the store cannot be read: \(error)")
    }
  }

  func token(_ kind: TokenKind, of process: String) async throws(WorldError) -> String {
    guard let token = tokens.newest(kind, of: process) else {
      throw WorldError("the client \(process) was given no \(kind.rawValue) token yet")
    }
    return token
  }

  func secrets() async -> [Secret] { tokens.secrets }

  func outputs() async -> [Output] {
    let processes = state.withLock { state in state.ended + state.processes.values }
    var outputs = processes.flatMap(\.outputs) + surroundings.files()
    if surroundings.faults.contains(.tokensInPlainSight), let secret = tokens.secrets.first {
      outputs.append(Output("the preferences", secret.text))
    }
    return outputs
  }

  func close() async {
    let processes = state.withLock { Array($0.processes.values) }
    for process in processes {
      process.stop()
      await process.life.kill()
    }
    await surroundings.close()
  }

  /// The process of that name, launched if it does not run: it reads the store first, as an app does.
  private func process(_ name: String) async throws(WorldError) -> ClientProcess {
    if let running = state.withLock({ $0.processes[name] }) { return running }
    let life = KillSwitch()
    let clock = ProcessClock(machine: surroundings.clock, life: life)
    let store: any SessionStore
    do throws(StoreError) {
      store = try self.store(of: name, clock)
      let hasRunBefore = state.withLock { !$0.ended.isEmpty }
      if surroundings.faults.contains(.restartForgets), hasRunBefore {
        _ = try await store.update(SessionSlot(server: surroundings.server.text)) { $0.state = SlotState() }
      }
    } catch {
      throw WorldError("the store cannot be opened: \(error)")
    }
    let launched = ClientProcess(
      ClientProcess.Parts(
        server: surroundings.server, profile: scenario.profile,
        transport: ProcessTransport(
          base: surroundings.transport, life: life, isOffline: offlineSwitch(name), tokens: tokens, process: name),
        store: ProcessStore(base: store, life: life, log: storeLog, fault: storeFault(name)), time: clock,
        tasks: surroundings.tasks, life: life, faults: surroundings.faults, retries: scenario.client.retries))
    // Two steps at once may launch it: the first one wins, the other never does anything.
    let process = state.withLock { state in
      if let running = state.processes[name] { return running }
      state.processes[name] = launched
      return launched
    }
    if scenario.launchesWithRestore { _ = await process.engine.restore() }
    return process
  }

  /// The store as a process of that name sees it, in the form that the scenario's client keeps it in.
  private func store(of name: String, _ clock: any TimeSource) throws(StoreError) -> any SessionStore {
    let faults = surroundings.faults
    let base: any TokenStore = faults.contains(.expiryNotStored) ? ForgetfulTokenStore(base: bundles) : bundles
    let slot = SessionSlot(server: surroundings.server.text)
    switch scenario.client.keeps {
    case .session: return try surroundings.store(name, clock)
    case .tokens: return TokenStoreSessionAdapter(store: base, slot: slot, time: clock)
    case .twoItems:
      let store: any TokenStore =
        faults.contains(.itemsNotMigrated) ? base : MigratingTokenStore(base, takingOver: items)
      return TokenStoreSessionAdapter(store: store, slot: slot, time: clock)
    }
  }

  func prepare() async throws(WorldError) {
    guard let name = scenario.client.holdsSessionOf, let user = scenario.users.first(where: { $0.name == name }) else {
      return
    }
    let tokens = try await admin.call("POST", "sessions", ["user": .string(user.email)])
    items.put(access: tokens["accessToken"]?.string, refresh: tokens["refreshToken"]?.string)
  }

  private func storeFault(_ name: String) -> Guarded<StoreError.Code?> {
    state.withLock { state in
      if let known = state.storeFaults[name] { return known }
      let new = Guarded<StoreError.Code?>(nil)
      state.storeFaults[name] = new
      return new
    }
  }

  private func end(_ name: String) async {
    let ended = state.withLock { state in
      let process = state.processes.removeValue(forKey: name)
      state.screens[name] = nil
      if let process { state.ended.append(process) }
      return process
    }
    ended?.stop()
    await ended?.life.kill()
  }

  private func offlineSwitch(_ name: String) -> Guarded<Bool> {
    state.withLock { state in
      if let known = state.offline[name] { return known }
      let new = Guarded(false)
      state.offline[name] = new
      return new
    }
  }

  private func screens(_ name: String, _ process: ClientProcess) async -> Screens {
    if let open = state.withLock({ $0.screens[name] }) { return open }
    let new = await Screens(process, usesFakeService: scenario.client.usesFakeService)
    return state.withLock { state in
      if let open = state.screens[name] { return open }
      state.screens[name] = new
      return new
    }
  }
}

extension Scenario {
  /// A scenario with screens starts the app by `open app`, which restores; every other client restores when it is launched.
  var launchesWithRestore: Bool { !features.contains(.form) }
}

/// The two items of D2's own store.
private final class TwoItems: CredentialItems {
  private let items = Guarded<[CredentialItem: String]>([:])

  func put(access: String?, refresh: String?) {
    items.withLock { items in
      items[.accessToken] = access
      items[.refreshToken] = refresh
    }
  }

  func load(_ item: CredentialItem) async throws -> String? { items.withLock { $0[item] } }

  func remove(_ item: CredentialItem) async throws { items.withLock { $0[item] = nil } }
}
