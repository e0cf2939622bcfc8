import Foundation
import Synchronization

/// Records one transaction in the history, within the transaction of the changes that it describes.
///
/// Each change is one row. Consecutive changes of one kind, entity and columns are written together, by a prepared
/// statement for several; nothing is read back. Without changes nothing is recorded.
///
/// It is a class, because the passes of an import continue one transaction.
final class HistoryWriter {
  private let plan: HistoryPlan
  private let origin: HistoryOrigin
  private let entities: [HistoryMap.EntityColumns]
  private let deletions: [PreparedSQL?]
  private let connection: SQLiteConnection
  private let folder: ExternalDataFolder?
  /// The number of the last recorded change.
  private var last: Int64
  private var count = 0
  /// The bits of the last update's columns: many rows change in the same ones.
  private var bits: (entity: Int, slots: [Int], columns: Data)?
  /// The kind and entity of the changes that aren't written yet. Updates have changed the columns of ``bits``.
  private var pending: (type: HistoryChangeType, entity: Int)?
  private var pendingKeys: [Int64] = []
  /// The number of changes that are collected before they are written.
  private static let pendingCapacity = 256
  /// The number of the transaction, and its time.
  let number: Int64
  let time = Date().timeIntervalSinceReferenceDate

  /// - Parameter folder: The folder of large values, for those that are kept of deleted objects.
  init(
    _ plan: HistoryPlan, by origin: HistoryOrigin?, _ connection: SQLiteConnection, folder: ExternalDataFolder?
  ) throws {
    self.plan = plan
    entities = plan.map.entities.value
    deletions = plan.deletions.value
    self.origin = origin ?? HistoryOrigin()
    self.connection = connection
    self.folder = folder
    let statement = try connection.statement(plan.lastNumbers)
    defer { statement.reset() }
    guard try statement.step() else {
      throw SQLiteConnection.damagedHistory(connection.url, "Its counters can't be read.")
    }
    last = statement.integer(0)
    _ = try SQLiteConnection.historyNumber(after: last, in: connection.url)
    number = try SQLiteConnection.historyNumber(after: statement.integer(1), in: connection.url)
    if let oldValues = plan.map.oldValues { try connection.beginKeepingOldValues(oldValues, number) }
  }

  /// Records an insertion or deletion.
  ///
  /// - Parameter entity: The entity's index in the model.
  func record(_ type: HistoryChangeType, _ entity: Int, key: Int64) throws {
    if pending?.type != type || pending?.entity != entity || pendingKeys.count == Self.pendingCapacity {
      try writePending()
      pending = (type, entity)
    }
    pendingKeys.append(key)
  }

  private func writePending() throws {
    guard let (type, entity) = pending, !pendingKeys.isEmpty else { return }
    var rest = pendingKeys[...]
    while !rest.isEmpty {
      let keys = rest.prefix(HistoryPlan.changeGroupSize)
      rest = rest[keys.endIndex...]
      let statement = try connection.statement(plan.insertChanges[keys.count - 1].value)
      statement.bind(Int64(type.rawValue), at: 1)
      statement.bind(Int64(entities[entity].number), at: 2)
      statement.bind(number, at: 3)
      if plan.map.layout.hasChangedColumns, type == .update, let bits { statement.bind(bits.columns, at: 4) }
      statement.bind(last + 1, at: 5)
      var index: Int32 = 6
      for key in keys {
        statement.bind(key, at: index)
        index += 1
      }
      try statement.run()
      last += Int64(keys.count)
    }
    count += pendingKeys.count
    pendingKeys.removeAll(keepingCapacity: true)
  }

  /// - Parameter slots: The slots of the changed properties.
  @inline(never)
  func recordUpdate(of key: Int64, _ entity: Int, changing slots: [Int]) throws {
    if bits?.entity != entity || bits?.slots != slots {
      try writePending()
      bits = (entity, slots, entities[entity].changedColumns.bytes(changing: slots))
    }
    try record(.update, entity, key: key)
  }

  /// Records the deletion of a row that still exists, with the values that are kept.
  func recordDeletion(of key: Int64, _ entity: Int) throws {
    let columns = entities[entity]
    guard let deletion = deletions[entity] else { return try record(.delete, entity, key: key) }
    try writePending()
    let statement = try connection.statement(deletion)
    statement.bind(last + 1, at: 1)
    statement.bind(Int64(columns.number), at: 2)
    statement.bind(number, at: 3)
    statement.bind(key, at: 4)
    try statement.run()
    guard connection.changes > 0 else { return }
    last += 1
    count += 1
    try keepLargeValues(of: key, columns)
  }

  /// Copies values that are stored in files into the history, because the files are deleted with the row. A value whose
  /// file is missing is lost already: the history has none, and the object can be deleted.
  private func keepLargeValues(of key: Int64, _ entity: HistoryMap.EntityColumns) throws {
    for (index, attribute) in entity.preserved.enumerated() where attribute.attribute.storesMarkedBytes {
      let sql = SQLText.fileName(in: entity.table, attribute.column, key: key)
      guard let content = try connection.first(sql, { $0.data(0) }), let folder else { continue }
      let name = content.largeValueName
      let value = try folder.dataIfPresent(named: name).map { SQLValue.blob(Data([1]) + $0) } ?? .null
      try connection.execute(.setTombstone(plan.map.layout.tombstones[index], to: value, of: last))
    }
  }

  /// Records the transaction.
  ///
  /// - Returns: Its number; nil if there were no changes.
  func finish() throws -> Int64? {
    try writePending()
    if let oldValues = plan.map.oldValues {
      try connection.endKeepingOldValues(oldValues, of: number, isRecorded: count > 0, from: folder)
    }
    guard count > 0 else { return nil }
    if let attached = origin.attached { try connection.write(attached) }
    try finishWithoutChanges()
    if plan.map.beginDescribing() { try connection.describe(plan.map) }
    return number
  }

  /// Records the transaction, whether or not there were changes.
  func finishWithoutChanges() throws {
    let texts = try plan.writtenTexts.map { try value(of: $0.text, isReference: $0.isReference) }
    let statement = try connection.statement(plan.insertTransaction)
    statement.bind(number, at: 1)
    statement.bind(time, at: 2)
    for (index, text) in texts.enumerated() { statement.bind(text, at: Int32(3 + index)) }
    try statement.run()
    let counters = try connection.statement(plan.setLastNumbers)
    counters.bind(last, at: 1)
    counters.bind(number, at: 2)
    try counters.run()
    guard connection.changes < 2 else { return }
    // Stores of older versions of Core Data have no rows for the history's counters.
    try setLast(number, of: HistoryLayout.EntityNumber.transaction)
    try setLast(last, of: HistoryLayout.EntityNumber.change)
  }

  private func value(of text: HistoryLayout.Text, isReference: Bool) throws -> SQLValue {
    guard let value = origin.value(of: text) else { return .null }
    return isReference ? .integer(try key(of: value)) : .text(value)
  }

  /// The key of a text, which is added if it is new.
  private func key(of text: String) throws -> Int64 {
    let statement = try connection.statement(plan.findText)
    defer { statement.reset() }
    statement.bind(text, at: 1)
    if try statement.step() { return statement.integer(0) }
    let table = HistoryLayout.textTable
    let key = try connection.first(.greatestKey(of: table, entity: HistoryLayout.EntityNumber.text)) { $0.integer(0) }
    let next = try SQLiteConnection.historyNumber(after: key ?? 0, in: connection.url)
    try connection.execute(.addHistoryText(text, key: next))
    try setLast(next, of: HistoryLayout.EntityNumber.text)
    return next
  }

  private func setLast(_ number: Int64, of entity: Int) throws {
    guard let name = HistoryLayout.entityNames[entity] else { return }
    try connection.execute(.setGreatestKey(number, entity: entity, name: name))
  }
}
