package import Foundation

/// A connection that runs shared statements in a transaction, whichever engine the store has.
///
/// Work that engines share runs its statements through this protocol: the end of an import, and the history. The rows
/// of saves don't: each engine binds their values to statements of its own.
package protocol StatementRunner {
  /// The place of the store, for messages; nil for a store in memory.
  var url: URL? { get }

  /// Runs SQL to completion.
  ///
  /// - Returns: The number of rows that an insert, update or delete changed.
  @discardableResult func execute(_ sql: SharedSQL) throws -> Int
  /// Runs several statements in order; a server receives them together.
  func execute(all statements: [SharedSQL]) throws
  /// Calls `body` for each selected row.
  func forEachRow(of sql: SharedSQL, _ body: (any StatementRow) throws -> Void) throws
  func hasTable(named name: String) throws -> Bool
}

/// A row that a connection reads. Columns count from 0.
package protocol StatementRow {
  func isNull(_ column: Int32) -> Bool
  func integer(_ column: Int32) -> Int64
  func double(_ column: Int32) -> Double
  func text(_ column: Int32) -> String
  func data(_ column: Int32) -> Data
  /// A value that the history keeps of an object.
  func keptValue(_ column: Int32) -> SQLValue
}

extension StatementRunner {
  package func execute(all statements: [SharedSQL]) throws { for statement in statements { try execute(statement) } }

  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  package func first<T>(of sql: SharedSQL, _ read: (any StatementRow) throws -> T) throws -> T? {
    var first: T?
    try forEachRow(of: sql) { row in if first == nil { first = try read(row) } }
    return first
  }

  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  package func all<T>(of sql: SharedSQL, _ read: (any StatementRow) throws -> T) throws -> [T] {
    var all: [T] = []
    try forEachRow(of: sql) { all.append(try read($0)) }
    return all
  }

  /// The slots of parked values in the store.
  package func storedParkedSlots() throws -> [ParkedSlot] {
    guard try hasTable(named: ParkedSlot.Table.slots) else { return [] }
    let hasStates = try hasTable(named: ParkedSlot.Table.states)
    return try all(of: .parkedSlots(hasStates: hasStates)) { row in
      let column = row.isNull(8) ? "" : row.text(8)
      return ParkedSlot(
        number: Int(clamping: row.integer(0)), kind: ParkedSlot.Kind(rawValue: row.text(1)) ?? .attribute,
        entity: row.text(2), property: row.text(3), elements: row.text(4), model: row.text(5), version: row.text(6),
        column: column.isEmpty
          ? nil : ParkedColumn(table: row.text(7), name: column, entityNumber: Int(clamping: row.integer(9))))
    }
  }
}
