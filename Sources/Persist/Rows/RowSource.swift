import Foundation

/// Where a context's rows come from and where its changes go: a store, or a parent context in a store's place.
///
/// Rows are named by keys. A row's key is its primary key; an unsaved object of a parent context, which has none, is
/// named by the negative of its temporary number: ``ManagedObjectID/rowKey``.
protocol RowSource: AnyObject {
  /// The UUID in the store's metadata.
  var identifier: String { get }
  /// Nil for a store in memory.
  var url: URL? { get }

  /// Divides a predicate into what the source answers with exactly evaluation's result, and what is left to ask of each
  /// object. The predicate is both together.
  func divide(_ predicate: FetchPredicate, over entity: Entity) throws -> PredicateDivision
  /// Whether the source can put the rows of an entity in an order that ``SortCheck`` accepts.
  func canSort(by descriptors: [FetchSortDescriptor], over entity: Entity) -> Bool
  /// - Parameters:
  ///   - monitor: who watches and may stop the read; nil for nobody.
  ///   - held: rows whose values the source may leave out of its answer; nil for none.
  func rows(_ query: RowQuery, monitor: ReadMonitor?, held: HeldRows?) throws -> RowBatch
  func count(_ query: RowQuery) throws -> Int
  /// How the source would read the rows of a query; nil where it runs no statement for it.
  func explain(_ query: RowQuery) throws -> StatementExplanation?
  /// How the source would compute the values of a query; nil where it can't, or runs no statement for it.
  func explain(_ query: ValueQuery) throws -> StatementExplanation?
  /// Values computed from rows; nil where the source can't compute exactly what evaluation in memory gives.
  func values(_ query: ValueQuery, monitor: ReadMonitor?) throws -> [[StoredValue]]?
  /// The other ends of a to-many relationship of one row: in order where it is ordered, else by key.
  func related(by relationship: Property, of entity: Entity, key: Int64) throws -> [ManagedObjectID]
  /// The rows at the other end of a to-many relationship of many rows, in one statement.
  func relatedRows(by relationship: Property, of entity: Entity, owners: [Int64]) throws -> RelatedRows
  /// The content of a value that stands in a file beside the store.
  func externalData(named name: String) throws -> Data
  /// What the newest row has in a slot of form ``SlotForm/externalData``; nil where there is no row any more.
  func newestLargeValue(at slot: Int, of entity: Entity, key: Int64) throws -> StoredValue?

  /// Writes everything, in one transaction where it is a store, or nothing.
  ///
  /// - Throws: ``RowConflicts`` where rows changed meanwhile, ``PersistenceError/Code/constraintConflict`` where a
  ///   uniqueness constraint is broken, and the store's own errors.
  func commit(_ writes: RowWrites) throws -> CommitReceipt
}

extension RowSource {
  func rows(_ query: RowQuery) throws -> RowBatch { try rows(query, monitor: nil) }

  func rows(_ query: RowQuery, monitor: ReadMonitor?) throws -> RowBatch {
    try rows(query, monitor: monitor, held: nil)
  }

  /// Reads the row and then the file that it names. Whoever exchanges the value removes the file after the row was
  /// written, so that a file which is gone is one that a newer row no longer names.
  ///
  /// - Throws: what reading the file throws where the newest row still names it.
  func newestLargeValue(at slot: Int, of entity: Entity, key: Int64) throws -> StoredValue? {
    let query = RowQuery(entity: entity, includesSubentities: false, keys: [key])
    var missing: (name: String, error: any Error)?
    while true {
      guard let row = try rows(query).first?.snapshot else { return nil }
      if row.isNull(slot, of: entity.rowSlotCount) { return .null }
      switch row.externalContent(slot) {
      case .inline(let data): return .data(data)
      case .file(let name):
        if let missing, missing.name == name { throw missing.error }
        do { return .data(try externalData(named: name)) } catch { missing = (name, error) }
      }
    }
  }
}

/// Rows that whoever asks has already, and won't take from the answer.
struct HeldRows {
  /// Called while the rows are read, by whoever reads them.
  let holds: (_ key: Int64, _ version: Int64) -> Bool
}

extension ManagedObjectID {
  /// What a row source calls the object: its primary key, or, while it has none, the negative of its temporary number.
  var rowKey: Int64 {
    switch key {
    case .permanent(let key): key
    case .temporary(let number): -Int64(bitPattern: number)
    }
  }

  /// The identifier of what a row source of a store calls by a key.
  static func named(rowKey: Int64, entityName: String, storeIdentifier: String) -> ManagedObjectID {
    rowKey < 0
      ? ManagedObjectID(entityName: entityName, storeIdentifier: "", key: .temporary(UInt64(bitPattern: -rowKey)))
      : ManagedObjectID(entityName: entityName, storeIdentifier: storeIdentifier, key: .permanent(rowKey))
  }
}

/// A predicate in two parts, both of which must hold; nil stands for what always holds.
struct PredicateDivision {
  let stored: FetchPredicate?
  let rest: FetchPredicate?
}
