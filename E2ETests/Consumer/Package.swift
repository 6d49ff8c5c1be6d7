// swift-tools-version: 6.2
import PackageDescription

// A package of somebody else's, as one would write it: its tests run against a mock server without a line of set-up.
// In your own package the dependency is `.package(url: …)`.
let package = Package(
  name: "Consumer",
  dependencies: [.package(name: "chirp", path: "../..")],
  targets: [
    .testTarget(name: "ConsumerTests", dependencies: [.product(name: "MockServerTesting", package: "chirp")])
  ]
)
