import Foundation
import GRDB

/// The catalogue by GRDB, in its recommended form: records, associations, and a pool.
struct GRDBCatalogue: Catalogue {
  private let pool: DatabasePool

  /// - Parameter synchronous: SQLite's pragma for connections that write.
  init(_ file: URL, synchronous: String) throws {
    var configuration = Configuration()
    configuration.prepareDatabase { database in
      // The settings of Persist's connections.
      try database.execute(sql: "PRAGMA trusted_schema = OFF")
      try database.execute(sql: "PRAGMA cell_size_check = ON")
    }
    pool = try DatabasePool(path: file.path, configuration: configuration)
    try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = \(synchronous)") }
  }

  func items(after name: String, limit: Int) async throws -> [ItemSummary] {
    try await pool.read { database in
      try ItemRecord.filter(ItemRecord.Columns.name > name).order(ItemRecord.Columns.name).limit(limit)
        .including(optional: ItemRecord.category)
        .asRequest(of: ItemWithCategory.self)
        .fetchAll(database)
    }.map(ItemSummary.init)
  }

  func item(_ id: UUID) async throws -> ItemDetail? {
    try await pool.read { database in
      try ItemRecord.filter(ItemRecord.Columns.id == id)
        .including(optional: ItemRecord.category)
        .including(all: ItemRecord.notes.order(NoteRecord.Columns.written))
        .asRequest(of: ItemWithRelations.self)
        .fetchOne(database)
    }.map(ItemDetail.init)
  }

  func setQuantity(_ quantity: Int, of id: UUID) async throws -> StockAnswer? {
    try await pool.write { database in
      guard var item = try ItemRecord.filter(ItemRecord.Columns.id == id).fetchOne(database) else { return nil }
      if item.quantity != quantity {
        item.quantity = quantity
        item.version += 1
        try item.update(database, columns: [ItemRecord.Columns.quantity, ItemRecord.Columns.version])
      }
      return StockAnswer(id: item.id, quantity: item.quantity, version: item.version)
    }
  }

  func add(_ note: NoteValue, to id: UUID) async throws -> NoteValue? {
    try await pool.write { database in
      guard let item = try ItemRecord.filter(ItemRecord.Columns.id == id).fetchOne(database) else { return nil }
      var record = NoteRecord(
        key: nil, written: note.written, author: note.author, text: note.text, itemKey: item.key)
      try record.insert(database)
      return NoteValue(record)
    }
  }
}

extension ItemSummary {
  fileprivate init(_ found: ItemWithCategory) {
    let item = found.item
    self.init(
      id: item.id, name: item.name, price: item.price, quantity: item.quantity, added: item.added,
      category: found.category?.name)
  }
}

extension ItemDetail {
  fileprivate init(_ found: ItemWithRelations) {
    let item = found.item
    self.init(
      id: item.id, name: item.name, price: item.price, quantity: item.quantity, added: item.added,
      category: found.category.map { CategoryValue(name: $0.name, position: $0.position) },
      notes: found.notes.map(NoteValue.init))
  }
}

extension NoteValue {
  fileprivate init(_ note: NoteRecord) { self.init(written: note.written, author: note.author, text: note.text) }
}
