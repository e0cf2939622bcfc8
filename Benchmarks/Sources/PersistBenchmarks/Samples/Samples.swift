import Foundation
import Persist

/// The models that the workloads use, and contexts over their stores.
enum Samples {
  static var items: ManagedObjectModel { get throws { try items(indexes: []) } }

  static var indexedItems: ManagedObjectModel {
    get throws { try items(indexes: [FetchIndexDescription("byQuantityAndRank", on: "quantity", "rank")]) }
  }

  static var rankedItems: ManagedObjectModel {
    get throws { try items(indexes: [FetchIndexDescription("byRank", on: "rank")]) }
  }

  private static func items(indexes: [FetchIndexDescription]) throws -> ManagedObjectModel {
    try ManagedObjectModel(
      ModelDescription(entities: [
        EntityDescription(
          "Item",
          attributes: [
            AttributeDescription("addedAt", .date), AttributeDescription("code", .string),
            AttributeDescription("name", .string), AttributeDescription("note", .string),
            AttributeDescription("price", .double), AttributeDescription("quantity", .int64),
            AttributeDescription("rank", .int64), AttributeDescription("token", .uuid),
          ], indexes: indexes)
      ]))
  }

  /// The next version of the items: `note` is renamed to `remark`, `discount` is added, `code` is removed.
  static var nextItems: ManagedObjectModel {
    get throws {
      try ManagedObjectModel(
        ModelDescription(entities: [
          EntityDescription(
            "Item",
            attributes: [
              AttributeDescription("addedAt", .date), AttributeDescription("discount", .double),
              AttributeDescription("name", .string), AttributeDescription("price", .double),
              AttributeDescription("quantity", .int64), AttributeDescription("rank", .int64),
              AttributeDescription("remark", .string, renamingIdentifier: "note"),
              AttributeDescription("token", .uuid),
            ])
        ]))
    }
  }

  /// The next version of the items, with only a new attribute.
  static var itemsWithDiscount: ManagedObjectModel {
    get throws {
      var description = try items.description
      description.entities[0].attributes.append(AttributeDescription("discount", .double))
      return try ManagedObjectModel(description)
    }
  }

  static var library: ManagedObjectModel { get throws { try library(isIndexed: false) } }

  /// Authors by name, and books by pages and by title.
  static var indexedLibrary: ManagedObjectModel { get throws { try library(isIndexed: true) } }

  private static func library(isIndexed: Bool) throws -> ManagedObjectModel {
    func indexes(_ attributes: String...) -> [FetchIndexDescription] {
      isIndexed ? attributes.map { FetchIndexDescription("by_\($0)", on: $0) } : []
    }
    return try ManagedObjectModel(
      ModelDescription(entities: [
        EntityDescription(
          "Author", attributes: [AttributeDescription("name", .string)],
          relationships: [
            RelationshipDescription("books", toMany: "Book", inverse: "author", deleteRule: .cascade)
          ], indexes: indexes("name")),
        EntityDescription(
          "Book", attributes: [AttributeDescription("pages", .int32), AttributeDescription("title", .string)],
          relationships: [RelationshipDescription("author", to: "Author", inverse: "books")],
          indexes: indexes("pages", "title")),
      ]))
  }

  /// A thousand entities in lines of inheritance.
  ///
  /// - Parameter depth: The number of entities in each line.
  static func largeModel(depth: Int) throws -> ManagedObjectModel {
    let entities = (0..<1000).map { number in
      EntityDescription(
        "Entity\(1000 + number)", parent: number % depth == 0 ? nil : "Entity\(999 + number)",
        attributes: [
          AttributeDescription("name\(number % depth)", .string),
          AttributeDescription("quantity\(number % depth)", .int64),
        ])
    }
    return try ManagedObjectModel(ModelDescription(entities: entities))
  }

  /// Entities of the same form, from `Entity10`.
  static func entities(_ count: Int) throws -> ManagedObjectModel {
    try ManagedObjectModel(ModelDescription(entities: (0..<count).map { entity("Entity\(10 + $0)") }))
  }

  private static func entity(_ name: String) -> EntityDescription {
    EntityDescription(
      name,
      attributes: [
        AttributeDescription("name", .string), AttributeDescription("quantity", .int64),
        AttributeDescription("price", .double), AttributeDescription("addedAt", .date),
      ])
  }

  /// The next version of ``entities(_:)``, in which the last one has another attribute.
  static func entitiesWithDiscount(_ count: Int) throws -> ManagedObjectModel {
    var description = try entities(count).description
    let last = "Entity\(9 + count)"
    for index in description.entities.indices where description.entities[index].name == last {
      description.entities[index].attributes.append(AttributeDescription("discount", .double))
    }
    return try ManagedObjectModel(description)
  }

  /// An entity with many attributes, `value100` and so on, in the order of their slots.
  static func wide(attributes: Int) throws -> ManagedObjectModel {
    let names = (0..<attributes).map { "value\(100 + $0)" }
    return try ManagedObjectModel(
      ModelDescription(entities: [
        EntityDescription("Wide", attributes: names.map { AttributeDescription($0, .int64) })
      ]))
  }

  /// Items beside an entity that fills the file.
  static var attachments: ManagedObjectModel {
    get throws {
      var description = try indexedItems.description
      description.entities.append(
        EntityDescription("Attachment", attributes: [AttributeDescription("content", .binary)]))
      return try ManagedObjectModel(description)
    }
  }

  static func context(
    _ file: URL, _ model: ManagedObjectModel, tracksHistory: Bool = false
  ) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.addStore(at: file, options: BenchmarkKey.options(StoreOptions(tracksHistory: tracksHistory)))
    return context(coordinator)
  }

  static func context(_ coordinator: PersistentStoreCoordinator) -> ManagedObjectContext {
    ManagedObjectContext(
      coordinator, classes: ["Item": SampleItem.self, "Author": SampleAuthor.self, "Book": SampleBook.self])
  }
}
