/// A statement about parked values of attributes and about parked objects, as data: a file has a column for values of
/// any type, but a server hasn't.
package indirect enum ParkedValueStatement: Sendable, Equatable {
  case createTables
  case park(ParkedSlot, table: String, column: String, entityNumber: Int, SQLText.ParkedRows)
  case parkObjects(ParkedSlot, table: String, entityNumber: Int)
  /// Deletes parked values whose stand-ins were changed since.
  case dropReplaced(ParkedSlot, table: String, column: String)
  case recordStandIns(ParkedSlot, table: String, column: String)
  case restore(
    ParkedSlot, table: String, column: String, entityNumber: Int, mark: MarkChange, onlyPresent: Bool)
  /// The fills are the values of columns that the parked objects don't have.
  case restoreObjects(ParkedSlot, table: String, entityNumber: Int, fills: [Fill])

  /// Deletes parked values of objects that have got other values since than missing ones or defaults.
  case dropSuperseded(ParkedSlot, table: String, column: String, defaults: [SQLValue])
  /// Lets new objects of a hierarchy have greater keys than its rows and all parked objects.
  case raiseKeyCounter(table: String, entityNumber: Int)
  /// Lets the parked values of objects be deleted with the objects.
  case createTrigger(table: String, slots: [Int])
  /// Parks rows in the form that files have; see ``ParkedSlot/Kind/rowColumns``.
  case add(ParkedSlot, [[SQLValue]], ParkedTypes)
  /// Removes all such triggers; the names are known in a file.
  case dropTriggers([String])

  package struct Fill: Sendable, Equatable {
    package let column: String
    package let value: SQLValue

    package init(column: String, value: SQLValue) {
      self.column = column
      self.value = value
    }
  }

  /// The statements for a file.
  package var sql: [SQLText] {
    switch self {
    case .createTables: SQLText.createParking
    case .park(let slot, let table, let column, let number, let rows):
      [.parkValues(slot, table: table, column: column, numbers: [number], rows: rows)]
    case .parkObjects(let slot, let table, let number): [.parkObjects(slot, table: table, [number])]
    case .dropReplaced(let slot, let table, let column): [.dropReplacedValues(slot, table: table, column: column)]
    case .recordStandIns(let slot, let table, let column): [.recordStandIns(slot, table: table, column: column)]
    case .restore(let slot, let table, let column, let number, let mark, let onlyPresent):
      [.restoreValues(slot, table: table, column: column, [number], mark: mark, onlyPresent: onlyPresent)]
    case .dropSuperseded(let slot, let table, let column, let defaults):
      [.dropSuperseded(slot, table: table, column: column, defaults: defaults)]
    case .raiseKeyCounter(let table, let number):
      [.raiseKeyCounter(table: table, entityNumber: number), .raiseKeyCounterAboveParked(entityNumber: number)]
    case .createTrigger(let table, let slots): [.createParkedTrigger(table: table, slots: slots)]
    case .add(let slot, let rows, _): [.addParkedRows(rows, to: slot)]
    case .dropTriggers(let names): names.map { .dropParkedTrigger($0) }
    case .restoreObjects(let slot, let table, let number, let fills):
      [.restoreObjects(slot, table: table, number: number, fills: fills.map { ($0.column, $0.value) })]
    }
  }
}
