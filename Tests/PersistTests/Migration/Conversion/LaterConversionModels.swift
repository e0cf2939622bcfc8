import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Versions of a model between which many values change: entity numbers, types, and missing values.
struct LaterConversionModels {
  let registry: ModelRegistry

  /// - Parameters:
  ///   - isUnique: Whether the names of items are unique.
  ///   - addsIndex: Whether the second version has another index.
  init(isUnique: Bool = false, addsIndex: Bool = false) throws {
    let constraints = isUnique ? [["name"]] : []
    func item(isNew: Bool, _ attributes: AttributeDescription...) -> EntityDescription {
      let added = isNew && addsIndex ? [FetchIndexDescription("byAmount", on: "amount")] : []
      return EntityDescription(
        "Item",
        attributes: [.init("name", .string), .init("photo", .binary, allowsExternalStorage: true)] + attributes,
        relationships: [
          RelationshipDescription("shop", to: "Shop", inverse: "items"),
          RelationshipDescription("tags", toMany: "Tag", inverse: "items"),
        ], uniquenessConstraints: constraints, indexes: [FetchIndexDescription("byName", on: "name")] + added)
    }
    let others = [
      EntityDescription("Toy", parent: "Item", attributes: [.init("age", .int16)]),
      EntityDescription(
        "Shop", attributes: [.init("name", .string)],
        relationships: [RelationshipDescription("items", toMany: "Item", inverse: "shop")]),
      EntityDescription(
        "Tag", attributes: [.init("word", .string)],
        relationships: [RelationshipDescription("items", toMany: "Item", inverse: "tags")]),
    ]
    func version(_ name: String, _ entities: [EntityDescription]) throws -> ModelVersion {
      ModelVersion(name: name, model: try ManagedObjectModel(ModelDescription(entities: entities)))
    }
    registry = ModelRegistry(versions: [
      try version(
        "1",
        [
          item(
            isNew: false, .init("amount", .int32), .init("price", .int32), .init("rank", .int64),
            .init("removed", .string))
        ] + others),
      try version(
        "2",
        [
          item(
            isNew: true, .init("amount", .int32, isOptional: false, default: .integer(7)), .init("price", .double),
            .init("rank", .decimal)),
          EntityDescription("Basket", attributes: [.init("name", .string)]),
          EntityDescription("Another"),
        ] + others),
      try version(
        "3",
        [
          item(
            isNew: true, .init("amount", .int32, isOptional: false, default: .integer(7)), .init("price", .double),
            .init("rank", .decimal), .init("added", .string)),
          EntityDescription("Another"),
        ] + others),
    ])
  }

  var old: ModelVersion { registry.versions[0] }
  var new: ModelVersion { registry.versions[1] }
  var newest: ModelVersion { registry.versions[2] }

  /// A migrator that converts values later, however few there are.
  static var deferring: AutomaticMigrator {
    var migrator = AutomaticMigrator()
    migrator.defersWork = true
    migrator.deferralBudget = .zero
    return migrator
  }

  /// A migrator that also drops the columns of removed attributes, later.
  static var dropping: AutomaticMigrator {
    var migrator = deferring
    migrator.parking = .none
    return migrator
  }

  func fill(_ url: URL, items: Int, seed: UInt64 = 1) throws {
    let coordinator = PersistentStoreCoordinator(model: old.model)
    try coordinator.addStore(at: url)
    let context = ManagedObjectContext(coordinator)
    var random = SeededRandom(seed: seed)
    let shops = (0..<5).map { number in
      let shop = ManagedObject(entity: "Shop", context: context)
      shop["name"] = "Shop \(number)"
      return shop
    }
    let tag = ManagedObject(entity: "Tag", context: context)
    for number in 0..<items {
      let item = ManagedObject(entity: number % 4 == 3 ? "Toy" : "Item", context: context)
      item["name"] = "Item \(number)"
      item["removed"] = "removed \(number)"
      if Bool.random(using: &random) { item["amount"] = Int.random(in: 0...9, using: &random) }
      if Bool.random(using: &random) { item["price"] = Int.random(in: -9...9, using: &random) }
      if Bool.random(using: &random) { item["rank"] = Int.random(in: 0...(1 << 50), using: &random) }
      if number % 10 == 0 { item["photo"] = Data("photo \(number)".utf8) }
      item["shop"] = shops.randomElement(using: &random)
      if number % 7 == 0 { item["tags"] = [tag] as Set<ManagedObject> }
    }
    try context.save()
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  /// Opens a store with the second version, converting values later.
  func open(_ url: URL, options: StoreOptions? = nil) throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(model: new.model, registry: registry)
    try coordinator.addStore(at: url, options: options ?? StoreOptions(migrator: Self.deferring))
    return coordinator
  }

  static func close(_ coordinator: PersistentStoreCoordinator) throws {
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  /// The tables whose rows are being converted.
  static func converted(_ url: URL) throws -> Set<String> {
    try Set(
      PersistentStoreCoordinator.metadata(at: url).deferredSteps.compactMap { step in
        if case .convertValues(_, let table) = step { table } else { nil }
      })
  }

  /// The number of tables that are views at the moment.
  static func views(_ url: URL) throws -> Int {
    try MadeStore.rows("SELECT name FROM sqlite_master WHERE type = 'view'", at: url).count
  }
}
