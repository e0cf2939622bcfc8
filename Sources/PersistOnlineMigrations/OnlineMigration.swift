public import Foundation
public import Persist
import PersistPostgreSQL

/// A migration of a store on a PostgreSQL server, during which programs with the old and with the new model run.
///
/// ```swift
/// let migration = OnlineMigration(storeAt: url, registry: registry)
/// try migration.expand(to: shop2)      // moments: the new model's places, kept in step with the old ones
/// try migration.backfill()             // as long as it takes, in small transactions
/// // Now start programs with the new model, and end those with the old one.
/// try migration.contract()             // moments: the old model's places go
/// ```
///
/// ``State`` has the states of a store in between. Each function can be called again after it was interrupted.
public struct OnlineMigration: Sendable {
  /// The states of a store.
  ///
  /// ```
  ///        expand             backfill            contract
  /// none ─────────▶ expanded ──────────▶ serving ──────────▶ none, with the new model
  ///                    │      abort         │
  ///                    └──────────┬─────────┘
  ///                               ▼
  ///                     none, with the old model
  /// ```
  ///
  /// Each transition is one transaction, except for the backfill, which consists of small ones and leads to
  /// ``serving`` with the last. Programs with the old model use the store in every state until it is contracted.
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// The store has one model.
    case none
    /// The places of both models are there, and new values are in both. Older rows aren't complete yet, and programs
    /// with the new model are refused.
    case expanded
    /// Programs with either model use the store.
    case serving
  }

  /// The store.
  public let url: URL
  /// The known versions of the model, for the names of versions and for renames through versions in between. If given,
  /// it must be the same in each call.
  public let registry: ModelRegistry?
  /// Mapping models built in code, for either way between the versions. They take precedence over those of the
  /// registry, and must be the same in each call.
  public var mappingModels: [MappingModel] = []
  /// The options of the connection; the busy timeout is the maximum time of all attempts of a transition.
  public var options: StoreOptions

  /// - Parameters:
  ///   - url: A store on a server, as in `postgresql://shop@db.example.com/shop`.
  ///   - registry: The known versions of the model.
  ///   - options: The options of the connection.
  public init(storeAt url: URL, registry: ModelRegistry? = nil, options: StoreOptions = StoreOptions()) {
    (self.url, self.registry, self.options) = (url, registry, options)
  }

  // MARK: Looking

  /// The state of the store, and the programs that use it. Nothing is written.
  public func status() throws -> OnlineStatus {
    try withConnection { connection in
      guard let record = try connection.record() else { return OnlineStatus() }
      let models = try models(connection, record)
      return OnlineStatus(
        state: State(record.state), from: record.from, to: record.to, since: record.since,
        oldPrograms: try connection.programs(with: models.first.model),
        newPrograms: try connection.programs(with: models.second.model))
    }
  }

  /// The steps of an expansion. Nothing is written.
  public func plan(to version: ModelVersion) throws -> OnlinePlan {
    try withConnection { connection in
      if let record = try connection.record() { throw record.exclusion(at: url) }
      return try connection.reading { try survey(connection, version).plan }
    }
  }

  // MARK: The transitions

  /// Gives the store the places of a version beside those that it has, and keeps both in step from now on.
  ///
  /// Takes moments, whatever the number of rows. If the store has been expanded to this version already, nothing
  /// happens.
  ///
  /// - Throws: `PersistenceError.Code.mappingNotInferable` with all differences that can't be expanded;
  ///   `PersistenceError.Code.migrationFailed` for a third version; `PersistenceError.Code.storeBusy` if others
  ///   keep the tables locked for the time of ``options``.
  @discardableResult
  public func expand(to version: ModelVersion) throws -> OnlinePlan {
    try withConnection { connection in
      while true {
        if let plan = try expanded(connection, version) { return plan }
        // Everything that takes time comes before the locks.
        let (plan, models, obstacles) = try connection.reading { try survey(connection, version) }
        if let error = plan.error ?? obstacles { throw error.at(url) }
        let isDone = try connection.transaction { _ in
          guard try connection.record() == nil, try connection.inspector.isCurrent(models.catalog) else { return false }
          let record = OnlineRecord(
            state: .expanded, from: models.forward.source.name, to: version.name, numbers: models.forward.numbers,
            model: version.model, names: models.forward.planned.placeNames, renames: models.renames, since: Date())
          try connection.expand(models.expansion, record: record, maps: (models.first, models.forward.planned))
          try connection.add(models.expansion.keys)
          return true
        }
        if isDone { return plan }
      }
    }
  }

  /// Completes older rows, creates indexes and validates foreign keys; afterward, programs with the new model can use
  /// the store.
  ///
  /// May be interrupted at any time, and continues where it ended.
  ///
  /// - Parameters:
  ///   - pace: The size of batches, and the pauses between them.
  ///   - progress: Called after each batch; returning false ends the call, and the work can be continued later.
  /// - Returns: Whether everything is done.
  @discardableResult
  public func backfill(
    pace: BackfillPace = BackfillPace(), progress: ((BackfillProgress) -> Bool)? = nil
  ) throws -> Bool {
    try withConnection { connection in
      let (record, models) = try expandedModels(connection)
      if record.state == .serving { return true }
      let returning = try returningValues(models, connection)
      let backfill = Backfill(
        of: models.expansion, restoring: returning, on: connection, pace: pace, reporting: progress)
      return try backfill.run {
        try connection.transaction { migrating in
          guard var present = try connection.record(), present.state == .expanded else { return }
          try restoreParkedValues(models, on: migrating, connection)
          present.state = .serving
          try connection.write(present)
        }
      }
    }
  }

  /// Removes what only the old model needs; the store then has the new model alone, as after a migration in one step.
  ///
  /// - Parameter force: Whether to go on although programs with the old model use the store, values would be lost, or
  ///   objects lack a value that the new model requires.
  /// - Throws: `PersistenceError.Code.storeBusy` with the programs that have the old model;
  ///   `PersistenceError.Code.migrationFailed` with the values that would be lost or are missing, or before the end of
  ///   the backfill.
  @discardableResult
  public func contract(force: Bool = false) throws -> MigrationReport {
    try withConnection { connection in
      let (record, models) = try expandedModels(connection)
      guard record.state == .serving else {
        throw PersistenceError(
          .migrationFailed, at: .store(url), "Older rows aren't complete in the places of '\(record.to)'.",
          fix: "Run 'persist backfill' first.")
      }
      let lost = try force ? [] : connection.reading { try models.lostValues(connection) }
      guard lost.isEmpty else {
        throw PersistenceError(
          .migrationFailed, at: .store(url),
          "Values would be lost: \(lost.map(\.description).joined(separator: "; ")).",
          fix: "Allow it with --force, or keep the properties in the new model.")
      }
      let unmet = try force ? [] : connection.reading { try models.unmetConditions(connection.inspector) }
      guard unmet.isEmpty else {
        throw PersistenceError(
          .migrationFailed, at: .store(url), "Not all objects fit '\(record.to)': \(unmet.joined(separator: "; ")).",
          fix: "Change them with programs of either version, or go on with --force.")
      }
      // Everything that takes time comes before the locks.
      let end = try connection.reading { try OnlineEnd(models, isForward: true, connection.inspector) }
      return try connection.transaction { migrating in
        try require(record, connection)
        let programs = try force ? [] : connection.programs(with: models.first.model)
        guard programs.isEmpty else { throw Self.error(programs, with: record.from).at(url) }
        try connection.contractHistory(from: models.first, to: models.second, record)
        return try end.carryOut(on: migrating, connection, at: url, options)
      }
    }
  }

  /// Returns the store to the old model alone.
  ///
  /// Values in places that both models have remain, whoever wrote them. What only the new model has is parked, and
  /// returns with the next expansion or migration to it. Programs with the new model can't use the store any longer.
  @discardableResult
  public func abort() throws -> MigrationReport? {
    try withConnection { connection in
      let (record, models) = try expandedModels(connection)
      let end = try connection.reading { try OnlineEnd(models, isForward: false, connection.inspector) }
      return try connection.transaction { migrating in
        try require(record, connection)
        guard record.state == .expanded else {
          try connection.contractHistory(from: models.second, to: models.first, record)
          return try end.carryOut(on: migrating, connection, at: url, options)
        }
        // No program has written anything that only the new model has, and what is parked hasn't returned yet.
        let (own, others) = (Places(models.second), Places(models.first))
        try connection.dropTriggers()
        try connection.drop(indexes: models.expansion.indexes.map(\.present.name))
        try connection.drop(columns: own.columns(besides: others))
        var remains = OnlineRemains()
        remains.tables = own.tables(besides: others)
        try connection.remove(remains)
        return nil
      }
    }
  }
}

// MARK: Parts

extension OnlineMigration {
  private var resources: OnlineResources { OnlineResources(registry: registry, mappingModels: mappingModels) }

  /// The maximum number of attempts of a program that is stopped in the middle of a transaction.
  private static let maximumAttempts = 4

  /// Runs `body`, and again after the server has ended its transaction because this program sent no statement: it was
  /// stopped or suspended.
  private func withConnection<T>(_ body: (OnlineConnection) throws -> T) throws -> T {
    for _ in 1..<Self.maximumAttempts {
      do { return try withNewConnection(body) } catch let error as PersistenceError where error.isOfIdleTime {}
    }
    return try withNewConnection(body)
  }

  private func withNewConnection<T>(_ body: (OnlineConnection) throws -> T) throws -> T {
    let connection = try OnlineConnection(to: StoreLocation(url), options: options)
    defer { connection.close() }
    return try body(connection)
  }

  /// The plan for a store with one model, the models, and the obstacles in its rows.
  private func survey(
    _ connection: OnlineConnection, _ version: ModelVersion
  ) throws -> (plan: OnlinePlan, models: OnlineModels, obstacles: PersistenceError?) {
    let store = try connection.identify(among: registry)
    if store.model.fingerprints == version.model.fingerprints {
      throw PersistenceError(
        .invalidRequest, at: .store(url),
        "The store already has what '\(version.name)' stores; programs with either version can open it.",
        fix: "Name another version.")
    }
    guard !store.metadata.descends(from: version.model) else {
      throw PersistenceError(
        .newerStore, at: .store(url), "The store is newer than '\(version.name)'.",
        fix: "An online migration leads to a newer version; use 'persist migrate' for the way back.")
    }
    let models = try OnlineModels(store, to: version, resources)
    let own = try connection.obstacles(store.catalog)
    let plan = OnlinePlan(models, obstacles: own)
    let rows = plan.isPossible
      ? try models.forward.obstacles(connection.inspector).filter { !models.isLater($0) } : []
    let obstacles = rows.isEmpty
      ? nil : PersistenceError.combining(
        rows.map(\.error), as: .mappingNotInferable, "\(rows.count) problems prevent the expansion.")
    return (plan, models, obstacles)
  }

  /// The plan of an expansion that has taken place; nil if there is none.
  private func expanded(_ connection: OnlineConnection, _ version: ModelVersion) throws -> OnlinePlan? {
    guard let record = try connection.record() else { return nil }
    let models = try models(connection, record)
    guard models.second.model.fingerprints == version.model.fingerprints else { throw record.exclusion(at: url) }
    return OnlinePlan(models, obstacles: [])
  }

  /// The parked values that can return in parts.
  private func returningValues(
    _ models: OnlineModels, _ connection: OnlineConnection
  ) throws -> [ReturningValues] {
    guard models.catalog.canHaveParkedValues else { return [] }
    let own = OwnPlaces(models)
    return try connection.transactionOnParkedValues { migrating in
      guard let catalog = try connection.catalog(ofSecond: models.second.model) else { return [] }
      var parked = try ParkedValues(migrating, registry: registry, catalog: catalog)
      return try models.forward.returnOfParkedValues(catalog, isOwnColumn: own.contains).prepare(&parked)
    }
  }

  /// Restores what was parked and has a place in the new model, in the transaction after which programs use it.
  private func restoreParkedValues(
    _ models: OnlineModels, on migrating: any MigrationConnection, _ connection: OnlineConnection
  ) throws {
    guard models.catalog.canHaveParkedValues, let catalog = try connection.catalog(ofSecond: models.second.model)
    else { return }
    let own = OwnPlaces(models)
    // The values are those of programs with the new model.
    try connection.announce(models.second.model)
    var parked = try ParkedValues(migrating, registry: registry, catalog: catalog)
    try models.forward.returnOfParkedValues(catalog, isOwnColumn: own.contains).restore(&parked)
    // Keys that rows may violate were dropped.
    try connection.add(models.first.foreignKeys + models.expansion.keys)
  }

  /// Checks, within a transaction, that another program hasn't gone on with the migration meanwhile.
  private func require(_ record: OnlineRecord, _ connection: OnlineConnection) throws {
    guard try connection.record().map({ ($0.state, $0.since) == (record.state, record.since) }) != true else { return }
    throw PersistenceError(
      .storeBusy, at: .store(url), "Another program goes on with the online migration at the same time.",
      fix: "Try again.")
  }

  private func expandedModels(_ connection: OnlineConnection) throws -> (OnlineRecord, OnlineModels) {
    guard let record = try connection.record() else {
      // Throws the fitting error if the schema contains no store.
      _ = try connection.catalog()
      throw PersistenceError(
        .invalidRequest, at: .store(url), "The store serves one model; no online migration has begun.",
        fix: "Begin one with 'persist expand'.")
    }
    return (record, try models(connection, record))
  }

  private func models(_ connection: OnlineConnection, _ record: OnlineRecord) throws -> OnlineModels {
    let description = try ModelDescription(json: record.model, from: url)
    let model = try ManagedObjectModel(withFlaws: description)
    let known = registry?.versions.first { $0.model.fingerprints == model.fingerprints && $0.name == record.to }
    let version = known ?? ModelVersion(name: record.to, model: model)
    guard let twin = try connection.catalog(ofSecond: version.model) else {
      throw PersistenceError(
        .storeDamaged, at: .store(url), "The store's record of its second model can't be read.",
        fix: "Restore the store from a backup.")
    }
    let store = try connection.identify(among: registry)
    let models = try OnlineModels(store, beside: twin, by: record, to: version, resources, at: url)
    guard models.isComplete else {
      throw PersistenceError(
        .invalidRequest, at: .store(url),
        "The versions between '\(record.from)' and '\(record.to)' aren't those with which the store was expanded.",
        fix: "Give the same models as for 'persist expand'.")
    }
    return models
  }

  private static func error(_ programs: [String], with version: String) -> PersistenceError {
    let count = programs.count == 1 ? "A program uses" : "\(programs.count) programs use"
    return PersistenceError(
      .storeBusy, "\(count) the store with '\(version)': \(programs.joined(separator: "; ")).",
      fix: "End them, or go on with --force: they then can't use the store any longer.")
  }
}

extension OnlineMigration.State {
  init(_ state: OnlineRecord.State) {
    switch state {
    case .expanded: self = .expanded
    case .serving: self = .serving
    }
  }
}

extension OnlineModels {
  /// The values that contracting would destroy; most of those without a place are parked.
  func lostValues(_ connection: OnlineConnection) throws -> [MigrationLoss] {
    let parked = try forward.parkedLosses(connection.inspector)
    return try forward.losses(connection.inspector).filter { loss in
      !parked.contains { isPart($0, of: loss.entity, loss.property) || isInverse($0, of: loss) }
    }
  }

  /// Whether something is parked for a property, or for an entity: losses are counted for the declaring entity, and
  /// parts are parked for each entity.
  private func isPart(_ part: MigrationLoss, of name: String, _ property: String?) -> Bool {
    guard part.property == property else { return false }
    var entity = first.model.entitiesByName[part.entity]
    while let present = entity, present.name != name { entity = present.superentity }
    return entity != nil
  }

  /// Whether what is parked are the pairs of a relationship that is lost: they are parked for one of its ends.
  private func isInverse(_ part: MigrationLoss, of loss: MigrationLoss) -> Bool {
    guard let entity = first.model.entitiesByName[loss.entity],
      let relationship = loss.property.flatMap({ entity.relationship(named: $0) }),
      let inverse = first.model.inverse(of: relationship)
    else { return false }
    let destination = first.model.destination(of: relationship)
    guard let property = destination.property(named: inverse.name) else { return false }
    return isPart(part, of: property.declaringEntity, inverse.name)
  }
}

extension PersistenceError {
  /// The error with the place of a store.
  fileprivate func at(_ url: URL) -> PersistenceError {
    var error = self
    error.place.store = error.place.store ?? ServerAddress(url)?.url(showingSecrets: false)
    return error
  }
}
