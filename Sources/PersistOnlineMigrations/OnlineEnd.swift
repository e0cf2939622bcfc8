import Foundation
import Persist
import PersistPostgreSQL

/// The end of an online migration in one of its directions: all decisions, and everything that is counted, before the
/// transaction that carries it out.
struct OnlineEnd {
  private let survey: OnlineSurvey
  /// The way from the first model.
  private let forward: OnlineSurvey
  private let rest: StoreSurvey
  private let remains: OnlineRemains
  /// The number of rows, for the log of migrations; nil if counting them would take too long.
  private let rows: Int?

  /// - Parameters:
  ///   - isForward: Whether the second model remains.
  ///   - inspector: Reads one state of the store.
  init(_ models: OnlineModels, isForward: Bool, _ inspector: any StoreInspector) throws {
    survey = isForward ? models.forward : models.backward
    forward = models.forward
    let (gone, remaining) = isForward ? (models.first, models.second) : (models.second, models.first)
    let joins = Set(remaining.joinTables.map(\.name.foldedIdentifier))
    let hidden = gone.concreteNumbers(besides: remaining)
    var remains = OnlineRemains()
    remains.tables = Places(gone).tables(besides: Places(remaining))
    for change in survey.changes.flatMap({ $0.change.remaining(besides: joins, without: hidden) }) {
      switch change {
      case .dropColumn(let column, let table): remains.columns.append((table, column))
      case .dropIndex(let index): remains.indexes.append(index)
      default: break
      }
    }
    let named = models.expansion.indexes.compactMap { index in index.temporaryName.map { ($0, index.index.name) } }
    if isForward {
      remains.finalNames = Dictionary(named, uniquingKeysWith: { first, _ in first })
    } else {
      remains.indexes += named.map(\.0)
    }
    remains.columns += try models.catalog.unusedParkedColumns(inspector)
    self.remains = remains
    let keyJoins = models.expansion.keyJoins.filter { ($0.side == .first) == isForward }
    rest = survey.rest { change in
      // The entities of the first model are recorded as before.
      if case .setEntities = change, !isForward { return [] }
      let remaining = change.remaining(besides: joins, without: hidden).filter { !$0.isRemoval }
      return remaining.flatMap { change in keyJoins.flatMap { $0.removals(before: change) } + [change] }
    }
    rows = try survey.affordableRowCount(inspector)
  }

  /// - Parameter migrating: Holds the transaction.
  func carryOut(
    on migrating: any MigrationConnection, _ connection: OnlineConnection, at url: URL, _ options: StoreOptions
  ) throws -> MigrationReport {
    connection.willRemove(remains)
    let report = try survey.finish(rest, rows: rows, beside: forward, on: migrating, at: url, options: options)
    try connection.remove(remains)
    return report
  }
}

extension OnlineExpansion.KeyJoin {
  /// The removal of pairs from a join table that remains, before rows are deleted that only the other model has.
  fileprivate func removals(before change: SchemaChange) -> [SchemaChange] {
    guard case .deleteRows(let deleted, let rows) = change, let numbers = rows.entityNumbers else { return [] }
    return [(own, table), (member, members)].compactMap { column, target in
      target.foldedIdentifier == deleted.foldedIdentifier
        ? .removePairs(table: join.name, column: column, target: target, entityNumbers: numbers) : nil
    }
  }
}

extension StoreCatalog {
  /// The columns whose parked values have returned.
  fileprivate func unusedParkedColumns(
    _ inspector: any StoreInspector
  ) throws -> [(table: String, column: String)] {
    guard canHaveParkedValues else { return [] }
    let used = Set(try inspector.parkedSlots().compactMap(\.column?.name.foldedIdentifier))
    return schema.tables.flatMap { table in
      table.columns.map(\.name).filter { ParkedColumn.isOne($0) && !used.contains($0.foldedIdentifier) }
        .map { (table.name, $0) }
    }
  }
}

extension SchemaChange {
  /// Whether the change only removes a column or an index.
  fileprivate var isRemoval: Bool {
    switch self {
    case .dropColumn, .dropIndex: true
    default: false
    }
  }
}

extension SchemaChange {
  /// The rest of the change once the places of both models are there.
  ///
  /// - Parameters:
  ///   - joins: The folded names of the remaining model's join tables.
  ///   - gone: The numbers of entities with objects that the remaining model doesn't have.
  func remaining(besides joins: Set<String>, without gone: Set<Int>) -> [SchemaChange] {
    switch self {
    case .createTable, .addColumn, .createIndex, .update, .renameTable: return []
    case .deleteRows(_, let rows):
      // Other entities are abstract, and have no rows.
      return rows.entityNumbers?.contains(where: gone.contains) == true ? [self] : []
    // Tables are dropped together, at the end.
    case .dropTable: return []
    // Both forms of a relationship have the same pairs.
    case .setAside, .join, .setKeys, .takeEntityNumbers, .assignPositions, .forget, .readFiles: return []
    // The entries were reduced before tables were locked. Those of new entities are programs' own.
    case .deleteHistory: return []
    case .renameColumn(let old, let new, let table):
      if ParkedColumn.isOne(new) { return [self] }
      return joins.contains(table.foldedIdentifier) ? [] : [.dropColumn(old, table: table)]
    case .rebuildTable(let rebuild):
      let remaining = Set((rebuild.definition.columns.map(\.name) + rebuild.kept.map(\.name)).map(\.foldedIdentifier))
      return rebuild.former.filter { !remaining.contains($0.name.foldedIdentifier) }
        .map { .dropColumn($0.name, table: rebuild.definition.name) }
    default: return [self]
    }
  }
}

extension TableMap {
  /// The numbers of entities with objects that another model doesn't have.
  func concreteNumbers(besides other: TableMap) -> Set<Int> {
    Set(tables.filter { !$0.entity.isAbstract }.map(\.number)).subtracting(other.tables.map(\.number))
  }
}
