public import Foundation
public import Persist

/// A small store of every released model version, kept with the tests: each must always come to the newest version.
///
/// A store is made once, from the model as it is at its release, and never again, so that what old releases wrote is
/// tried with every later one. The check copies each, migrates the copy as the application does, looks for damage and
/// opens it. It works with any test framework:
///
/// ```swift
/// @Test("Stores of every release come to the newest version")
/// func releases() throws {
///   let registry = try ModelRegistry(contentsOf: modelsFolder)
///   let stores = try GoldenStores(in: goldenFolder, registry: registry, lock: ModelLock(contentsOf: lockFile))
///   try stores.check { version, context in
///     try #expect(context.count(for: FetchRequest("Item")) > 0, "\(version.name)")
///   }
/// }
/// ```
public struct GoldenStores: Sendable {
  /// What became of one store.
  public struct Outcome: Sendable, Hashable {
    public var version: ModelLock.Version
    /// The store that was migrated, a copy of which it was.
    public var store: URL
    public var report: MigrationReport
  }

  /// The folder of the stores: `Shop/Shop 2.sqlite` is one of version `Shop 2` of the model `Shop`.
  public let folder: URL
  public let registry: ModelRegistry
  /// The versions that have stores: those that were released.
  public let versions: [ModelLock.Version]
  /// What migrates: give the one of the application, with its mapping models, policies and stages.
  public var migrator: AutomaticMigrator
  /// How many objects of each entity a new store has.
  public var rows = 12
  /// The same seed gives the same objects.
  public var seed: UInt64 = 1

  /// - Parameter lock: says which versions were released; nil takes all but each model's current one.
  public init(
    in folder: URL, registry: ModelRegistry, lock: ModelLock? = nil, migrator: AutomaticMigrator = AutomaticMigrator()
  ) {
    self.folder = folder
    self.registry = registry
    self.migrator = migrator
    versions = registry.families.flatMap { family in
      family.versions.filter { $0.name != family.current.name || lock != nil }
        .map { ModelLock.Version(model: family.name, name: $0.name) }
    }.filter { lock?.isLocked($0) ?? true }
  }

  /// Where the store of a version is, or would be.
  public func url(of version: ModelLock.Version) -> URL {
    folder.appendingPathComponent(version.model).appendingPathComponent("\(version.name).sqlite")
  }

  /// Makes the stores that aren't there, filled with random objects that keep the model's rules.
  ///
  /// - Returns: the stores that were made; they belong into version control.
  /// - Throws: ``Persist/PersistenceError/Code/fileAccess``, and ``Persist/PersistenceError/Code/invalidRequest`` where
  ///   a model's rules leave no value that can be made.
  @discardableResult
  public func make() throws -> [URL] {
    let missing = versions.filter { !FileManager.default.fileExists(atPath: url(of: $0).path) }
    return try missing.map { version in
      let url = url(of: version)
      do {
        try FileManager.default.createDirectory(
          at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      } catch {
        throw PersistenceError(.fileAccess, at: .file(url), "The folder can't be made: \(error.localizedDescription)")
      }
      try fill(url, version)
      return url
    }
  }

  /// Makes what is missing, then migrates a copy of each store to its model's current version and checks it.
  ///
  /// - Parameter inspect: looks at each migrated store, with the version that it came from.
  /// - Throws: what went wrong with each store; the others are checked all the same.
  @discardableResult
  public func check(
    _ inspect: (ModelVersion, ManagedObjectContext) throws -> Void = { _, _ in }
  ) throws -> [Outcome] {
    try make()
    var outcomes: [Outcome] = []
    var problems: [PersistenceError] = []
    for version in versions {
      do {
        outcomes.append(try check(version, inspect))
      } catch let error as PersistenceError {
        problems.append(error)
      }
    }
    guard problems.isEmpty else {
      throw PersistenceError.combining(
        problems, as: .migrationFailed, "\(problems.count) of \(versions.count) stores of released versions fail.")
    }
    return outcomes
  }

  private func fill(_ url: URL, _ version: ModelLock.Version) throws {
    let writer = try StoreWriter(storeAt: url, registry: family(of: version).registry, version: version.name)
    _ = try FillPass(store: writer, rows: rows, seed: seed).run { _ in }
    try writer.close()
  }

  private func check(
    _ version: ModelLock.Version, _ inspect: (ModelVersion, ManagedObjectContext) throws -> Void
  ) throws -> Outcome {
    let source = url(of: version)
    let family = try family(of: version).family
    let files = FileManager.default
    let work = files.temporaryDirectory.appendingPathComponent("golden-\(UUID().uuidString)")
    defer { try? files.removeItem(at: work) }
    do {
      try files.createDirectory(at: work, withIntermediateDirectories: true)
      let store = work.appendingPathComponent(source.lastPathComponent)
      try StoreBackup.copy(storeAt: source, to: store)
      let found = try StoreIdentification.identify(storeAt: store, registry: registry).version
      guard let found, found.name == version.name else {
        throw PersistenceError(
          .releasedVersionChanged,
          "The store was made with version '\(version.name)' and is now taken for '\(found?.name ?? "none")'.",
          fix: "Undo the change of that version, and make it in a new one.")
      }
      let report = try migrator.migrate(storeAt: store, to: family.current, registry: registry)
      try check(store, family)
      try open(store, family) { try inspect(found, $0) }
      return Outcome(version: version, store: source, report: report)
    } catch var error as PersistenceError {
      error.place.store = source
      error.message = "The store of version '\(version.name)': \(error.message)"
      throw error
    }
  }

  private func check(_ store: URL, _ family: ModelFamily) throws {
    var problems: [PersistenceError] = []
    try StoreCheck.check(storeAt: store, registry: registry) { problem in
      guard !problem.isHarmless else { return }
      problems.append(
        PersistenceError(
          .storeDamaged,
          at: PersistenceError.Place(entity: problem.entity, property: problem.property, row: problem.pk),
          "\(problem.kind.name): \(problem.detail)"))
    }
    guard !problems.isEmpty else { return }
    throw PersistenceError.combining(
      problems, as: .migrationFailed, "After the migration to '\(family.current.name)' the store isn't sound.")
  }

  private func open(_ store: URL, _ family: ModelFamily, _ body: (ManagedObjectContext) throws -> Void) throws {
    let coordinator = PersistentStoreCoordinator(model: family.current.model, registry: registry)
    try coordinator.addStore(at: store)
    try body(ManagedObjectContext(coordinator))
  }

  /// A version's family, and a registry of that one alone: names of versions may be the same in others.
  private func family(of version: ModelLock.Version) throws -> (family: ModelFamily, registry: ModelRegistry) {
    let family = try registry.family(named: version.model)
    return (family, ModelRegistry(families: [family], mappingModels: registry.mappingModels))
  }
}
