package import Foundation

/// Values that are parked in an SQLite file.
extension SQLiteConnection {
  package func parkedSlots() throws -> [ParkedSlot] {
    guard try first(.knows(table: ParkedSlot.Table.slots), { _ in true }) == true else { return [] }
    let hasStates = try first(.knows(table: ParkedSlot.Table.states), { _ in true }) == true
    return try all(.parkedSlots(hasStates: hasStates)) { row in
      let column = row.text(8)
      return ParkedSlot(
        number: Int(clamping: row.integer(0)), kind: ParkedSlot.Kind(rawValue: row.text(1)) ?? .attribute,
        entity: row.text(2), property: row.text(3), elements: row.text(4), model: row.text(5), version: row.text(6),
        column: column.isEmpty
          ? nil : ParkedColumn(table: row.text(7), name: column, entityNumber: Int(clamping: row.integer(9))))
    }
  }

  package func parkedModel(_ digest: String) throws -> Data? { try first(.parkedModel(digest)) { $0.data(0) } }

  package func forEachParkedRow(
    of slot: ParkedSlot, _ types: ParkedTypes, _ body: ([SQLValue]) throws -> Void
  ) throws {
    let count = slot.kind.rowColumns.count
    try query(.parkedRows(slot)) { row in try body((0..<Int32(count)).map(row.value)) }
  }

  package func readParkedFiles(of slot: ParkedSlot) throws {
    guard let url else { return }
    let folder = ExternalDataFolder(storeAt: url)
    let files = try all(.parkedFiles(slot)) { row in
      (object: row.integer(0), name: String(decoding: row.data(1).dropFirst().prefix { $0 != 0 }, as: UTF8.self))
    }
    for (object, name) in files {
      // A missing file remains missing.
      guard try folder.file(named: name) != nil else { continue }
      try execute(.setParkedValue(slot, of: object, .blob(Data([1]) + folder.data(named: name))))
    }
  }
}

extension SQLiteStore: InspectableStore {
  func parkedSlots() throws -> [ParkedSlot] { try inspect { try $0.parkedSlots() } }

  func inspect<T>(_ body: (any StoreInspector) throws -> T) throws -> T {
    try pool.read { connection in try connection.readTransaction { try body(connection) } }
  }
}
