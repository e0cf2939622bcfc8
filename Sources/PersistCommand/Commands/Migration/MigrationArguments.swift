import ArgumentParser
import Foundation
import Persist

/// The arguments of the commands that plan and run migrations.
struct MigrationArguments: ParsableArguments {
  @Argument(help: "The store: a file, or postgresql://USER@HOST/DATABASE?schema=NAME.")
  var store: String

  @Option(help: "A folder with models, or one model.")
  var models: String

  @Option(help: "The version to migrate to; the current one by default.")
  var to: String?

  @Flag(
    name: .customLong("defer"),
    help: "Defer work that can wait: dropping columns, creating indexes, and converting many values.")
  var defersWork = false

  @Flag(
    help: ArgumentHelp(
      "Don't park values that the target version has no place for, and delete those that are parked.",
      discussion: """
        Without it, a migration parks such values in the store, and a later one restores them.
        """))
  var discard = false

  @OptionGroup var common: OutputArguments

  var json: Bool { common.json }

  var parking: MigrationParking { parking(allowingLoss: false) }

  func parking(allowingLoss: Bool) -> MigrationParking {
    if discard { .discarding } else if allowingLoss { .always } else { .olderVersions }
  }

  var url: URL { get throws { try StoreArgument.url(store) } }

  /// The models, and the target version: if several families have a version of that name, the one of the store's
  /// family.
  func target() throws -> (registry: ModelRegistry, version: ModelVersion) {
    try Self.target(store: store, models: models, to: to)
  }

  static func target(
    store text: String, models: String, to: String?
  ) throws -> (registry: ModelRegistry, version: ModelVersion) {
    let registry = try ModelRegistry(contentsOf: ModelRegistry.url(of: models), needsCurrent: to == nil)
    let store = try StoreIdentification.identify(storeAt: StoreArgument.url(text), registry: registry)
    let family = store.family
    guard let to else {
      if store.version == nil, let problem = registry.otherProblems.first {
        throw PersistenceError(
          problem.code, at: problem.place,
          "The store has none of the known versions, and may belong to a model that can't be read: \(problem.message)",
          fix: "Correct the file, or name the version to migrate to with --to.")
      }
      return (registry, try family?.current ?? registry.onlyFamily(of: models).current)
    }
    return (registry, try family?.version(named: to) ?? registry.version(named: to))
  }
}
