import Foundation
import Persist

/// The sample row as a class with constant slots, as the generator writes it.
final class SampleItem: ManagedObject {
  // Slots are in name order: addedAt, code, name, note, price, quantity, rank, token.
  var addedAt: Date? {
    get { date(at: 0) }
    set { setAttributeValue(newValue.map(StoredValue.date) ?? .null, at: 0) }
  }
  var code: String? {
    get { string(at: 1) }
    set { setAttributeValue(newValue.map(StoredValue.string) ?? .null, at: 1) }
  }
  var name: String? {
    get { string(at: 2) }
    set { setAttributeValue(newValue.map(StoredValue.string) ?? .null, at: 2) }
  }
  var note: String? {
    get { string(at: 3) }
    set { setAttributeValue(newValue.map(StoredValue.string) ?? .null, at: 3) }
  }
  var price: Double {
    get { double(at: 4) ?? 0 }
    set { setAttributeValue(.double(newValue), at: 4) }
  }
  var quantity: Int64 {
    get { integer(at: 5) ?? 0 }
    set { setAttributeValue(.integer(newValue), at: 5) }
  }
  var rank: Int64 {
    get { integer(at: 6) ?? 0 }
    set { setAttributeValue(.integer(newValue), at: 6) }
  }
  var token: UUID? {
    get { uuid(at: 7) }
    set { setAttributeValue(newValue.map(StoredValue.uuid) ?? .null, at: 7) }
  }
}

/// What Persist does.
enum PersistParts: ContestantParts {
  static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel(
      ModelDescription(entities: [
        EntityDescription(
          "Item",
          attributes: [
            AttributeDescription("addedAt", .date), AttributeDescription("code", .string),
            AttributeDescription("name", .string), AttributeDescription("note", .string),
            AttributeDescription("price", .double), AttributeDescription("quantity", .int64),
            AttributeDescription("rank", .int64), AttributeDescription("token", .uuid),
          ])
      ]))
  }

  private static func context(_ file: URL) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(model: try model())
    try coordinator.addStore(at: file)
    return ManagedObjectContext(coordinator, classes: ["Item": SampleItem.self])
  }

  static func fill(_ url: URL, rows: Int) throws {
    _ = try insert(.init(file: url, rows: rows))()
    let database = PlainSQLite(url.path)
    database.run("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  static func insert(_ setting: Workload.Setting) throws -> () throws -> UInt64 {
    let context = try context(setting.file)
    return {
      for number in 0..<setting.rows {
        let row = SampleRow(number)
        let item = SampleItem(context: context)
        item.quantity = row.quantity
        item.rank = row.rank
        item.addedAt = Date(timeIntervalSinceReferenceDate: row.addedAt)
        item.price = row.price
        item.code = row.code
        item.name = row.name
        item.note = row.note
        item.token = row.token
      }
      try context.save()
      return UInt64(PlainSQLite(setting.file.path).integer("SELECT count(*) + sum(ZQUANTITY) FROM ZITEM"))
    }
  }

  private static func all(_ context: ManagedObjectContext) throws -> [ManagedObject] {
    try context.fetch(FetchRequest("Item"))
  }

  static func fetch(_ setting: Workload.Setting) throws -> () throws -> UInt64 {
    let context = try context(setting.file)
    return { UInt64(try all(context).count) }
  }

  static func read(_ setting: Workload.Setting) throws -> () throws -> UInt64 {
    let context = try context(setting.file)
    return {
      var sum = Checksum()
      for object in try all(context) {
        guard let item = object as? SampleItem else { continue }
        sum.add(item.quantity, item.rank, item.addedAt?.timeIntervalSinceReferenceDate ?? 0, item.price)
        sum.add(item.code ?? "")
        sum.add(item.name ?? "")
        sum.add(item.note ?? "")
        if let token = item.token { sum.add(token) }
      }
      return sum.value
    }
  }

  static func update(_ setting: Workload.Setting) throws -> () throws -> UInt64 {
    let context = try context(setting.file)
    let items = try all(context)
    return {
      for (number, object) in items.enumerated() {
        (object as? SampleItem)?.quantity = Int64(number)
      }
      try context.save()
      return UInt64(PlainSQLite(setting.file.path).integer("SELECT sum(ZQUANTITY) + count(*) FROM ZITEM"))
    }
  }

  static func delete(_ setting: Workload.Setting) throws -> () throws -> UInt64 {
    let context = try context(setting.file)
    let items = try all(context)
    return {
      for item in items { context.delete(item) }
      try context.save()
      return UInt64(PlainSQLite(setting.file.path).integer("SELECT count(*) FROM ZITEM"))
    }
  }
}
