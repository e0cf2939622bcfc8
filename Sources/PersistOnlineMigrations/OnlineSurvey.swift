import Foundation
import Persist

/// The direction of a migration in place that is carried out while programs with both models use the store: what has to
/// be there for the destination, and what remains to be done at the end.
///
/// An engine creates the places of the destination beside those of the source. The end of the migration then is the
/// ordinary migration in place, except for everything that is there already. Abandoning it is the same in the other
/// direction.
final class OnlineSurvey {
  /// A change of the ordinary migration in place, with its subject in the models.
  struct Change: Sendable {
    let change: SchemaChange
    let entity: String?
    let property: String?
  }

  private let store: IdentifiedStore
  private let hop: MigrationHop
  private let survey: StoreSurvey
  private let registry: ModelRegistry?
  private let isReturn: Bool
  /// Whether the migration consists of one step.
  let isDirect: Bool

  /// - Parameters:
  ///   - store: The store with the source's model, without the places that only the destination has.
  ///   - numbers: The entity numbers of the destination; nil to keep those of the source, with unused ones for new
  ///     entities.
  ///   - names: The names of the destination's tables and columns that differ from those of the rules.
  ///   - isReturn: Whether the migration is abandoned, so that the destination isn't newer.
  init(
    _ store: IdentifiedStore, to destination: ModelVersion, numbers: [EntityNumbers.Row]?, names: PlaceNames,
    registry: ModelRegistry?, isReturn: Bool = false
  ) throws {
    self.store = store
    self.registry = registry
    self.isReturn = isReturn
    let hop = try MigrationHop(from: store.source, to: destination, registry: registry)
    self.hop = hop
    let path = try isReturn
      ? nil : MigrationPath(from: store.source, to: destination, resources: MigrationResources(registry: registry))
    isDirect = path.map { $0.hops.count == 1 } ?? true
    let rows = numbers ?? Self.numbers(of: destination.model, after: store, by: hop.comparison.correspondence)
    self.numbers = rows
    planned = .forNewStore(destination.model, numbers: rows, names: store.tableMap.names, placeNames: names)
    survey = StoreSurvey(
      store, hop: hop, isDowngrade: isReturn, keepsRemovedColumns: true, planned: planned)
  }

  /// The rows of `Z_PRIMARYKEY` of the destination.
  let numbers: [EntityNumbers.Row]
  /// The layout of the destination.
  let planned: TableMap
  /// The layout of the source.
  var map: TableMap { survey.map }
  var source: ModelVersion { hop.source }
  var destination: ModelVersion { hop.destination }
  var operations: [MigrationOperation] { hop.comparison.operations }
  var correspondence: ModelCorrespondence { hop.comparison.correspondence }
  /// The renames that a history follows.
  var renames: PropertyRenames { PropertyRenames(hop.comparison) }
  /// Obstacles that don't depend on the rows.
  var blockers: [MigrationBlocker] { hop.blockers + survey.work.blockers }
  var changes: [Change] {
    survey.work.changes.map { Change(change: $0.change, entity: $0.subject?.entity, property: $0.subject?.property) }
  }

  /// The old entity of a new one; nil for one that is new.
  func source(of entity: Entity) -> Entity? {
    correspondence.entities[entity.name].flatMap { source.model.entitiesByName[$0] }
  }

  /// The obstacles in the rows.
  func obstacles(_ inspector: any StoreInspector) throws -> [MigrationBlocker] {
    try survey.findings(inspector, countingLosses: false).blockers
  }

  /// The values that the destination has no place for.
  func losses(_ inspector: any StoreInspector) throws -> [MigrationLoss] {
    survey.planParkingOfLosses(registry)
    return try survey.findings(inspector, countingLosses: true).losses
  }

  /// Those of ``losses(_:)`` that are parked instead, in words.
  func parkedLosses(_ inspector: any StoreInspector) throws -> [MigrationLoss] {
    survey.planParkingOfLosses(registry)
    return try survey.findings(inspector, countingLosses: true).parked
  }

  private static func numbers(
    of model: ManagedObjectModel, after store: IdentifiedStore, by correspondence: ModelCorrespondence
  ) -> [EntityNumbers.Row] {
    let map = store.tableMap
    var next = (store.catalog.numberRows.map(\.number).filter { $0 < EntityNumbers.firstSystemNumber }.max() ?? 0) + 1
    var numbers: [Int: (number: Int, maximum: Int64?)] = [:]
    for entity in model.entities {
      if let old = correspondence.entities[entity.name].flatMap({ map.model.entitiesByName[$0] }) {
        let number = map[old].number
        numbers[entity.number] = (number, map.numbers.row(ofNumber: number)?.maximum)
      } else {
        numbers[entity.number] = (next, 0)
        next += 1
      }
    }
    return model.entities.compactMap { entity in
      guard let own = numbers[entity.number] else { return nil }
      let parent = entity.superentity.flatMap { numbers[$0.number]?.number } ?? 0
      return EntityNumbers.Row(number: own.number, name: entity.name, parent: parent, maximum: own.maximum)
    }.sorted { $0.number < $1.number }
  }
}

// MARK: The end

extension OnlineSurvey {
  /// The return of what earlier migrations parked and what has a place in the destination, before any program uses it.
  ///
  /// - Parameters:
  ///   - catalog: The catalog of the destination.
  ///   - isOwnColumn: Whether only programs with the destination write a column.
  func returnOfParkedValues(
    _ catalog: StoreCatalog, isOwnColumn: @escaping (String, String) -> Bool
  ) -> ReturnOfParkedValues {
    ReturnOfParkedValues(
      map: catalog.tableMap(of: destination.model), version: destination, neighborMap: map, neighbor: source,
      isOwnColumn: isOwnColumn)
  }

  /// The rest of the migration.
  ///
  /// - Parameter edit: Returns what remains of a change.
  func rest(_ edit: @escaping (SchemaChange) -> [SchemaChange]) -> StoreSurvey {
    let rest = StoreSurvey(
      store, hop: hop, isDowngrade: isReturn, keepsRemovedColumns: true, planned: planned, editing: edit)
    if isReturn { rest.planParkingOfReturn(registry) } else { rest.planParkingOfLosses(registry) }
    return rest
  }

  /// The number of rows; nil if counting them would take too long.
  func affordableRowCount(_ inspector: any StoreInspector) throws -> Int? {
    try store.affordableRowCount(inspector)
  }

  /// Carries out the rest of the migration, records the destination, and verifies the store.
  ///
  /// - Parameters:
  ///   - rows: The number of rows for the log, if known.
  ///   - first: The store's first model and its layout. Its values stand in for parked ones in either direction.
  ///   - connection: Holds the transaction.
  ///   - url: The store.
  func finish(
    _ rest: StoreSurvey, rows: Int?, beside first: OnlineSurvey, on connection: any MigrationConnection, at url: URL,
    options: StoreOptions
  ) throws -> MigrationReport {
    var migration = InPlaceMigration(
      ofUnusedStoreAt: url, to: destination, registry: registry, options: options, survey: rest)
    migration.loggedRows = .known(rows)
    migration.standIns = (first.map, first.source)
    return try migration.runInTransaction(of: connection)
  }
}
