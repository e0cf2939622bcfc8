import Foundation
import Persist

/// The changes of one row by transactions of the history.
struct RowChange {
  /// The time of the change of all properties; nil if only some were changed.
  var whole: UInt64?
  /// The last change of some properties.
  private(set) var update: Update?
  /// Those before it, in the order of their times: few rows have any.
  fileprivate(set) var formerUpdates: [Update] = []
  /// The time of the transaction that inserted the row, in seconds since 2001; nil for an older row.
  var inserted: Double?
  /// The time of the transaction that inserted the row first, perhaps before a deletion; nil for an older row.
  private(set) var created: Double?
  /// Whether the row was deleted, and perhaps inserted again.
  var wasDeleted = false
  /// Whether a migration may have given the row values that no fact has.
  var wasMigrated = false

  /// A change of some properties by one transaction.
  struct Update {
    var names: Set<String>
    var time: UInt64
    /// Whether several transactions in succession have set just these properties.
    var isRepeated = false
  }

  mutating func add(_ update: Update) {
    // A change of the same properties overrules the former one.
    var update = update
    update.isRepeated = self.update?.names == update.names
    if let last = self.update, !update.isRepeated { formerUpdates.append(last) }
    self.update = update
  }

  /// The changes in the order of their times.
  private var updates: [Update] { update.map { formerUpdates + [$0] } ?? [] }

  /// Whether several transactions have set a property. A single one may have set it to the value that it had, as batch
  /// updates do.
  func isRepeated(_ name: String) -> Bool {
    let updates = updates.filter { $0.names.contains(name) }
    return updates.count > 1 || updates.contains(where: \.isRepeated)
  }

  /// Whether the row doesn't exist any longer.
  var isDeletion: Bool { wasDeleted && inserted == nil }

  fileprivate mutating func insert(_ time: UInt64, at seconds: Double) {
    if !wasDeleted { created = seconds }
    (whole, inserted) = (time, seconds)
  }

  fileprivate mutating func delete() {
    let created = created
    self = RowChange(wasDeleted: true)
    self.created = created
  }

  /// Whether nothing but some properties of a row were changed.
  var isOfProperties: Bool { whole == nil && inserted == nil && !wasDeleted && !wasMigrated && update != nil }

  /// The time of the last change of properties; nil for none.
  var lastTime: UInt64? { update?.time }

  /// Whether there is one change of properties.
  var isSingle: Bool { formerUpdates.isEmpty }

  /// The changes of properties without those that were followed by others of the same ones, the last one first.
  var lastUpdates: [Update] {
    guard let last = update else { return [] }
    if formerUpdates.isEmpty { return [last] }
    var seen: Set<String> = []
    return updates.reversed().map { update in
      defer { seen.formUnion(update.names) }
      return Update(names: update.names.subtracting(seen), time: update.time)
    }
  }

  /// The times of changed properties, by name.
  var properties: [String: UInt64] {
    updates.reduce(into: [:]) { times, update in
      for name in update.names { times[name] = update.time }
    }
  }
}

/// The changes of rows since a position in the history.
struct RowChanges {
  /// The changed rows, in the order of the first change.
  private(set) var order: [SyncTables.RowID] = []
  private var changes: [RowChange] = []
  private var places: [SyncTables.RowID: Int] = [:]
  /// Most changes of a transaction are those of one entity.
  private var lastEntity: Entity?
  /// The attributes whose values are wanted of deleted rows, by entity.
  private let identifiers: [String: String]
  /// These values, as far as the history has them.
  private(set) var deletedIdentifiers: [SyncTables.RowID: StoredValue] = [:]

  init(identifiers: [String: String] = [:]) { self.identifiers = identifiers }

  /// The change of a row; nil for none.
  subscript(row: SyncTables.RowID) -> RowChange? { places[row].map { changes[$0] } }

  /// The changes in the order of the rows.
  var all: [RowChange] { changes }

  mutating func change(_ row: SyncTables.RowID, _ body: (inout RowChange) -> Void) {
    if let place = places[row] { return body(&changes[place]) }
    places[row] = order.count
    order.append(row)
    changes.append(RowChange())
    body(&changes[changes.count - 1])
  }

  /// - Parameter time: The hybrid time of the transaction.
  mutating func add(
    _ change: HistoryChange, of transaction: HistoryTransaction, _ time: UInt64, in model: ManagedObjectModel
  ) {
    let id = change.changedObjectID
    let known = lastEntity?.name == id.entityName ? lastEntity : model.entitiesByName[id.entityName]
    guard let entity = known, let key = id.primaryKey else { return }
    lastEntity = entity
    let place = SyncTables.RowID(root: entity.root.name, entity: entity.name, key: key)
    if change.changeType == .delete, let name = identifiers[entity.name] {
      deletedIdentifiers[place] = change.tombstone?[name] ?? change.oldValues?[name]
    }
    self.change(place) { row in
      switch change.changeType {
      case .insert:
        row.insert(time, at: transaction.timestamp.timeIntervalSinceReferenceDate)
      case .update:
        if let names = change.updatedProperties {
          row.add(RowChange.Update(names: names, time: time))
        } else {
          row.whole = time
        }
      case .delete: row.delete()
      }
    }
  }
}
