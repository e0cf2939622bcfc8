// swift-tools-version: 6.1
import Foundation
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

// The plugin runs a tool that is compiled for the building machine, and Persist is compiled with it a second time. A
// package that uses the plugin pays for that once; a build of this package itself, which the shell's PWD tells, has no
// use for it and would pay with every change.
let isBuiltForItself = Context.environment["PWD"] == Context.packageDirectory

// A build of this package itself leaves out what needs libpq if its header isn't there; packages that use the product
// PersistPostgreSQL need it in any case.
let serverHeaders = ["/usr/include/postgresql", "/usr/include", "/usr/local/include", "/opt/homebrew/opt/libpq/include"]
let hasServerHeaders = serverHeaders.contains { FileManager.default.fileExists(atPath: $0 + "/libpq-fe.h") }
let hasServerLibrary = !isBuiltForItself || hasServerHeaders

// Apple's platforms have Core Data. The target exists there for packages that depend on it on other platforms only.
#if canImport(Darwin)
  let coreDataExclusions = [
    "Context", "Errors", "Exports.swift", "Foundation", "Migration", "Model", "Objects", "Requests", "Runtime",
    "Stores",
  ]
  let coreDataPass: [Target.PluginUsage] = []
#else
  let coreDataExclusions = ["OnApple"]
  let coreDataPass: [Target.PluginUsage] = ["PersistCoreData"]
#endif

// The core is one folder of layers in three modules, so that no compiler process has to hold all of it. Programs import
// Persist, which exports the other two. Code that runs for each row or object is in one of them, where the compiler
// inlines it. A path that is listed belongs to its module although the folder around it is another's.
let coreModules = [
  "PersistModel": [
    "Errors", "Values", "Formats", "Model", "Query", "Rows/History", "Rows/Queries", "Rows/SlotForm.swift",
    "Store/Layout", "Store/SQL",
  ],
  "PersistCore": [
    "Values/NotificationGroup.swift", "Values/OrderedSet.swift", "Values/SlotValues.swift", "Threads", "Rows", "Store",
    "Coordinator", "Context",
  ],
  "Persist": ["Migration", "Observation", "Stack"],
]

/// One of the modules of the core.
func coreModule(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  let own = coreModules[name] ?? []
  let others = coreModules.filter { $0.key != name }.values.joined()
  // SwiftPM warns of files that a target neither compiles nor excludes, in a build of this package itself. It may have
  // cached the manifest before a file was added: the sources don't depend on the folder's contents.
  func unlisted(in folder: String) -> [String] {
    let names = try? FileManager.default.contentsOfDirectory(
      atPath: "\(Context.packageDirectory)/Sources/Persist/\(folder)")
    return (names ?? []).sorted().flatMap { entry in
      let path = folder.isEmpty ? entry : "\(folder)/\(entry)"
      if own.contains(path) || path == "\(name).docc" { return [String]() }
      return own.contains { $0.hasPrefix("\(path)/") } ? unlisted(in: path) : [path]
    }
  }
  let taken = others.filter { path in own.contains { path.hasPrefix("\($0)/") } }
  return .target(
    name: name, dependencies: dependencies, path: "Sources/Persist", exclude: taken + unlisted(in: ""), sources: own,
    swiftSettings: settings)
}

/// What tests of internal declarations import.
let testedCore: [Target.Dependency] = ["Persist", "PersistCore", "PersistModel"]

let package = Package(
  name: "Persist",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Persist", targets: ["Persist"]),
    .library(name: "PersistMacrosless", targets: ["PersistMacrosless"]),
    .library(name: "CoreData", targets: ["CoreData", "AppleLogging"]),
    .library(name: "PersistSQLMigrations", targets: ["PersistSQLMigrations"]),
    .library(name: "PersistSync", targets: ["PersistSync"]),
    .library(name: "PersistSyncHTTP", targets: ["PersistSyncHTTP"]),
    .library(name: "PersistSQLQueries", targets: ["PersistSQLQueries"]),
    .library(name: "PersistLiveQueries", targets: ["PersistLiveQueries"]),
    .library(name: "PersistObservability", targets: ["PersistObservability"]),
    .library(name: "PersistDocuments", targets: ["PersistDocuments"]),
    .library(name: "PersistTools", targets: ["PersistTools"]),
    .library(name: "PersistTesting", targets: ["PersistTesting"]),
    .library(name: "PersistInspection", targets: ["PersistInspection"]),
    .executable(name: "persist", targets: ["PersistCommand"]),
    .executable(name: "persist-studio", targets: ["PersistStudio"]),
    .plugin(name: "PersistGenerate", targets: ["PersistGenerate"]),
    .plugin(name: "PersistCoreData", targets: ["PersistCoreData"]),
  ],
  traits: [
    .default(enabledTraits: ["SystemSQLite"]),
    .trait(name: "SystemSQLite", description: "Uses the system's SQLite library. Any other choice replaces it."),
    .trait(name: "SQLCipher", description: "Uses the library of SQLCipher, so that stores can be encrypted."),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    // For PersistObservability alone: packages that don't use it don't resolve them.
    .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.4.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
  ],
  targets: [
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .yum(["sqlite-devel"]), .brew(["sqlite3"])]),
    .systemLibrary(
      name: "CSQLCipher", pkgConfig: "sqlcipher",
      providers: [.apt(["libsqlcipher-dev"]), .yum(["sqlcipher-devel"]), .brew(["sqlcipher"])]),
    .target(
      name: "LinkedSQLite",
      dependencies: [
        .target(name: "CSQLCipher", condition: .when(traits: ["SQLCipher"])),
        .target(name: "CSQLite", condition: .when(traits: ["SystemSQLite"])),
      ],
      swiftSettings: settings),
    .systemLibrary(
      name: "CZlib", pkgConfig: "zlib",
      providers: [.apt(["zlib1g-dev"]), .yum(["zlib-devel"]), .brew(["zlib"])]),
    coreModule("PersistModel", ["CZlib"]),
    coreModule("PersistCore", ["PersistModel", "LinkedSQLite", .product(name: "Logging", package: "swift-log")]),
    coreModule("Persist", ["PersistModel", "PersistCore", .product(name: "Logging", package: "swift-log")]),
    .target(
      name: "PersistMacrosless", dependencies: ["Persist"], swiftSettings: settings),
    .target(
      name: "CoreData", dependencies: ["Persist"], exclude: coreDataExclusions, swiftSettings: settings),
    // The names of Apple's modules os and OSLog, which the pass over Core Data sources imports in their place.
    .target(
      name: "AppleLogging", dependencies: [.product(name: "Logging", package: "swift-log")], swiftSettings: settings),
    .target(
      name: "PersistSQLMigrations",
      dependencies: ["Persist", "LinkedSQLite", .product(name: "Logging", package: "swift-log")],
      swiftSettings: settings),
    .target(name: "PersistSync", dependencies: ["Persist"], swiftSettings: settings),
    .target(name: "PersistSyncHTTP", dependencies: ["Persist", "PersistSync"], swiftSettings: settings),
    .target(name: "PersistSQLQueries", dependencies: ["Persist"], swiftSettings: settings),
    .target(name: "PersistLiveQueries", dependencies: ["Persist"], swiftSettings: settings),
    .target(
      name: "PersistObservability",
      dependencies: [
        "Persist",
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: settings),
    .target(name: "PersistDocuments", dependencies: ["Persist"], swiftSettings: settings),
    .target(name: "PersistTools", dependencies: ["Persist", "LinkedSQLite"], swiftSettings: settings),
    .target(
      name: "PersistTesting", dependencies: ["Persist", "PersistDocuments", "PersistTools"], swiftSettings: settings),
    .target(name: "PersistInspection", dependencies: ["Persist", "PersistTools"], swiftSettings: settings),
    // A page in the browser for looking into a store: only its program needs these.
    .target(
      name: "PersistStudioSession", dependencies: ["Persist", "PersistTools", "PersistInspection"],
      swiftSettings: settings),
    // The page's files are part of the program: nothing has to be found beside it.
    .target(
      name: "StudioPage", path: "Studio/Sources/StudioPage", exclude: ["Files"], swiftSettings: settings,
      plugins: ["StudioPageText"]),
    .plugin(name: "StudioPageText", capability: .buildTool()),
    .target(
      name: "StudioServer", dependencies: ["Persist", "PersistInspection", "PersistStudioSession", "StudioPage"],
      path: "Studio/Sources/StudioServer", swiftSettings: settings),
    // Without the engine of servers and a parser of arguments, so that it is built quickly.
    .executableTarget(
      name: "PersistStudio", dependencies: ["StudioServer"], path: "Studio/Sources/PersistStudio",
      swiftSettings: settings),
    .executableTarget(
      name: "PersistCommand",
      dependencies: [
        "Persist", "PersistSQLMigrations", "PersistSync", "PersistSyncHTTP", "PersistTools", "PersistTesting",
        "PersistInspection", "PersistCoreDataPass",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings),
    .plugin(
      name: "PersistGenerate", capability: .buildTool(), dependencies: isBuiltForItself ? [] : ["PersistCommand"]),
    .target(name: "PersistCoreDataPass", swiftSettings: settings),
    .executableTarget(
      name: "PersistCoreDataTool", dependencies: ["PersistCoreDataPass"], swiftSettings: settings),
    .plugin(name: "PersistCoreData", capability: .buildTool(), dependencies: ["PersistCoreDataTool"]),
    .executableTarget(
      name: "FirstSteps", dependencies: ["Persist", "PersistMacrosless"], path: "Examples/FirstSteps",
      swiftSettings: settings),
    .executableTarget(name: "Tour", dependencies: ["Persist"], path: "Examples/Tour", swiftSettings: settings),
    .target(
      name: "ReadingList",
      dependencies: [.target(name: "CoreData", condition: .when(platforms: [.linux, .windows, .android]))],
      path: "Examples/ReadingList", exclude: coreDataPass.isEmpty ? [] : ["Model", "Store"],
      resources: [.copy("Resources/ReadingList.xcdatamodeld")], swiftSettings: [.swiftLanguageMode(.v5)],
      plugins: coreDataPass),
    .target(
      name: "CoreDataNotes",
      dependencies: [.target(name: "CoreData", condition: .when(platforms: [.linux, .windows, .android]))],
      path: "Examples/CoreDataNotes/Notes", exclude: coreDataPass.isEmpty ? [] : ["Sources"],
      resources: [.copy("Resources/Notes.xcdatamodeld")], swiftSettings: [.swiftLanguageMode(.v5)],
      plugins: coreDataPass),
    .target(
      name: "CoreDataLibrary",
      dependencies: [.target(name: "CoreData", condition: .when(platforms: [.linux, .windows, .android]))],
      path: "Examples/CoreDataLibrary/Library", exclude: coreDataPass.isEmpty ? [] : ["Sources"],
      resources: [.copy("Resources/Library.xcdatamodeld")], swiftSettings: [.swiftLanguageMode(.v5)],
      plugins: coreDataPass),
    .target(
      name: "CoreDataToolkit",
      dependencies: [.target(name: "CoreData", condition: .when(platforms: [.linux, .windows, .android]))],
      path: "Examples/CoreDataToolkit/Toolkit", sources: coreDataPass.isEmpty ? nil : ["Platform.swift"],
      swiftSettings: [.swiftLanguageMode(.v5)], plugins: coreDataPass),
    .target(
      name: "ShopClasses", dependencies: ["Persist", "PersistMacrosless"], path: "Examples/ShopClasses",
      swiftSettings: settings),
    .target(
      name: "ShopGenerated", dependencies: ["Persist"], path: "Examples/ShopGenerated", swiftSettings: settings),
    .target(
      name: "PersistTestSupport", dependencies: ["Persist", "LinkedSQLite"], path: "Tests/PersistTestSupport",
      swiftSettings: settings),
    .executableTarget(
      name: "SQLRunner", dependencies: ["LinkedSQLite"], path: "Tests/SQLRunner", swiftSettings: settings),
    .executableTarget(
      name: "MigrationRunner", dependencies: ["Persist", "PersistTools", "PersistTestSupport"],
      path: "Tests/MigrationRunner", swiftSettings: settings),
    .executableTarget(
      name: "HistoryRunner", dependencies: ["Persist", "PersistTestSupport"], path: "Tests/HistoryRunner",
      swiftSettings: settings),
    .executableTarget(
      name: "LedgerRunner", dependencies: ["Persist", "PersistTestSupport"], path: "Tests/LedgerRunner",
      swiftSettings: settings),
    .testTarget(
      name: "PersistTests",
      dependencies: testedCore + [
        "PersistSQLMigrations", "PersistTools", "PersistTestSupport", "SQLRunner", "MigrationRunner",
        "HistoryRunner", "LedgerRunner", "LinkedSQLite",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "PersistSyncTests", dependencies: testedCore + ["PersistSync", "PersistSyncHTTP", "PersistTestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "PersistMacroslessTests",
      dependencies: testedCore + [
        "PersistMacrosless", "PersistSQLQueries", "PersistTestSupport", "PersistTools", "ShopClasses",
        "ShopGenerated",
        .target(name: "CoreData", condition: .when(platforms: [.linux, .windows, .android])),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "CoreDataTests",
      dependencies: [
        .target(name: "CoreData", condition: .when(platforms: [.linux, .windows, .android])), "ReadingList",
        "PersistCoreDataPass", "PersistTestSupport",
      ],
      // Written as Core Data code is: without `any`.
      swiftSettings: Array(settings.dropFirst())),
    .testTarget(
      name: "CoreDataNotesTests",
      dependencies: [
        .target(name: "CoreData", condition: .when(platforms: [.linux, .windows, .android])), "CoreDataNotes",
      ],
      path: "Examples/CoreDataNotes/NotesTests", swiftSettings: [.swiftLanguageMode(.v5)]),
    .testTarget(
      name: "CoreDataLibraryTests",
      dependencies: [
        .target(name: "CoreData", condition: .when(platforms: [.linux, .windows, .android])), "CoreDataLibrary",
      ],
      path: "Examples/CoreDataLibrary/LibraryTests", swiftSettings: [.swiftLanguageMode(.v5)]),
    .testTarget(
      name: "CoreDataToolkitTests",
      dependencies: [
        .target(name: "CoreData", condition: .when(platforms: [.linux, .windows, .android])), "CoreDataToolkit",
      ],
      path: "Examples/CoreDataToolkit/ToolkitTests", swiftSettings: [.swiftLanguageMode(.v5)]),
    .testTarget(
      name: "PersistSQLQueriesTests",
      dependencies: ["Persist", "PersistMacrosless", "PersistSQLQueries", "PersistTestSupport"], swiftSettings: settings),
    .testTarget(
      name: "PersistLiveQueriesTests", dependencies: ["Persist", "PersistLiveQueries", "PersistTestSupport"],
      swiftSettings: settings),
    .executableTarget(
      name: "DocumentRunner", dependencies: ["Persist", "PersistDocuments"], path: "Tests/DocumentRunner",
      swiftSettings: settings),
    .testTarget(
      name: "PersistDocumentsTests",
      dependencies: ["Persist", "PersistDocuments", "PersistTesting", "PersistTestSupport", "DocumentRunner"],
      swiftSettings: settings),
    .testTarget(
      name: "PersistObservabilityTests",
      dependencies: [
        "Persist", "PersistObservability", "PersistTestSupport",
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
        .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "PersistTestingTests", dependencies: testedCore + ["PersistTools", "PersistTesting", "PersistTestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "StudioTests",
      dependencies: ["Persist", "PersistInspection", "PersistStudioSession", "StudioPage", "StudioServer"],
      path: "Studio/Tests/StudioTests", swiftSettings: settings),
    .testTarget(
      name: "PersistCommandTests",
      dependencies: testedCore + [
        "PersistTools", "PersistTestSupport", "PersistCommand", "PersistInspection", "PersistStudioSession",
        "FirstSteps", "Tour", "LinkedSQLite",
      ],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)

if hasServerLibrary {
  package.products += [
    .library(name: "PersistPostgreSQL", targets: ["PersistPostgreSQL"]),
    .library(name: "PersistOnlineMigrations", targets: ["PersistOnlineMigrations"]),
  ]
  package.targets += [
    .systemLibrary(
      name: "CPostgreSQL", pkgConfig: "libpq",
      providers: [.apt(["libpq-dev"]), .yum(["libpq-devel"]), .brew(["libpq"])]),
    .target(
      name: "PersistPostgreSQL",
      dependencies: ["Persist", "CPostgreSQL", .product(name: "Logging", package: "swift-log")],
      swiftSettings: settings),
    .target(
      name: "PersistOnlineMigrations", dependencies: ["Persist", "PersistPostgreSQL"], swiftSettings: settings),
    .executableTarget(
      name: "OnlineRunner",
      dependencies: ["Persist", "PersistOnlineMigrations", "PersistPostgreSQL", "PersistTestSupport"],
      path: "Tests/OnlineRunner", swiftSettings: settings),
    .testTarget(
      name: "PersistOnlineMigrationsTests",
      dependencies: [
        "Persist", "PersistOnlineMigrations", "PersistPostgreSQL", "PersistTools", "PersistTestSupport", "OnlineRunner",
      ],
      swiftSettings: settings),
  ]
  for target in package.targets where ["PersistTestSupport", "PersistTests"].contains(target.name) {
    target.dependencies.append("PersistPostgreSQL")
  }
  package.targets.first { $0.name == "PersistTests" }?.dependencies.append("PersistOnlineMigrations")
  // As another program uses the server.
  package.targets.first { $0.name == "PersistTestSupport" }?.dependencies.append("CPostgreSQL")
}
// The programs open stores on servers wherever libpq is. Without it, the plugin still works for packages that use it.
if hasServerHeaders {
  for target in package.targets where ["PersistCommand", "PersistCommandTests"].contains(target.name) {
    target.dependencies.append("PersistPostgreSQL")
  }
  package.targets.first { $0.name == "PersistCommand" }?.dependencies.append("PersistOnlineMigrations")
  package.products.append(.executable(name: "persist-studio-postgresql", targets: ["PersistStudioPostgreSQL"]))
  package.targets.append(
    .executableTarget(
      name: "PersistStudioPostgreSQL", dependencies: ["Persist", "PersistPostgreSQL", "StudioServer"],
      path: "Studio/Sources/PersistStudioPostgreSQL", swiftSettings: settings))
}

// Scripts/test-release compiles the tests of some targets, separated by commas: all of them, optimised, take too long.
if let only = Context.environment["PERSIST_TEST_TARGET"] {
  let names = only.split(separator: ",").map(String.init)
  package.targets.removeAll { $0.type == .test && !names.contains($0.name) }
}

// For short builds while working: the folders and files of Tests/PersistTests to compile, separated by commas.
if let sources = Context.environment["PERSIST_TEST_SOURCES"] {
  package.targets.first { $0.name == "PersistTests" }?.sources = sources.split(separator: ",").map(String.init)
}
