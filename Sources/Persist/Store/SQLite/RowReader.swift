import CSQLite
import Foundation

/// Reads the rows that statements give into chunks, one pass over the columns of each.
struct RowReader {
  private let plan: RowPlan
  private let map: TableMap
  /// By variant of the plan; made when its first row comes.
  private var writers: [RowChunkWriter?]
  private let expectedRows: Int?
  /// Who is told how many rows were read; nil for nobody.
  var monitor: ReadMonitor?
  /// After how many rows a monitor hears of them.
  static let notedRows = 1000
  private(set) var batch = RowBatch()
  /// What stood in the owners' column, for each row.
  private(set) var owners: [Int64] = []

  init(_ plan: RowPlan, map: TableMap, expectedRows: Int?) {
    self.plan = plan
    self.map = map
    self.expectedRows = expectedRows
    writers = Array(repeating: nil, count: plan.variants.count)
    if let expectedRows { batch.rows.reserveCapacity(min(expectedRows, 10_000)) }
  }

  /// Reads to the statement's end. Rows of entities that the plan doesn't have are passed over.
  ///
  /// - Parameter ownerColumn: a column behind those of the plan that is kept in ``owners``; nil for none.
  mutating func readRows(_ statement: SQLiteStatement, ownerColumn: Int32? = nil) throws {
    // Also after an error: a statement in the middle of its rows would keep its lock.
    defer { statement.reset() }
    var number = Int64.min
    var current: (index: Int, variant: RowPlan.Variant)?
    while try statement.step() {
      let rowNumber = statement.integer(1)
      if rowNumber != number {
        number = rowNumber
        current = plan.variantByNumber[rowNumber].map { ($0, plan.variants[$0]) }
      }
      guard let (index, variant) = current else { continue }
      let snapshot = try readRow(statement, variant, at: index)
      batch.rows.append(
        RowBatch.Row(key: statement.integer(0), entityIndex: variant.entity.number - 1, snapshot: snapshot))
      if let monitor, batch.rows.count.isMultiple(of: Self.notedRows) { monitor.note(rows: Self.notedRows) }
      if let ownerColumn { owners.append(statement.integer(ownerColumn)) }
    }
  }

  /// Reads keys and entities alone.
  mutating func readKeys(_ statement: SQLiteStatement) throws {
    while try statement.step() {
      guard let variant = plan.variantByNumber[statement.integer(1)] else { continue }
      batch.rows.append(
        RowBatch.Row(
          key: statement.integer(0), entityIndex: plan.variants[variant].entity.number - 1, snapshot: nil))
      if let monitor, batch.rows.count.isMultiple(of: Self.notedRows) { monitor.note(rows: Self.notedRows) }
    }
    statement.reset()
  }

  private mutating func readRow(
    _ statement: SQLiteStatement, _ variant: RowPlan.Variant, at index: Int
  ) throws -> RowSnapshot {
    // Taken out and put back, so that its chunk isn't counted once more for each row.
    var writer =
      writers[index].take() ?? RowChunkWriter(slotCount: variant.entity.rowSlotCount, expectedRows: expectedRows)
    writer.beginRow(version: statement.integer(2))
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
        size += count
        try requireRoom(for: size, statement)
        writer.setBytes(start, count: count, slot: fill.slot)
      case .decimal: Self.setDecimal(value, type, slot: fill.slot, in: &writer)
      case .uuid: Self.setUUID(value, type, slot: fill.slot, in: &writer)
      case .entityNumber:
        if let table = map.table(ofNumber: Int(truncatingIfNeeded: sqlite3_value_int64(value))) {
          writer.setInteger(Int64(table.entity.number), slot: fill.slot)
        }
      }
    }
    let snapshot = writer.endRow()
    writers[index] = writer
    return snapshot
  }

  /// A row's slots hold 32-bit offsets; SQLite's own limit for a row is below that, unless it was raised.
  private func requireRoom(for size: Int, _ statement: SQLiteStatement) throws {
    guard size > Int(Int32.max) else { return }
    throw PersistError(
      .limitExceeded, at: PersistError.Place(entity: plan.entity.name, row: statement.integer(0)),
      "The values of a row take more than 2 GB.", fix: "Keep values of this size outside the store.")
  }

  /// Numbers become the shortest text that reads back as the same; texts and texts in blobs are taken as they are.
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

  /// Sixteen bytes; also from the 36 characters that stand for them.
  private static func setUUID(_ value: OpaquePointer, _ type: Int32, slot: Int, in writer: inout RowChunkWriter) {
    if type == SQLITE_TEXT, let text = sqlite3_value_text(value), let uuid = UUID(uuidString: String(cString: text)) {
      withUnsafeBytes(of: uuid.uuid) { writer.setBytes($0.baseAddress, count: 16, slot: slot) }
    } else {
      let start = sqlite3_value_blob(value)
      writer.setBytes(start, count: Int(sqlite3_value_bytes(value)), slot: slot)
    }
  }
}
