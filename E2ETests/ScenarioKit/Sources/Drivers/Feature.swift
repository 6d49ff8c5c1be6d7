/// Something that a scenario may need and a driver may lack; the names of `drivers.yaml`.
package enum Feature: String, Sendable, CaseIterable {
  case form, advance, offline, kill, reboot, restore, cancel, events, took, fields, rotations, outbox, wire, store,
    client, programs, exit, auto, files, project
  case clientClock = "client-clock"
  case stillTime = "still-time"
  case longLived = "long-lived"
  case sameSession = "same-session"
  case revokeRefresh = "revoke-refresh"
  case bodyOfToken = "body-of-token"
}

extension Scenario {
  /// What a driver must be able to do or see to run the scenario.
  package var features: Set<Feature> {
    var features = Set(needs.compactMap(Feature.init))
    for step in steps { features.formUnion(step.features) }
    if client.isSpecial { features.insert(.client) }
    for client in expect.clients.values where client.events != nil { features.insert(.events) }
    if expect.store?.rotations != nil { features.insert(.rotations) }
    if expect.store?.isPrivate != nil { features.insert(.files) }
    if expect.store?.isSameSession != nil { features.insert(.sameSession) }
    if expect.store?.pendingRevocations != nil { features.insert(.outbox) }
    return features
  }
}

extension Step {
  fileprivate var features: Set<Feature> {
    var features: Set<Feature> = []
    if isAtScreen { features.insert(.form) }
    if expect.client?.events != nil { features.insert(.events) }
    if expect.took != nil { features.insert(.took) }
    if expect.exitCode != nil { features.insert(.exit) }
    if expect.fields != nil { features.insert(.fields) }
    switch verb {
    case .until(let belief): if belief.events != nil { features.insert(.events) }
    case .advance: features.insert(.advance)
    case .storeFault: features.insert(.store)
    case .offline: features.insert(.offline)
    case .kill: features.insert(.kill)
    case .project: features.insert(.project)
    case .auto: features.insert(.auto)
    case .reboot: features.insert(.reboot)
    case .restore: features.insert(.restore)
    case .cancel: features.insert(.cancel)
    case .clientClock: features.insert(.clientClock)
    case .revoke(.refresh): features.insert(.revokeRefresh)
    case .token: if expect.body != nil { features.insert(.bodyOfToken) }
    default: break
    }
    return features
  }
}
