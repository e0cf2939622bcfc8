import Foundation
import Persist
import PersistPostgreSQL

/// The sample objects: items, each in a group of 20.
enum Sample {
  static let itemsPerGroup = 20

  private static var model: ManagedObjectModel {
    get throws {
      try ManagedObjectModel(
        ModelDescription(entities: [
          EntityDescription(
            "Item",
            attributes: [
              AttributeDescription("name", .string), AttributeDescription("note", .string),
              AttributeDescription("price", .double), AttributeDescription("quantity", .int64),
            ],
            relationships: [RelationshipDescription("group", to: "Group", inverse: "items")]),
          EntityDescription(
            "Group", attributes: [AttributeDescription("title", .string)],
            relationships: [RelationshipDescription("items", toMany: "Item", inverse: "group")]),
        ]))
    }
  }

  struct Row {
    let name: String
    let note: String
    let price: Double
    let quantity: Int64

    init(_ number: Int) {
      name = "Item \(number)"
      note = "A note about item \(number) that is a little longer"
      price = Double(number % 1000) + 0.25
      quantity = Int64(number)
    }
  }

  /// A new context over the store.
  static func context(_ url: String, schema: String) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(model: try model)
    try coordinator.addStore(.postgreSQL(url, schema: schema))
    return ManagedObjectContext(coordinator, classes: ["Item": Item.self, "Group": Group.self])
  }
}

final class Item: ManagedObject {
  // Attributes come first, each kind in the order of its names: name, note, price, quantity, group.
  var name: String? {
    get { string(at: 0) }
    set { setAttributeValue(newValue.map(StoredValue.string) ?? .null, at: 0) }
  }
  var note: String? {
    get { string(at: 1) }
    set { setAttributeValue(newValue.map(StoredValue.string) ?? .null, at: 1) }
  }
  var price: Double {
    get { double(at: 2) ?? 0 }
    set { setAttributeValue(.double(newValue), at: 2) }
  }
  var quantity: Int64 {
    get { integer(at: 3) ?? 0 }
    set { setAttributeValue(.integer(newValue), at: 3) }
  }

  var group: Group? {
    get { toOne(at: 4, as: Group.self) }
    set { setToOne(newValue, at: 4) }
  }

  func take(_ row: Sample.Row) {
    name = row.name
    note = row.note
    price = row.price
    quantity = row.quantity
  }
}

final class Group: ManagedObject {
  var title: String? {
    get { string(at: 0) }
    set { setAttributeValue(newValue.map(StoredValue.string) ?? .null, at: 0) }
  }
  var items: RelationshipSet<Item> { toMany(at: 1, of: Item.self) }
}

struct BenchmarkError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

extension Sample {
  /// A number made of all values of an item, so that all are read.
  static func sum(_ quantity: Int64, _ price: Double, _ name: String, _ note: String) -> Int64 {
    quantity &+ Int64(price) &+ Int64(name.utf8.count) &+ Int64(note.utf8.count)
  }

  static func rows(_ count: Int) -> [Row] { (0..<count).map(Row.init) }

  /// A context over a new store with items, in groups if asked for.
  static func context(
    _ setting: Contest.Setting, items count: Int, inGroups: Bool = false
  ) throws -> ManagedObjectContext {
    let writing = try context(setting.url, schema: setting.schema)
    var group: Group?
    for (index, row) in rows(count).enumerated() {
      let item = Item(context: writing)
      item.take(row)
      guard inGroups else { continue }
      if index % itemsPerGroup == 0 {
        group = Group(context: writing)
        group?.title = "Group \(index / itemsPerGroup)"
      }
      item.group = group
    }
    try writing.save()
    return try context(setting.url, schema: setting.schema)
  }
}
