// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

// A server of notes on Hummingbird: a package of its own, so that its dependencies are nobody else's.
let package = Package(
  name: "NotesServer",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Persist", path: "../.."),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
    .package(url: "https://github.com/apple/swift-configuration", from: "1.0.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.4.0"),
  ],
  targets: [
    .target(
      name: "Notes",
      dependencies: [
        .product(name: "Persist", package: "Persist"), .product(name: "PersistMacrosless", package: "Persist"),
        .product(name: "PersistObservability", package: "Persist"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "NotesServer",
      dependencies: [
        "Notes",
        .product(name: "Persist", package: "Persist"),
        .product(name: "PersistObservability", package: "Persist"),
        .product(name: "PersistPostgreSQL", package: "Persist"),
        .product(name: "Configuration", package: "swift-configuration"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "Trial",
      dependencies: [
        "Notes", .product(name: "Persist", package: "Persist"),
        .product(name: "PersistMacrosless", package: "Persist"),
      ],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
