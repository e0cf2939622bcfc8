// swift-tools-version: 6.1
import PackageDescription

// Scripts/measure-builds copies and builds this package.
let package = Package(
  name: "ShopOverGRDB",
  platforms: [.macOS(.v15)],
  dependencies: [.package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0")],
  targets: ["Shop", "Opening"].map { name in
    .executableTarget(name: name, dependencies: [.product(name: "GRDB", package: "GRDB.swift")])
  },
  swiftLanguageModes: [.v6]
)
