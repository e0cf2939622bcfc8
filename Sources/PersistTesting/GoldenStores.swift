public import Foundation
public import Persist
import PersistTools

/// Small stores of all released model versions, kept with the tests: each must always migrate to the newest version.
///
/// A store is created once, from the model as released, and never again, so that the data of old releases is tested
/// with every later one. The check copies each store, migrates the copy in the same way as the application, checks it
/// for damage and opens it. It works with any test framework:
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
  /// The result for one store.
  public struct Outcome: Sendable, Hashable {
    /// The released version of the original store.
    public var version: ModelLock.Version
    /// The original store, a copy of which was migrated.
    public var store: URL
    /// The result of migrating the copy: hops, rows and duration.
    public var report: MigrationReport
  }

  /// The folder of the stores: `Shop/Shop 2.sqlite` contains version `Shop 2` of the model `Shop`.
  public let folder: URL
  /// All versions of the models, with the mapping models between them.
  public let registry: ModelRegistry
  /// The versions that have stores: the released ones, including those that the registry lacks, with their model or
  /// without it, and those that can't be read, which ``check(_:)`` reports.
  public let versions: [ModelLock.Version]
  /// The migrator; set it to the application's, with its mapping models, policies and stages.
  public var migrator: AutomaticMigrator
  /// The number of objects of each entity in a new store.
  public var rows = 12
  /// The random seed; equal seeds produce equal objects.
  public var seed: UInt64 = 1

  /// - Parameters:
  ///   - folder: the folder of the stores.
  ///   - registry: every known version of the models.
  ///   - lock: the lock that lists the released versions; nil for all versions except each model's current one.
  ///   - isPart: whether the registry may lack entire models that are locked.
  ///   - migrator: the migrator under test.
  public init(
    in folder: URL, registry: ModelRegistry, lock: ModelLock? = nil, isPart: Bool = false,
    migrator: AutomaticMigrator = AutomaticMigrator()
  ) {
    self.folder = folder
    self.registry = registry
    self.migrator = migrator
    let models = Set(registry.families.map(\.name))
    let others = isPart ? [] : lock?.versions.filter { !models.contains($0.model) } ?? []
    versions = others + registry.families.flatMap { family -> [ModelLock.Version] in
      let released = lock.map { $0.versions.filter { $0.model == family.name }.map(\.name) }
        ?? family.versionNames.filter { $0 != family.currentName }
      let known = family.versions.map(\.name).filter(released.contains)
      return (known + released.filter { !known.contains($0) })
        .map { ModelLock.Version(model: family.name, name: $0) }
    }
  }

  /// Returns the location of a version's store, whether it exists or not.
  public func url(of version: ModelLock.Version) -> URL {
    folder.appendingPathComponent(version.model).appendingPathComponent("\(version.name).sqlite")
  }

  /// Creates the missing stores and fills them with random objects that satisfy the model's rules.
  ///
  /// - Returns: the stores that were created; commit them to version control.
  /// - Throws: after creating all other stores, a `PersistenceError` for those that failed: `fileAccess`,
  ///   `invalidRequest` if no values can be generated that satisfy a model's rules, and the errors of versions that are
  ///   missing or can't be read.
  @discardableResult
  public func make() throws -> [URL] {
    var made: [URL] = []
    var problems: [PersistenceError] = []
    for version in versions where !hasStore(version) {
      if let problem = problem(preparing: version) { problems.append(problem) } else { made.append(url(of: version)) }
    }
    guard let first = problems.first else { return made }
    throw PersistenceError.combining(
      problems, as: first.code, "\(problems.count) stores of released versions can't be created.")
  }

  private func hasStore(_ version: ModelLock.Version) -> Bool {
    FileManager.default.fileExists(atPath: url(of: version).path)
  }

  private func make(_ version: ModelLock.Version) throws {
    let url = url(of: version)
    do {
      try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    } catch {
      throw PersistenceError(
        .fileAccess, at: .file(url), "The folder can't be created: \(error.localizedDescription)")
    }
    do {
      try fill(url, version)
    } catch var error as PersistenceError {
      error.message = "The store of version '\(version.name)' can't be created: \(error.message)"
      throw error
    }
  }

  /// Creates missing stores, then migrates a copy of each store to its model's current version and checks it.
  ///
  /// A released version that is missing, can't be read or whose store can't be created fails.
  ///
  /// - Parameter inspect: inspects each migrated store; called with its original version.
  /// - Throws: a `PersistenceError` for all stores that failed, after checking every store; other errors
  ///   thrown by `inspect` at once.
  @discardableResult
  public func check(
    _ inspect: (ModelVersion, ManagedObjectContext) throws -> Void = { _, _ in }
  ) throws -> [Outcome] {
    var outcomes: [Outcome] = []
    var problems: [PersistenceError] = []
    var prepared: [ModelLock.Version] = []
    for version in versions {
      if let problem = problem(preparing: version) { problems.append(problem) } else { prepared.append(version) }
    }
    for version in prepared {
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

  /// Creates a version's store if it is missing.
  ///
  /// - Returns: the reason why the version isn't available or its store can't be created; nil if both exist.
  private func problem(preparing version: ModelLock.Version) -> PersistenceError? {
    do {
      try requireAvailable(version)
      if !hasStore(version) { try make(version) }
      return nil
    } catch let error as PersistenceError {
      return error
    } catch {
      return PersistenceError(.fileAccess, error.localizedDescription)
    }
  }

  private func requireAvailable(_ version: ModelLock.Version) throws {
    guard registry.families.contains(where: { $0.name == version.model && $0.versionNames.contains(version.name) })
    else { throw ModelLock.Change(version: version, isMissing: true, entities: []).error(in: registry) }
    _ = try family(of: version).registry.version(named: version.name)
  }

  private func fill(_ url: URL, _ version: ModelLock.Version) throws {
    let writer = try StoreWriter(storeAt: url, registry: family(of: version).registry, version: version.name)
    // A store without its objects would count as made from then on; a failure deletes it.
    _ = try writer.closing { try FillPass(store: writer, rows: rows, seed: seed).run { _ in } }
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
          "The store was created with version '\(version.name)' and is now identified as '\(found?.name ?? "none")'.",
          fix: "Undo the change of that version, and make it in a new one.")
      }
      let report = try migrator.migrate(storeAt: store, to: family.current, registry: registry)
      try check(store, family)
      try open(store, of: family) { try inspect(found, $0) }
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
      problems, as: .migrationFailed, "After the migration to '\(family.current.name)' the store is damaged.")
  }

  private func open(_ store: URL, of family: ModelFamily, _ body: (ManagedObjectContext) throws -> Void) throws {
    let coordinator = PersistentStoreCoordinator(model: family.current.model, registry: registry)
    try coordinator.addStore(at: store)
    try body(ManagedObjectContext(coordinator))
  }

  /// Returns a version's family, and a registry with only that family: others may use the same version names.
  private func family(of version: ModelLock.Version) throws -> (family: ModelFamily, registry: ModelRegistry) {
    let family = try registry.family(named: version.model)
    return (family, ModelRegistry(families: [family], mappingModels: registry.mappingModels))
  }
}
