// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "PersistBenchmarks",
  platforms: [.macOS(.v14)],
  dependencies: [
    .package(name: "Persist", path: ".."),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
  ],
  targets: [
    .systemLibrary(name: "CSQLiteForBenchmarks", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CPostgreSQLForBenchmarks", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .target(name: "LatencyMeasurement", dependencies: [.product(name: "Persist", package: "Persist")]),
    .executableTarget(
      name: "ServerBenchmarks",
      dependencies: [
        "LatencyMeasurement",
        .product(name: "Persist", package: "Persist"), .product(name: "PersistPostgreSQL", package: "Persist"),
        "CPostgreSQLForBenchmarks",
      ]),
    .executableTarget(
      name: "SyncBenchmarks",
      dependencies: [
        .product(name: "Persist", package: "Persist"), .product(name: "PersistSync", package: "Persist"),
        // The command, whose copies are one of the comparisons, is built beside the program.
        .product(name: "persist", package: "Persist"), "CSQLiteForBenchmarks",
      ]),
    .executableTarget(
      name: "WaitBenchmarks",
      dependencies: [.product(name: "Persist", package: "Persist"), "CSQLiteForBenchmarks"]),
    .target(
      name: "PropertyClasses",
      dependencies: [
        .product(name: "Persist", package: "Persist"), .product(name: "PersistMacrosless", package: "Persist"),
      ]),
    .executableTarget(
      name: "PropertyBenchmarks",
      dependencies: [
        "PropertyClasses", .product(name: "Persist", package: "Persist"),
        .product(name: "PersistMacrosless", package: "Persist"),
      ]),
    .executableTarget(
      name: "PersistBenchmarks",
      dependencies: [
        .product(name: "Persist", package: "Persist"),
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        "CSQLiteForBenchmarks", "LatencyMeasurement",
      ]),
  ],
  swiftLanguageModes: [.v6]
)
