import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Rows of stores written by Core Data, read and written with the identified model of each store.
@Suite("SQLite store: real rows")
struct RealStoreRowTests {
  /// The models beside each collection of stores, by folder.
  private static let registries: [String: ModelRegistry] = {
    guard let root = try? SharedData.url(""),
      let names = try? FileManager.default.contentsOfDirectory(atPath: root.path)
    else { return [:] }
    return names.reduce(into: [:]) { $0[$1] = try? ModelRegistry(contentsOf: root.appendingPathComponent($1)) }
  }()

  /// Opens a store, or a copy of it, with its identified model.
  private func open(_ url: URL, copyOf original: URL? = nil, readOnly: Bool = false) throws -> SQLiteStore {
    let root = try SharedData.url("").standardizedFileURL.pathComponents
    let folder = (original ?? url).standardizedFileURL.pathComponents.dropFirst(root.count).first ?? ""
    let model = try StoreIdentification.identify(storeAt: url, registry: Self.registries[folder]).model
    return try SQLiteStore.open(url, model: model, options: StoreOptions(isReadOnly: readOnly))
  }

  /// Every table with its rows as text, without bookkeeping and the version column.
  private func content(_ store: SQLiteStore) throws -> [String: [String]] {
    try store.pool.read { connection in
      let tables = try connection.all("SELECT name FROM sqlite_master WHERE type = 'table'") { $0.text(0) }
      var content: [String: [String]] = [:]
      for table in tables where table != "PERSIST_METADATA" && !table.hasPrefix("sqlite_") {
        content[table] = try connection.all("SELECT * FROM \(name: table)") { row in
          (0..<row.columnCount).filter { row.columnName($0) != "Z_OPT" }
            .map { "\(row.columnName($0))=\(row.value($0))" }.joined(separator: ";")
        }.sorted()
      }
      return content
    }
  }

  private func allRows(_ store: SQLiteStore) throws -> [RowBatch.Row] {
    try store.model.entities.filter { $0.superentity == nil }.flatMap { try store.rows(RowQuery(entity: $0)) }
  }

  /// An update of every column, with the values as read.
  private func rewriting(_ row: RowBatch.Row, in store: SQLiteStore) throws -> RowWrites.Update {
    let entity = store.model.entities[row.entityIndex]
    let snapshot = try #require(row.snapshot)
    func value(_ slot: Int, _ attribute: AttributeDescription) throws -> StoredValue {
      let form = SlotForm(attribute)
      if form == .externalData, !snapshot.isNull(slot, of: entity.rowSlotCount),
        case .file(let name) = snapshot.externalContent(slot)
      {
        return .data(try store.externalData(named: name))
      }
      return snapshot.value(slot, as: form, slotCount: entity.rowSlotCount)
    }
    var changes: [(slot: Int, value: StoredValue)] = []
    for property in entity.properties where !property.isTransient {
      if let attribute = property.attribute, attribute.type != .composite, attribute.type != .undefined {
        changes.append((property.slot, try value(property.slot, attribute)))
      } else if property.isToOne, store.map[entity].orderColumns[property.slot] == nil {
        var id: StoredValue = .null
        if !snapshot.isNull(property.slot, of: entity.rowSlotCount), let relationship = property.relationship {
          var name = relationship.destination
          if let numbers = property.entityNumberSlot, !snapshot.isNull(numbers, of: entity.rowSlotCount) {
            name = store.model.entities[Int(snapshot.integer(numbers)) - 1].name
          }
          id = .objectID(
            ManagedObjectID(
              entityName: name, storeIdentifier: store.identifier, key: .permanent(snapshot.integer(property.slot))))
        }
        changes.append((property.slot, id))
      }
    }
    let id = ManagedObjectID(entityName: entity.name, storeIdentifier: store.identifier, key: .permanent(row.key))
    return RowWrites.Update(id: id, entity: entity, version: snapshot.version, changes: changes)
  }

  @Test("Every row is read as one of its own entity", .needsSharedData, arguments: SharedData.stores)
  func counts(url: URL) throws {
    let store = try open(url, readOnly: true)
    var seen: [Int: Int] = [:]
    for row in try allRows(store) { seen[row.entityIndex, default: 0] += 1 }
    for (index, entity) in store.model.entities.enumerated() {
      let table = store.map[entity]
      let stored = try store.pool.read {
        try $0.first("SELECT COUNT(*) FROM \(name: table.table) WHERE Z_ENT = \(number: Int64(table.number))") {
          Int($0.integer(0))
        }
      }
      #expect(stored == seen[index] ?? 0)
      try #expect(store.count(RowQuery(entity: entity, includesSubentities: false)) == stored)
    }
    try store.close()
  }

  @Test("Writing every row back unchanged leaves all columns unchanged", .needsSharedData, arguments: SharedData.stores)
  func rewriting(url: URL) throws {
    try withCopy(ofStore: url) { copy in
      let store = try open(copy, copyOf: url)
      let before = try content(store)
      let rows = try allRows(store)
      var writes = RowWrites()
      writes.updates = try rows.map { try rewriting($0, in: store) }
      // Both sides of every ordered relationship are written again.
      for row in rows {
        let entity = store.model.entities[row.entityIndex]
        let id = ManagedObjectID(entityName: entity.name, storeIdentifier: store.identifier, key: .permanent(row.key))
        for property in entity.properties where property.isToMany && property.relationship?.isOrdered == true {
          let members = try store.related(by: property, of: entity, key: row.key)
          writes.orderings.append(.init(owner: id, entity: entity, slot: property.slot, members: members))
        }
      }
      _ = try store.commit(writes)
      let after = try content(store)
      let hasHistory = before["ATRANSACTION"] != nil
      #expect(Set(after.keys) == Set(before.keys))
      // A store with a history records the save there, and in the metadata the position from which records are
      // Persist's.
      let records: Set = ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING", "Z_METADATA"]
      for (table, rows) in before where !hasHistory || !records.contains(table) {
        func isKept(_ row: String) -> Bool {
          !hasHistory || table != "Z_PRIMARYKEY" || !row.hasPrefix("Z_ENT=integer(1600")
        }
        #expect(after[table]?.filter(isKept) == rows.filter(isKept), "\(table)")
      }
      let versions = try allRows(store).map { $0.snapshot?.version ?? 0 }
      #expect(versions == rows.map { ($0.snapshot?.version ?? 0) + 1 })
      try store.close()
    }
  }

  @Test("To-many relationships agree with their to-one and join rows", .needsSharedData,
    arguments: SharedData.stores)
  func relationships(url: URL) throws {
    let store = try open(url, readOnly: true)
    var pairs: [String: Set<[Int64]>] = [:]
    for row in try allRows(store) {
      let entity = store.model.entities[row.entityIndex]
      for property in entity.properties {
        guard let relationship = property.relationship else { continue }
        let name = "\(property.declaringEntity).\(property.name)"
        var members: [Int64] = []
        if relationship.isToMany {
          members = try store.related(by: property, of: entity, key: row.key).compactMap(\.primaryKey)
          #expect(Set(members).count == members.count)
        } else if let snapshot = row.snapshot, !snapshot.isNull(property.slot, of: entity.rowSlotCount) {
          members = [snapshot.integer(property.slot)]
        }
        pairs[name, default: []].formUnion(members.map { [row.key, $0] })
      }
    }
    for entity in store.model.entities {
      for property in entity.properties where property.declaringEntity == entity.name {
        guard let relationship = property.relationship, relationship.isToMany,
          let inverse = relationship.inverse.flatMap({
            store.model.destination(of: relationship).property(named: $0)
          })
        else { continue }
        let back = pairs["\(inverse.declaringEntity).\(inverse.name)"] ?? []
        let forth = pairs["\(property.declaringEntity).\(property.name)"] ?? []
        #expect(forth == Set(back.map { [$0[1], $0[0]] }), "\(entity.name).\(property.name)")
      }
    }
    try store.close()
  }

  @Test("Damage anywhere causes an error or different rows, never a crash", .needsSharedData, arguments: [
    "posts/CoreDataMigration_Example_3.sqlite", "bookmarks/Bookmarks_V4.sqlite", "cars/Fixtures/SampleModel_V1.sqlite",
  ])
  func damage(path: String) throws {
    try withCopy(ofStore: path) { url in
      let model = try open(url, copyOf: SharedData.url(path), readOnly: true).model
      let original = try Data(contentsOf: url)
      for round in 0..<60 {
        var bytes = original
        for _ in 0...(round % 6) {
          bytes[round % 3 == 0 ? Int.random(in: 0..<4096) : Int.random(in: 0..<bytes.count)] = .random(in: 0...255)
        }
        try bytes.write(to: url)
        do {
          let store = try SQLiteStore.open(url, model: model, options: StoreOptions(isReadOnly: true))
          for row in try allRows(store) {
            _ = try row.values(model)
            let entity = model.entities[row.entityIndex]
            for property in entity.properties where property.isToMany {
              _ = try store.related(by: property, of: entity, key: row.key)
            }
          }
          try store.close()
        } catch { #expect(error is PersistenceError) }
      }
    }
  }
}
