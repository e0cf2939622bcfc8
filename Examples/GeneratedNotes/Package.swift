// swift-tools-version: 6.1
import PackageDescription

// A package whose classes are generated from its model with each build.
let package = Package(
  name: "GeneratedNotes",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Persist", path: "../..")],
  targets: [
    .executableTarget(
      name: "Notes",
      dependencies: [.product(name: "Persist", package: "Persist")],
      resources: [.copy("Notes.xcdatamodeld")],
      plugins: [.plugin(name: "PersistGenerate", package: "Persist")])
  ],
  swiftLanguageModes: [.v6]
)
