// swift-tools-version: 6.2
import PackageDescription

// Every target below goes through `settings` at the end: one loop, one set of rules, warnings are errors.

/// A target whose sources stand in `path/Sources` and whose tests, if it has any, stand beside them in `path/Tests`.
func module(
  _ name: String, at path: String? = nil, imports: [Target.Dependency] = [], resources: [Resource] = [],
  testsAlsoImport testImports: [Target.Dependency]? = nil, testResources: [Resource] = []
) -> [Target] {
  let folder = path ?? "Modules/\(name)"
  let library = Target.target(
    name: name, dependencies: imports, path: "\(folder)/Sources", resources: resources)
  guard let testImports else { return [library] }
  return [
    library,
    .testTarget(
      name: "\(name)Tests", dependencies: [.byName(name: name)] + imports + testImports,
      path: "\(folder)/Tests", resources: testResources),
  ]
}

func systemLibrary(_ name: String, pkgConfig: String?, apt: String, brew: String) -> Target {
  .systemLibrary(
    name: name, path: "SystemLibraries/\(name)", pkgConfig: pkgConfig,
    providers: [.apt([apt]), .brew([brew])])
}

let applePlatforms: [Platform] = [.macOS, .iOS]

var targets: [Target] = [
  systemLibrary("CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev", brew: "sqlite"),
  // Ciphers, hashes and keys; TLS is another library, which nobody links who only seals records.
  systemLibrary("COpenSSL", pkgConfig: "libcrypto", apt: "libssl-dev", brew: "openssl@3"),
  systemLibrary("CLibssl", pkgConfig: "openssl", apt: "libssl-dev", brew: "openssl@3"),
  systemLibrary("CLibevent", pkgConfig: "libevent", apt: "libevent-dev", brew: "libevent"),
  systemLibrary("CLibsecret", pkgConfig: "libsecret-1", apt: "libsecret-1-dev", brew: "libsecret"),
  // Opened at the first request, not linked: so pkg-config has no say.
  systemLibrary("CLibcurl", pkgConfig: nil, apt: "libcurl4-openssl-dev", brew: "curl"),
  systemLibrary("CLibyaml", pkgConfig: "yaml-0.1", apt: "libyaml-dev", brew: "libyaml"),
]

// What a client app or tool reuses, one by one.
targets += module("Groundwork", testsAlsoImport: [])
targets += module("VirtualTime", imports: ["Groundwork"], testsAlsoImport: [])
targets += module("CommandLineTable", imports: ["Groundwork"], testsAlsoImport: [])
// A terminal's keys in, screens out; and a terminal in memory, for tests and pictures.
targets += module("TerminalScreen", testsAlsoImport: [])
targets += module("TerminalRecording", imports: ["Groundwork", "TerminalScreen"], testsAlsoImport: [])
targets += module("CheckedYAML", imports: ["Groundwork", "CLibyaml"], testsAlsoImport: [])
targets += module("AuthModels", testsAlsoImport: [])
targets += module(
  "AuthNetworking", imports: ["Groundwork", "AuthModels"], testsAlsoImport: ["AuthTestSupport"])
targets += module(
  "AuthNetworkingURLSession", imports: ["Groundwork", "AuthModels", "AuthNetworking"],
  testsAlsoImport: ["AuthTestSupport"])
targets += module(
  "AuthNetworkingCurl", imports: ["Groundwork", "AuthModels", "AuthNetworking", "CLibcurl"],
  testsAlsoImport: ["AuthNetworkingURLSession", "AuthTestSupport", "MockServerCore", "MockServerHTTP"])
targets += module(
  "AuthStorage", imports: ["Groundwork", "AuthModels", "CSQLite", "COpenSSL"],
  testsAlsoImport: ["AuthTestSupport", "storage-torture"])
// A target of its own, and a program of its own: nothing else links libsecret, which brings all of GLib.
targets += module(
  "AuthStorageSecretService", imports: ["Groundwork", "AuthStorage", "CLibsecret"],
  testsAlsoImport: ["chirp-secret-service"])
targets += [
  .executableTarget(
    name: "chirp-secret-service", dependencies: ["Groundwork", "AuthStorage", "AuthStorageSecretService"],
    path: "Modules/chirp-secret-service")
]
targets += module(
  "AuthSession", imports: ["Groundwork", "AuthModels", "AuthNetworking", "AuthStorage"],
  testsAlsoImport: ["AuthTestSupport", "VirtualTime", "MockServerCore", "MockServerInProcess"])
// A module of its own: whoever talks to no authorization server needs none of it.
targets += module(
  "AuthOAuth", imports: ["Groundwork", "AuthModels", "AuthNetworking", "AuthStorage", "AuthSession", "COpenSSL"],
  testsAlsoImport: ["AuthTestSupport", "VirtualTime"])
targets += module(
  "AuthForms", imports: ["Groundwork", "AuthModels", "AuthStorage", "AuthSession"],
  resources: [.embedInCode("Strings")], testsAlsoImport: ["AuthTestSupport", "AuthNetworking", "VirtualTime"])
// SwiftUI screens: empty where there is no SwiftUI.
targets += module("AuthUI", imports: ["AuthForms"])
targets += module(
  "AuthCLI",
  imports: [
    "Groundwork", "CommandLineTable", "TerminalScreen", "AuthModels", "AuthNetworking", "AuthStorage", "AuthSession",
    "AuthOAuth",
    "AuthForms",
  ],
  testsAlsoImport: [
    "AuthTestSupport", "TerminalRecording", "MockServerCore", "MockServerInProcess", "MockServerHTTP", "chirp",
  ])
targets += module(
  "AuthTestSupport", imports: ["Groundwork", "AuthModels", "AuthNetworking", "AuthStorage"])
targets += [
  .executableTarget(
    name: "chirp",
    dependencies: [
      "Groundwork", "AuthCLI", "AuthSession", "AuthStorage",
      .target(name: "AuthNetworkingCurl", condition: .when(platforms: [.linux])),
      .target(name: "AuthModels", condition: .when(platforms: applePlatforms)),
      .target(name: "AuthNetworkingURLSession", condition: .when(platforms: applePlatforms)),
    ],
    path: "Modules/chirp")
]

// The mock server imports no client module: each side writes the wire format on its own.
targets += module(
  "MockServerCore", at: "MockServer/Core", imports: ["Groundwork", "COpenSSL"], testsAlsoImport: [])
targets += module(
  "MockServerHTTP", at: "MockServer/HTTP", imports: ["Groundwork", "MockServerCore", "CLibevent", "CLibssl"],
  testsAlsoImport: [])
targets += module(
  "MockServerInProcess", at: "MockServer/InProcess",
  imports: ["Groundwork", "MockServerCore", "AuthModels", "AuthNetworking"], testsAlsoImport: ["VirtualTime"])
targets += [
  .executableTarget(
    name: "mock-server",
    dependencies: ["Groundwork", "CommandLineTable", "CheckedYAML", "MockServerCore", "MockServerHTTP"],
    path: "MockServer/Executable/Sources"),
  .testTarget(
    name: "MockServerExecutableTests",
    dependencies: ["Groundwork", "CommandLineTable", "CheckedYAML", "MockServerCore", "MockServerHTTP", "mock-server"],
    path: "MockServer/Executable/Tests"),
]

// For tests written with Swift Testing, in any package: a realm of the mock server for each test.
targets += module(
  "MockServerTesting", at: "E2ETests/TestingTrait", imports: ["Groundwork", "MockServerCore", "MockServerHTTP"],
  testsAlsoImport: [])

// The end-to-end rig.
targets += module(
  "ScenarioKit", at: "E2ETests/ScenarioKit",
  imports: [
    "Groundwork", "VirtualTime", "CheckedYAML", "AuthModels", "AuthNetworking", "AuthNetworkingURLSession",
    "AuthStorage", "AuthSession", "AuthForms", "MockServerCore", "MockServerHTTP", "MockServerInProcess",
  ],
  resources: [.embedInCode("Drivers/drivers.yaml"), .embedInCode("Breakage/breakages.yaml")], testsAlsoImport: [])
targets += [
  .executableTarget(
    name: "e2e", dependencies: ["Groundwork", "CommandLineTable", "CheckedYAML", "ScenarioKit"],
    path: "E2ETests/Executable"),
  // Loaded into `chirp` by the scenarios that move its clocks.
  .target(
    name: "ClockShift", path: "E2ETests/ClockShift", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
  .testTarget(name: "ScenarioSuites", dependencies: ["CheckedYAML", "ScenarioKit"], path: "E2ETests/Suites"),
  .executableTarget(
    name: "terminal-pictures",
    dependencies: ["Groundwork", "TerminalScreen", "TerminalRecording", "MockServerCore", "MockServerHTTP"],
    path: "Tools/Pictures"),
  .executableTarget(
    name: "storage-torture", dependencies: ["Groundwork", "CommandLineTable", "AuthModels", "AuthStorage"],
    path: "Tools/StorageTorture"),
  .executableTarget(
    name: "server-fuzz", dependencies: ["Groundwork", "CommandLineTable", "MockServerCore", "MockServerHTTP"],
    path: "Tools/ServerFuzz"),
  .executableTarget(
    name: "bench",
    dependencies: [
      "Groundwork", "CommandLineTable", "AuthModels", "AuthNetworking", "AuthNetworkingCurl",
      "AuthNetworkingURLSession", "AuthStorage", "AuthSession", "MockServerCore", "MockServerInProcess", "SimulatorKit",
      "CSQLite", "CLibcurl",
    ],
    path: "Tools/Benchmarks"),
]

// The session engine under every interleaving.
targets += module(
  "SimulatorKit", at: "Tools/Simulator",
  imports: [
    "Groundwork", "VirtualTime", "AuthModels", "AuthNetworking", "AuthStorage", "AuthSession", "MockServerCore",
    "MockServerInProcess",
  ],
  testsAlsoImport: [])
targets += [
  .executableTarget(
    name: "simulate", dependencies: ["Groundwork", "CommandLineTable", "SimulatorKit"],
    path: "Tools/Simulator/Executable")
]

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
  .treatWarning("ExplicitSendable", as: .error),
]
for target in targets where target.type != .system {
  target.swiftSettings = settings
}

let libraries = [
  "Groundwork", "VirtualTime", "CommandLineTable", "TerminalScreen", "TerminalRecording", "CheckedYAML", "AuthModels",
  "AuthNetworking", "AuthNetworkingURLSession",
  "AuthNetworkingCurl", "AuthStorage", "AuthStorageSecretService", "AuthSession", "AuthOAuth", "AuthForms", "AuthUI",
  "AuthCLI",
  "AuthTestSupport", "MockServerCore",
  "MockServerHTTP", "MockServerInProcess", "MockServerTesting", "ScenarioKit", "SimulatorKit",
]

let package = Package(
  name: "chirp",
  platforms: [.macOS(.v14), .iOS(.v17)],
  products: libraries.map { .library(name: $0, targets: [$0]) } + [
    .library(name: "clockshift", type: .dynamic, targets: ["ClockShift"]),
    .executable(name: "chirp", targets: ["chirp"]),
    .executable(name: "chirp-secret-service", targets: ["chirp-secret-service"]),
    .executable(name: "mock-server", targets: ["mock-server"]),
    .executable(name: "e2e", targets: ["e2e"]),
    .executable(name: "bench", targets: ["bench"]),
    .executable(name: "terminal-pictures", targets: ["terminal-pictures"]),
    .executable(name: "storage-torture", targets: ["storage-torture"]),
    .executable(name: "server-fuzz", targets: ["server-fuzz"]),
    .executable(name: "simulate", targets: ["simulate"]),
  ],
  targets: targets,
  swiftLanguageModes: [.v6]
)
