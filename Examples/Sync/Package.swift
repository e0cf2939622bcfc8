// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

// Devices that share chores through a server on Hummingbird: a package of its own, so that its dependencies are nobody
// else's.
let package = Package(
  name: "Chores",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Persist", path: "../.."),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
  ],
  targets: [
    .target(
      name: "Chores",
      dependencies: [
        .product(name: "Persist", package: "Persist"), .product(name: "PersistMacrosless", package: "Persist"),
        .product(name: "PersistSync", package: "Persist"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "ChoreServer",
      dependencies: [
        "Chores", .product(name: "Persist", package: "Persist"), .product(name: "PersistSync", package: "Persist"),
        .product(name: "PersistSyncHTTP", package: "Persist"),
        .product(name: "Hummingbird", package: "hummingbird"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "ChoreDevice",
      dependencies: [
        "Chores", .product(name: "Persist", package: "Persist"), .product(name: "PersistSync", package: "Persist"),
        .product(name: "PersistSyncHTTP", package: "Persist"),
      ],
      swiftSettings: settings),
    // The program of `./try --minutes`.
    .executableTarget(
      name: "ChoreTrial",
      dependencies: [
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
      ],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
