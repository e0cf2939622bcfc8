import Foundation
import Persist
import PersistMacrosless
import PersistTestSupport
import ShopClasses
import Testing

/// The sample model as classes of another module, and as a file.
@Suite("A model as classes and as a file")
struct ShopModelTests {
  private static func registry() throws -> ModelRegistry {
    try ModelRegistry(contentsOf: PackageFolder.url.appendingPathComponent("Models/Shop.xcdatamodeld"))
  }

  @Test("Classes have the same fingerprints as the same model from a file")
  func fingerprints() throws {
    let classes = try ShopModel.current()
    let file = try Self.registry().version(named: "Shop 3").model
    #expect(classes.fingerprints == file.fingerprints)
    #expect(classes.versionIdentifiers == file.versionIdentifiers)
  }

  @Test("Everything else that migrations and rules use is the same too")
  func descriptions() throws {
    let classes = try ShopModel.current()
    let file = try Self.registry().version(named: "Shop 3").model
    for entity in file.entities {
      let own = try classes.entity(named: entity.name)
      #expect(own.description.renamingIdentifier == entity.description.renamingIdentifier)
      #expect(own.isAbstract == entity.isAbstract)
      for property in entity.properties {
        let other = try #require(own.property(named: property.name))
        #expect(other.attribute?.type == property.attribute?.type)
        // A class may specify what a file leaves open: the default of a required text.
        let defaultValue = property.attribute?.defaultValue
        #expect(defaultValue == .null || other.attribute?.defaultValue == defaultValue)
        #expect(other.attribute?.validation == property.attribute?.validation, "\(entity.name).\(property.name)")
        #expect(other.attribute?.renamingIdentifier == property.attribute?.renamingIdentifier)
        #expect(other.relationship?.deleteRule == property.relationship?.deleteRule)
        #expect(other.relationship?.inverse == property.relationship?.inverse)
      }
    }
  }

  @Test("Objects saved with classes are read with the file's model, and vice versa")
  func interoperation() throws {
    try withTemporaryStore { store in
      do {
        let coordinator = PersistentStoreCoordinator(model: try ShopModel.current())
        try coordinator.addStore(at: store)
        let context = ManagedObjectContext(coordinator)
        let order = Order(context: context)
        order.number = 7
        order.buyer = Person("Ada", in: context)
        for name in ["Tea", "Milk"] {
          let item = Item(context: context)
          item.name = name
          let line = Line(context: context)
          line.item = item
          order.lines.append(line)
        }
        try context.save()
      }
      do {
        let coordinator = PersistentStoreCoordinator(model: try Self.registry().current)
        try coordinator.addStore(at: store)
        let context = ManagedObjectContext(coordinator)
        let order = try #require(try context.fetch(FetchRequest("Order")).first)
        #expect(order["number"] as? Int == 7)
        #expect((order["buyer"] as? ManagedObject)?["name"] as? String == "Ada")
        let names = try order.related("lines").map { ($0["item"] as? ManagedObject)?["name"] as? String }
        #expect(names == ["Tea", "Milk"])
        order["number"] = 8
        try context.save()
      }
      // The file's model names the same classes, so that they can be passed with it.
      let coordinator = PersistentStoreCoordinator(model: try Self.registry().current)
      try coordinator.addStore(at: store)
      let context = ManagedObjectContext(
        coordinator,
        classes: ["Order": Order.self, "Person": Person.self, "Line": Line.self, "Item": Item.self])
      let order = try #require(try context.fetch(Order.self, FetchRequest("Order")).first)
      #expect(order.number == 8)
      #expect(order.buyer?.name == "Ada")
      #expect(order.lines.map { $0.item?.name } == ["Tea", "Milk"])
    }
  }

  @Test("A store of the oldest version, which only files contain, is opened with classes")
  func olderVersions() throws {
    try withTemporaryStore { store in
      let registry = try Self.registry()
      do {
        let coordinator = PersistentStoreCoordinator(model: try registry.version(named: "Shop").model)
        try coordinator.addStore(at: store)
        let context = ManagedObjectContext(coordinator)
        let item = ManagedObject(entity: "Item", context: context)
        item["name"] = "Tea"
        item["amount"] = 12
        let label = ManagedObject(entity: "Label", context: context)
        label["text"] = "organic"
        item["labels"] = [label]
        try context.save()
      }
      let model = try ShopModel.current()
      let coordinator = PersistentStoreCoordinator(
        model: model, registry: registry.adding(ModelVersion(name: "Classes", model: model)))
      try coordinator.addStore(at: store, options: .automaticMigration)
      let context = ManagedObjectContext(coordinator)
      let item = try #require(try context.fetch(Item.self, FetchRequest("Item")).first)
      #expect(item.quantity == 12)
      #expect(item.tags.map(\.text) == ["organic"])
    }
  }

  @Test("A store of an older version is opened with only the classes and its own model")
  func storesOwnModel() throws {
    try withTemporaryStore { store in
      do {
        let coordinator = PersistentStoreCoordinator(model: try Self.registry().version(named: "Shop 2").model)
        try coordinator.addStore(at: store)
        let context = ManagedObjectContext(coordinator)
        ManagedObject(entity: "Item", context: context)["quantity"] = 3
        try context.save()
      }
      let coordinator = PersistentStoreCoordinator(model: try ShopModel.current())
      try coordinator.addStore(at: store, options: .automaticMigration)
      let context = ManagedObjectContext(coordinator)
      let item = try #require(try context.fetch(Item.self, FetchRequest("Item")).first)
      #expect(item.quantity == 3)
      #expect(item.price == 0)
    }
  }
}
