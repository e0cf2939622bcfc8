package import Foundation

/// Values that are parked in an SQLite file.
extension SQLiteConnection {
  package func parkedSlots() throws -> [ParkedSlot] { try storedParkedSlots() }

  package func parkedModel(_ digest: String) throws -> Data? { try first(of: .parkedModel(digest)) { $0.data(0) } }

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
      (object: row.integer(0), name: row.data(1).largeValueName)
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
