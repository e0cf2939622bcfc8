// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "Shop",
  platforms: [.macOS(.v15)],
  dependencies: [.package(path: "../persist")],
  targets: [
    .executableTarget(
      name: "Shop",
      dependencies: [
        .product(name: "Persist", package: "persist"), .product(name: "PersistMacrosless", package: "persist"),
      ])
  ])
