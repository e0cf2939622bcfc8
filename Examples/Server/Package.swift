// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

// Servers on Hummingbird: a package of its own, so that its dependencies are nobody else's.
let package = Package(
  name: "NotesServer",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Persist", path: "../.."),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
    .package(url: "https://github.com/apple/swift-configuration", from: "1.0.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.4.0"),
  ],
  targets: [
    .target(
      name: "PrometheusMetrics", dependencies: [.product(name: "CoreMetrics", package: "swift-metrics")],
      swiftSettings: settings),
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
        "Notes", "PrometheusMetrics",
        .product(name: "Persist", package: "Persist"),
        .product(name: "PersistObservability", package: "Persist"),
        .product(name: "PersistPostgreSQL", package: "Persist"),
        .product(name: "Configuration", package: "swift-configuration"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: settings),
    // The program of the article "On servers".
    .executableTarget(
      name: "Reminders",
      dependencies: [
        "PrometheusMetrics",
        .product(name: "Persist", package: "Persist"), .product(name: "PersistMacrosless", package: "Persist"),
        .product(name: "PersistObservability", package: "Persist"),
        .product(name: "Configuration", package: "swift-configuration"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Hummingbird", package: "hummingbird"),
      ]),
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
