import Foundation
import Persist
import PersistOnlineMigrations
import PersistPostgreSQL
import PersistTestSupport
import Testing

/// Models of a shop for tests, and programs that use its store.
enum OnlineShop {
  static func version(_ name: String, _ entities: EntityDescription...) throws -> ModelVersion {
    ModelVersion(
      name: name,
      model: try ManagedObjectModel(ModelDescription(entities: entities, versionIdentifiers: [name])))
  }

  /// Items with categories and tags.
  static func old() throws -> ModelVersion {
    try version(
      "Shop 1",
      EntityDescription(
        "Item",
        attributes: [
          AttributeDescription("name", .string, isOptional: false, default: .string("New item")),
          AttributeDescription("count", .int64), AttributeDescription("colour", .string),
        ],
        relationships: [
          RelationshipDescription("category", to: "Category", inverse: "items"),
          RelationshipDescription("tags", toMany: "Tag", inverse: "items"),
        ]),
      EntityDescription(
        "Category", attributes: [AttributeDescription("label", .string)],
        relationships: [RelationshipDescription("items", toMany: "Item", inverse: "category")]),
      EntityDescription(
        "Tag", attributes: [AttributeDescription("label", .string)],
        relationships: [RelationshipDescription("items", toMany: "Item", inverse: "tags")]))
  }

  /// An attribute, a to-one and a to-many relationship are renamed; an attribute is removed, another one and an entity
  /// are added, and a label must be unique.
  ///
  /// - Parameters:
  ///   - isRetyped: Whether the count gets another type and is required.
  ///   - isSingle: Whether the labels become to-one.
  static func new(isRetyped: Bool = false, isSingle: Bool = false) throws -> ModelVersion {
    try version(
      "Shop 2",
      EntityDescription(
        "Item",
        attributes: [
          AttributeDescription(
            "title", .string, isOptional: false, default: .string("New item"), renamingIdentifier: "name"),
          isRetyped
            ? AttributeDescription("count", .decimal, isOptional: false, default: .decimal(7))
            : AttributeDescription("count", .int64),
          AttributeDescription("state", .string, isOptional: false, default: .string("new"), isIndexed: true),
        ],
        relationships: [
          RelationshipDescription("group", to: "Category", inverse: "items", renamingIdentifier: "category"),
          isSingle
            ? RelationshipDescription(
              "labels", to: "Tag", inverse: "items", isOptional: false, renamingIdentifier: "tags")
            : RelationshipDescription("labels", toMany: "Tag", inverse: "items", renamingIdentifier: "tags"),
          RelationshipDescription("supplier", to: "Supplier", inverse: "items"),
        ]),
      EntityDescription(
        "Category", attributes: [AttributeDescription("label", .string)],
        relationships: [RelationshipDescription("items", toMany: "Item", inverse: "group")],
        uniquenessConstraints: [["label"]]),
      EntityDescription(
        "Supplier", attributes: [AttributeDescription("name", .string)],
        relationships: [RelationshipDescription("items", toMany: "Item", inverse: "supplier")]),
      EntityDescription(
        "Tag", attributes: [AttributeDescription("label", .string)],
        relationships: [RelationshipDescription("items", toMany: "Item", inverse: "labels")]))
  }

  static func withStore(_ body: (URL) throws -> Void) throws {
    try TestServer.withSchema { text in try body(#require(URL(string: text))) }
  }
}

/// A program with a model that has a store open.
struct OnlineProgram {
  let model: ManagedObjectModel
  let coordinator: PersistentStoreCoordinator
  let context: ManagedObjectContext

  init(_ version: ModelVersion, _ url: URL, options: StoreOptions = StoreOptions()) throws {
    model = version.model
    coordinator = PersistentStoreCoordinator(model: version.model)
    try coordinator.addStore(at: url, options: options)
    context = ManagedObjectContext(coordinator)
  }

  @discardableResult
  func insert(_ entity: String, _ values: [String: any Sendable] = [:]) throws -> ManagedObject {
    let object = ManagedObject(entity: entity, context: context)
    for (name, value) in values { object[name] = value }
    return object
  }

  func all(_ entity: String) throws -> [ManagedObject] {
    context.refreshAllObjects()
    return try context.fetch(FetchRequest(entity))
  }

  /// The values of an attribute, in the order of their texts.
  func values(_ entity: String, _ attribute: String) throws -> [String] {
    try all(entity).map { "\($0[attribute] ?? "nil")" }.sorted()
  }

  func save() throws { try context.save() }

  func close() throws {
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  /// Everything in the store: each object with its attributes and the keys of related objects.
  func dump() throws -> [String] {
    context.refreshAllObjects()
    return try model.entities.filter { !$0.isAbstract }.flatMap { entity -> [String] in
      var request = FetchRequest(entity.name)
      request.includesSubentities = false
      return try context.fetch(request).map { object in
        let values = entity.properties.filter { !$0.isTransient }.map { property -> String in
          if let relationship = property.relationship {
            let keys = relationship.isToMany ? Self.keys(object[property.name]) : [Self.key(object[property.name])]
            return "\(property.name)=\(relationship.isOrdered ? keys : keys.sorted())"
          }
          if let parts = object[property.name] as? [String: Any] {
            return "\(property.name)=\(parts.map { "\($0)=\($1)" }.sorted())"
          }
          return "\(property.name)=\(object[property.name].map { "\($0)" } ?? "nil")"
        }
        return "\(entity.name) \(Self.key(object)) \(values.sorted().joined(separator: " "))"
      }
    }.sorted()
  }

  static func key(_ value: Any?) -> String {
    (value as? ManagedObject).map { "\($0.objectID.uriRepresentation().lastPathComponent)" } ?? "nil"
  }

  /// The keys of the objects of a relationship of any kind.
  static func allKeys(_ value: Any?) -> [String] { (value as? ManagedObject).map { [key($0)] } ?? keys(value) }

  static func keys(_ value: Any?) -> [String] {
    (value as? RelationshipSet<ManagedObject>).map { set in set.map { key($0) } } ?? []
  }
}

extension OnlineMigration {
  /// Fills the second model's places in batches of a random size, interrupted up to two times, and continued.
  ///
  /// - Parameter body: Called after each interruption.
  func backfill(
    interruptedBy numbers: inout SeededRandom, _ body: (inout SeededRandom) throws -> Void
  ) throws {
    var pace = BackfillPace()
    pace.batchSize = Int.random(in: 1...4, using: &numbers)
    var interruptions = Int.random(in: 0...2, using: &numbers)
    while try !backfill(
      pace: pace,
      progress: { _ in
        interruptions -= 1
        return interruptions < 0
      })
    { try body(&numbers) }
  }
}
