// swift-tools-version: 6.1
import PackageDescription

// Scripts/measure-builds copies this package, and adds Examples/FirstSteps as the sources of Shop.
let package = Package(
  name: "ShopOverPersist",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Persist", path: "../../..")],
  targets: ["Shop", "Opening"].map { name in
    .executableTarget(
      name: name,
      dependencies: [
        .product(name: "Persist", package: "Persist"), .product(name: "PersistMacrosless", package: "Persist"),
      ])
  },
  swiftLanguageModes: [.v6]
)
