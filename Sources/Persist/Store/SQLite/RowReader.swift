import LinkedSQLite
import Foundation

/// Reads the rows of statements into chunks, in one pass over the columns of each row.
struct RowReader {
  private let plan: RowPlan
  /// The entities of the model by number of the store. Not the whole map, whose parts a copy retains one by one.
  private let numbers: EntityNumbers
  /// Created with the first row.
  private var writer: RowChunkWriter?
  private let expectedRows: Int?
  /// Receives the number of rows read; nil for none.
  var monitor: ReadMonitor?
  /// Rows whose values needn't be read; nil for none.
  var held: KnownRows?
  /// The number of rows between reports to a monitor.
  static let rowsBetweenReports = 1000
  private(set) var batch = RowBatch()
  /// The value of the owners' column for each row.
  private(set) var owners: [Int64] = []

  init(_ plan: RowPlan, map: TableMap, expectedRows: Int?) {
    self.plan = plan
    numbers = map.numbers
    self.expectedRows = expectedRows
    // Most results of unknown length are short, and would otherwise grow several times.
    batch.reserveCapacity(min(expectedRows ?? 32, 10_000))
  }

  mutating func sortByKey() { batch.sortByKey() }

  /// Removes and returns the rows read so far.
  ///
  /// - Parameter count: The number of rows to be read next, for which space is reserved.
  mutating func takeRows(expecting count: Int) -> RowBatch {
    var rows = RowBatch()
    rows.reserveCapacity(count)
    if let writer { rows.append(writer.chunk) }
    swap(&rows, &batch)
    return rows
  }

  /// Reads all rows of the statement, ignoring rows of entities outside the plan.
  ///
  /// - Parameter ownerColumn: A column after those of the plan to collect in ``owners``; nil for none.
  mutating func readRows(_ statement: SQLiteStatement, ownerColumn: Int32? = nil) throws {
    _ = try readPart(statement, upTo: .max, ownerColumn: ownerColumn)
  }

  /// Does the same as ``readRows(_:ownerColumn:)`` for the next rows of the statement.
  ///
  /// - Parameter limit: The number of rows in ``batch`` after which reading stops.
  /// - Returns: Whether the statement has ended.
  mutating func readPart(_ statement: SQLiteStatement, upTo limit: Int, ownerColumn: Int32? = nil) throws -> Bool {
    var isSuspended = false
    // Also reset after an error: a statement that hasn't finished would keep its lock.
    defer { if !isSuspended { statement.reset() } }
    var number = Int64.min
    var current: RowPlan.Variant?
    while try statement.step() {
      let rowNumber = statement.integer(1)
      if rowNumber != number {
        number = rowNumber
        current = plan.variant(ofNumber: rowNumber)
      }
      guard let variant = current else {
        batch.omit(key: statement.integer(0))
        continue
      }
      let (key, version) = (statement.integer(0), statement.integer(2))
      if let held, held.holds(key, version) {
        batch.append(key: key, entityIndex: variant.entityIndex)
      } else {
        let offset = try readRow(statement, as: variant, version: version)
        batch.append(key: key, entityIndex: variant.entityIndex, offset: offset)
      }
      if let monitor, batch.count.isMultiple(of: Self.rowsBetweenReports) {
        monitor.count(rows: Self.rowsBetweenReports)
      }
      if let ownerColumn { owners.append(statement.integer(ownerColumn)) }
      if batch.count == limit {
        isSuspended = true
        return false
      }
    }
    return true
  }

  /// Reads only keys and entities.
  mutating func readKeys(_ statement: SQLiteStatement) throws {
    while try statement.step() {
      guard let variant = plan.variant(ofNumber: statement.integer(1)) else {
        batch.omit(key: statement.integer(0))
        continue
      }
      batch.append(key: statement.integer(0), entityIndex: variant.entityIndex)
      if let monitor, batch.count.isMultiple(of: Self.rowsBetweenReports) {
        monitor.count(rows: Self.rowsBetweenReports)
      }
    }
    statement.reset()
  }

  /// Reads the values of a row into the batch's last chunk.
  ///
  /// - Returns: The row's offset in the chunk.
  private mutating func readRow(
    _ statement: SQLiteStatement, as variant: RowPlan.Variant, version: Int64
  ) throws -> UInt32 {
    // Moved out and back, to avoid retaining its chunk once more for each row.
    var writer = writer.take() ?? firstWriter(variant)
    let chunkCount = writer.chunkCount
    writer.beginRow(version: version, slotCount: variant.slotCount)
    var size = 0
    for fill in variant.fills {
      guard let value = statement.columnValue(fill.column) else { continue }
      let type = sqlite3_value_type(value)
      if type == SQLITE_NULL { continue }
      switch fill.form {
      case .integer: writer.setInteger(sqlite3_value_int64(value), slot: fill.slot)
      case .boolean: writer.setInteger(sqlite3_value_int64(value) == 0 ? 0 : 1, slot: fill.slot)
      case .double: writer.setDouble(sqlite3_value_double(value), slot: fill.slot)
      case .text, .bytes:
        let start = fill.form == .text ? UnsafeRawPointer(sqlite3_value_text(value)) : sqlite3_value_blob(value)
        let count = Int(sqlite3_value_bytes(value))
        size &+= count
        // Slots contain 32-bit offsets. SQLite's own limit for a row is below that, unless it was raised.
        if size > Int(Int32.max) { throw PersistenceError.tooLarge(row: statement.integer(0), of: plan.entity) }
        writer.setBytes(start, count: count, slot: fill.slot)
      case .decimal: Self.setDecimal(value, type, slot: fill.slot, in: &writer)
      case .uuid: Self.setUUID(value, type, slot: fill.slot, in: &writer)
      case .entityNumber:
        if let index = numbers.entityIndex(ofNumber: Int(truncatingIfNeeded: sqlite3_value_int64(value))) {
          writer.setInteger(Int64(index + 1), slot: fill.slot)
        }
      }
    }
    let offset = writer.endRowInPlace()
    if writer.chunkCount != chunkCount { batch.append(writer.chunk) }
    self.writer = writer
    return offset
  }

  private mutating func firstWriter(_ variant: RowPlan.Variant) -> RowChunkWriter {
    let writer = RowChunkWriter(slotCount: variant.slotCount, expectedRows: expectedRows)
    batch.append(writer.chunk)
    return writer
  }

  /// Numbers become the shortest text that parses to the same value; texts and texts in blobs are unchanged.
  private static func setDecimal(
    _ value: OpaquePointer, _ type: Int32, slot: Int, in writer: inout RowChunkWriter
  ) {
    switch type {
    case SQLITE_INTEGER: writer.setString(String(sqlite3_value_int64(value)), slot: slot)
    case SQLITE_FLOAT: writer.setString(String(sqlite3_value_double(value)), slot: slot)
    case SQLITE_TEXT:
      let start = sqlite3_value_text(value)
      writer.setBytes(start, count: Int(sqlite3_value_bytes(value)), slot: slot)
    default:
      let start = sqlite3_value_blob(value)
      writer.setBytes(start, count: Int(sqlite3_value_bytes(value)), slot: slot)
    }
  }

  /// Sixteen bytes, or their 36-character text form.
  private static func setUUID(_ value: OpaquePointer, _ type: Int32, slot: Int, in writer: inout RowChunkWriter) {
    if type == SQLITE_TEXT, let text = sqlite3_value_text(value), let uuid = UUID(uuidString: String(cString: text)) {
      withUnsafeBytes(of: uuid.uuid) { writer.setBytes($0.baseAddress, count: 16, slot: slot) }
    } else {
      let start = sqlite3_value_blob(value)
      writer.setBytes(start, count: Int(sqlite3_value_bytes(value)), slot: slot)
    }
  }
}
