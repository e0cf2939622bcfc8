import Foundation

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// A public operation on a number of objects, whose cost must grow by no more than their number.
struct GrowthOperation: Sendable, CustomStringConvertible {
  let description: String
  /// Prepares the operation on so many objects, and returns the part that is measured.
  let prepare: @Sendable (TestStack, Int) throws -> () throws -> Void

  init(_ name: String, _ prepare: @escaping @Sendable (TestStack, Int) throws -> () throws -> Void) {
    (description, self.prepare) = (name, prepare)
  }

  /// An operation on a context that has read nothing, over saved objects: one box, and so many items, tags, lists and
  /// links of a chain.
  private static func saved(
    _ name: String, _ run: @escaping @Sendable (ManagedObjectContext) throws -> Void
  ) -> GrowthOperation {
    GrowthOperation(name) { stack, count in
      try fill(stack.context(), count).save()
      let context = stack.context()
      return { try run(context) }
    }
  }

  /// An operation on unsaved objects.
  private static func unsaved(
    _ name: String, _ run: @escaping @Sendable (ManagedObjectContext) throws -> Void
  ) -> GrowthOperation {
    GrowthOperation(name) { stack, count in
      let context = try fill(stack.context(), count)
      return { try run(context) }
    }
  }

  static let model = ModelDescription(entities: [
    EntityDescription(
      "Box", attributes: [AttributeDescription("name", .string)],
      relationships: [
        RelationshipDescription("items", toMany: "Item", inverse: "box", deleteRule: .cascade),
        RelationshipDescription("guests", toMany: "Item", inverse: "host"),
        RelationshipDescription("ranking", toMany: "Item", inverse: "ranked", isOrdered: true),
        RelationshipDescription("queue", toMany: "Item", inverse: "queued", isOrdered: true),
      ]),
    EntityDescription(
      "Item",
      attributes: [AttributeDescription("name", .string), AttributeDescription("number", .int64)],
      relationships: [
        RelationshipDescription("box", to: "Box", inverse: "items"),
        RelationshipDescription("host", to: "Box", inverse: "guests"),
        RelationshipDescription("queued", to: "Box", inverse: "queue"),
        RelationshipDescription("ranked", toMany: "Box", inverse: "ranking", isOrdered: true),
        RelationshipDescription("tags", toMany: "Tag", inverse: "items"),
        RelationshipDescription("marks", toMany: "Tag", inverse: "marked"),
        RelationshipDescription("favourite", to: "Tag", inverse: nil),
        RelationshipDescription("next", to: "Item", inverse: "previous", deleteRule: .cascade),
        RelationshipDescription("previous", to: "Item", inverse: "next"),
      ]),
    EntityDescription(
      "Tag", attributes: [AttributeDescription("name", .string)],
      relationships: [
        RelationshipDescription("items", toMany: "Item", inverse: "tags"),
        RelationshipDescription("marked", toMany: "Item", inverse: "marks"),
      ]),
  ])

  @discardableResult
  static func fill(_ context: ManagedObjectContext, _ count: Int) throws -> ManagedObjectContext {
    let (box, tag) = (try context.make("Box"), try context.make("Tag"))
    var last: ManagedObject?
    for number in 0..<count {
      let own = try context.make("Tag", ["name": "\(number)"])
      last = try context.make(
        "Item",
        [
          "name": "\(number)", "number": number, "box": box, "host": box, "queued": box, "tags": [tag], "marks": [own],
          "favourite": own, "previous": last,
        ])
    }
    return context
  }

  private static func all(_ entity: String, _ context: ManagedObjectContext) throws -> [ManagedObject] {
    try context.fetch(FetchRequest(entity))
  }

  // MARK: Each operation is one entry

  static let all: [GrowthOperation] = [
    unsaved("saving new objects") { try $0.save() },
    unsaved("deleting new objects one by one, referred to one-way") { context in
      for tag in try all("Tag", context) { context.delete(tag) }
    },
    unsaved("relating and deleting new objects in turn") { context in
      for tag in try all("Tag", context) {
        try context.make("Item", ["favourite": tag])
        context.delete(tag)
      }
    },
    unsaved("rolling back new objects") { $0.rollback() },
    unsaved("counting new objects") { _ = try $0.count(for: FetchRequest("Item", where: "number >= 0")) },
    saved("fetching") { _ = try all("Item", $0).map { $0["name"] as? String } },
    saved("fetching in batches") { context in
      var count = 0
      let request = FetchRequest<ManagedObject>("Item", sortedBy: "name")
      try context.forEachBatch(of: request, size: 50) { count += $0.count }
    },
    saved("fetching by a predicate in memory") {
      _ = try $0.fetch(FetchRequest("Item", where: "FUNCTION(name, 'length') > 0"))
    },
    saved("a predicate in memory over registered objects") { context in
      let held = try all("Item", context)
      _ = try context.fetch(FetchRequest("Item", where: "marks.@sum.marked.number > 3 OR FUNCTION(name, 'length') > 0"))
      withExtendedLifetime(held) {}
    },
    saved("a predicate over changed objects") { context in
      for item in try all("Item", context) { item["number"] = 7 }
      _ = try context.fetch(FetchRequest("Item", where: "SUBQUERY(marks, $mark, $mark.marked.@count > 0).@count > 0"))
    },
    saved("values of related objects, computed in memory") { context in
      var request = FetchRequest<ManagedObject>("Item")
      let sum = FetchExpression.path(of: .current, ["marks", "@sum", "marked", "number"])
      request.propertiesToFetch = ["number", ExpressionDescription("sum", sum)]
      _ = try context.fetch(request.returning(FetchedRow.self))
    },
    saved("counting to-manys") { context in
      for item in try all("Item", context) { _ = try item.related("marks").count }
    },
    saved("iterating to-manys") { context in
      for item in try all("Item", context) { for mark in try item.related("marks") { _ = mark["name"] } }
    },
    saved("changing objects") { context in
      for item in try all("Item", context) { item["number"] = 7 }
      try context.save()
    },
    saved("adding members of an ordered many-to-many") { context in
      let box = try all("Box", context)[0]
      try box.related("ranking").insert(contentsOf: all("Item", context))
      try context.save()
    },
    saved("adding owners of an ordered many-to-many") { context in
      let item = try all("Item", context)[0]
      for _ in try all("Tag", context) { try item.related("ranked").insert(context.make("Box")) }
      try context.save()
    },
    saved("reversing an ordered to-many") { context in
      let queue = try all("Box", context)[0].related("queue")
      queue.replace(with: queue.reversed())
      try context.save()
    },
    saved("deleting by cascade") { context in
      context.delete(try all("Box", context)[0])
      try context.save()
    },
    saved("deleting by cascade along a chain") { context in
      context.delete(try context.named("Item", "0"))
      try context.save()
    },
    saved("deleting one by one") { context in
      for item in try all("Item", context) { context.delete(item) }
      try context.save()
    },
    saved("deleting many-to-many members") { context in
      for tag in try all("Tag", context) { context.delete(tag) }
      try context.save()
    },
    saved("a batch delete along a chain") { context in
      try context.execute(BatchDeleteRequest(fetchRequest: FetchRequest<ManagedObject>("Item", where: "number == 0")))
    },
    saved("a batch update") { context in
      try context.execute(BatchUpdateRequest("Item", set: ["number": .value(3)]))
    },
    saved("deleting in a child by cascade") { context in
      let child = ManagedObjectContext(parent: context)
      child.delete(try all("Box", child)[0])
      try child.save()
      try context.save()
    },
    saved("merging others' changes") { context in
      let held = try all("Item", context)
      let other = ManagedObjectContext(context.persistentStoreCoordinator)
      for item in try all("Item", other) { item["number"] = 1 }
      try other.save()
      context.mergeChanges(from: SavedChanges(updated: Set(held.map(\.objectID))))
    },
    saved("prefetching") { context in
      var request = FetchRequest<ManagedObject>("Item")
      request.relationshipKeyPathsForPrefetching = ["tags", "marks", "box"]
      _ = try context.fetch(request)
    },
    saved("a controller's fetch") { context in
      let controller = FetchedResultsController(
        fetchRequest: FetchRequest<ManagedObject>("Item", sortedBy: "name"), managedObjectContext: context,
        sectionNameKeyPath: "box.name")
      try controller.performFetch()
    },
  ]
}
