// swift-tools-version: 6.1
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

// A page in the browser for looking into a store: a package of its own, so that its HTTP server is nobody else's
// dependency.
let package = Package(
  name: "PersistStudio",
  platforms: [.macOS(.v15)],
  products: [.executable(name: "persist-studio", targets: ["persist-studio"])],
  traits: [.trait(name: "SQLCipher", description: "Opens encrypted stores, with the library of SQLCipher.")],
  dependencies: [
    .package(
      name: "Persist", path: "../",
      traits: [.defaults, .trait(name: "SQLCipher", condition: .when(traits: ["SQLCipher"]))]),
    // Its traits, configuration files and URL-encoded forms, would compile modules that the studio doesn't use.
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.90.0"),
  ],
  targets: [
    // The page's files are part of the program: nothing has to be found beside it.
    .target(name: "StudioPage", resources: [.embedInCode("Files")], swiftSettings: settings),
    .target(
      name: "StudioServer",
      dependencies: [
        "StudioPage",
        .product(name: "PersistInspection", package: "Persist"),
        .product(name: "PersistStudioSession", package: "Persist"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "persist-studio",
      dependencies: [
        "StudioServer",
        .product(name: "Persist", package: "Persist"),
        .product(name: "PersistInspection", package: "Persist"),
        .product(name: "PersistStudioSession", package: "Persist"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Sources/PersistStudio", swiftSettings: settings),
    .testTarget(
      name: "StudioTests",
      dependencies: [
        "StudioPage",
        .product(name: "Persist", package: "Persist"),
        .product(name: "PersistInspection", package: "Persist"),
        .product(name: "PersistStudioSession", package: "Persist"),
      ],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
