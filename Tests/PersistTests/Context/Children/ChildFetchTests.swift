import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Fetches of child contexts")
struct ChildFetchTests {
  private static let model = ModelDescription(entities: [
    EntityDescription(
      "Row", attributes: [AttributeDescription("name", .string), AttributeDescription("number", .int32)],
      relationships: [
        RelationshipDescription("up", to: "Row", inverse: "down"),
        RelationshipDescription("down", toMany: "Row", inverse: "up"),
      ])
  ])

  /// A saved row with number 1 under "a", which the context has renamed and moved under "b" without saving.
  private func withUnsavedRow(_ body: (TestStack, ManagedObjectContext, ManagedObject) throws -> Void) throws {
    try withStack(Self.model) { stack in
      let parent = stack.context()
      let (first, second) = (try parent.make("Row", ["name": "a"]), try parent.make("Row", ["name": "b"]))
      let row = try parent.make("Row", ["name": "saved", "number": 1, "up": first])
      try parent.save()
      row["name"] = "unsaved"
      row["up"] = second
      try body(stack, parent, row)
    }
  }

  /// Every form of fetch that can return the row.
  private static let forms: [(String, @Sendable (ManagedObjectContext, ManagedObjectID) throws -> ManagedObject?)] = [
    ("plain", { context, _ in try context.fetch(FetchRequest("Row")).first { $0["number"] as? Int == 1 } }),
    ("with a predicate", { context, _ in try context.fetch(FetchRequest("Row", where: "number == 1")).first }),
    ("sorted", { context, _ in try context.fetch(FetchRequest("Row", sortedBy: "number")).last }),
    ("by the new name", { context, _ in try context.fetch(FetchRequest("Row", where: "name == 'unsaved'")).first }),
    (
      "by relationship",
      { context, _ in try context.fetch(FetchRequest("Row", where: "up.name == 'b' AND number == 1")).first }
    ),
    ("limited", { context, _ in
      try context.fetch(FetchRequest("Row", sortedBy: [.init("number", isAscending: false)], limit: 1)).first
    }),
    ("by identifiers", { context, id in
      var request = FetchRequest<ManagedObject>("Row")
      request.objectIDs = [id]
      return try context.fetch(request).first
    }),
    ("prefetched", { context, id in
      var request = FetchRequest<ManagedObject>("Row")
      request.relationshipKeyPathsForPrefetching = ["up", "down"]
      return try context.fetch(request).first { $0.objectID == id }
    }),
    ("prefetched from the other side", { context, id in
      var request = try FetchRequest<ManagedObject>("Row", where: "name == 'b'")
      request.relationshipKeyPathsForPrefetching = ["down"]
      return try context.fetch(request).first?.many("down").first
    }),
    ("not as faults", { context, id in
      var request = FetchRequest<ManagedObject>("Row")
      request.returnsObjectsAsFaults = false
      return try context.fetch(request).first { $0.objectID == id }
    }),
    ("without values", { context, id in
      var request = FetchRequest<ManagedObject>("Row")
      request.includesPropertyValues = false
      return try context.fetch(request).first { $0.objectID == id }
    }),
    ("without pending changes", { context, id in
      var request = FetchRequest<ManagedObject>("Row")
      request.includesPendingChanges = false
      return try context.fetch(request).first { $0.objectID == id }
    }),
    ("in batches", { context, id in
      try context.fetchBatched(FetchRequest<ManagedObject>("Row")).first { $0.objectID == id }
    }),
    ("walked through", { context, id in
      var found: ManagedObject?
      try context.forEachBatch(of: FetchRequest<ManagedObject>("Row"), size: 2) { objects in
        found = objects.first { $0.objectID == id } ?? found
      }
      return found
    }),
    ("by key", { context, id in context.object(with: id) }),
  ]

  @Test("A child's fetch returns its parent's unsaved values, to-one relationships included, in every form")
  func forms() throws {
    try withUnsavedRow { _, parent, row in
      for (name, find) in Self.forms {
        let child = ManagedObjectContext(parent: parent)
        let grandchild = ManagedObjectContext(parent: ManagedObjectContext(parent: child))
        for context in [child, grandchild] {
          let found = try #require(try find(context, row.objectID), "\(name)")
          #expect(found["name"] as? String == "unsaved", "\(name)")
          #expect(found.one("up")?["name"] as? String == "b", "\(name)")
        }
      }
    }
  }

  @Test("A child's fetch of values returns its parent's unsaved values as saved ones")
  func values() throws {
    try withUnsavedRow { _, parent, row in
      let child = ManagedObjectContext(parent: parent)
      var names = FetchRequest<FetchedRow>("Row", sortedBy: "name")
      names.propertiesToFetch = ["name"]
      #expect(try child.fetch(names).map { $0["name"] as? String } == ["a", "b", "unsaved"])
      row["number"] = 41
      try parent.make("Row", ["name": "new", "number": 1])
      var sum = FetchRequest<FetchedRow>("Row")
      sum.propertiesToFetch = [ExpressionDescription("sum", try FetchExpression("sum:(number)"))]
      #expect(try child.fetch(sum).first?["sum"] as? Int == 42)
      #expect(try child.count(for: FetchRequest("Row")) == 4)
      #expect(try child.fetchObjectIDs(FetchRequest("Row", where: "number > 0")).count == 2)
    }
  }

  @Test("Results in batches have the present identifiers of objects, also after their parent has saved them")
  func batchedIdentifiers() throws {
    try withUnsavedRow { _, parent, _ in
      try parent.make("Row", ["name": "c", "number": 5])
      let child = ManagedObjectContext(parent: parent)
      try child.make("Row", ["name": "d", "number": 6])
      let requests = [FetchRequest<ManagedObject>("Row"), FetchRequest("Row", sortedBy: "number")]
      let results = try requests.map { try child.fetchBatched($0) }
      for result in results { #expect(result.objectIDs.filter(\.isTemporaryID).count == 2) }
      try child.save()
      try parent.save()
      for result in results {
        #expect(result.objectIDs == result.map(\.objectID))
        #expect(result.objectIDs.filter(\.isTemporaryID).isEmpty)
        #expect(Set(result.map { $0["name"] as? String }) == ["a", "b", "unsaved", "c", "d"])
      }
    }
  }

  @Test("A child that adds to its parent's unsaved state loses nothing of it")
  func lostUpdate() throws {
    try withUnsavedRow { stack, parent, row in
      row["number"] = 10
      let child = ManagedObjectContext(parent: parent)
      let copy = try #require(try child.fetch(FetchRequest("Row")).first { $0.objectID == row.objectID })
      copy["number"] = (copy["number"] as? Int ?? 0) + 1
      try child.save()
      #expect(row["number"] as? Int == 11)
      try parent.save()
      #expect(try stack.reopened().context().named("Row", "unsaved")["number"] as? Int == 11)
    }
  }

  @Test(
    "A child finds the objects it has saved, whether or not anything retains them", arguments: [false, true])
  func afterSave(holds: Bool) throws {
    try withUnsavedRow { stack, parent, row in
      let child = ManagedObjectContext(parent: parent)
      let id = row.objectID
      var held = holds ? [try child.existingObject(with: id)] : []
      child.object(with: id)["name"] = "new"
      try child.save()
      held += holds ? [row] : []
      for (name, find) in Self.forms where name != "by the new name" {
        for context in [child, ManagedObjectContext(parent: parent)] {
          #expect(try find(context, id)?["name"] as? String == "new", "\(name)")
        }
      }
      row["name"] = nil
      for (name, find) in Self.forms where name != "by the new name" {
        let other = ManagedObjectContext(parent: parent)
        let found = try find(other, id)
        #expect(found != nil && found?["name"] == nil, "\(name)")
      }
      withExtendedLifetime(held) {}
    }
  }
}
