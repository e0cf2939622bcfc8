import Foundation
import Testing

@testable import Persist
@testable import PersistCore

@Suite("Cost of child contexts")
struct ChildCostTests {
  private func stackOfMany(_ body: (TestStack, [ManagedObjectID]) throws -> Void) throws {
    try withStack(SampleModels.pets) { stack in
      let seeding = stack.context()
      for index in 0..<300 {
        let owner = try seeding.make("Person", ["name": "\(index)"])
        try seeding.make("Pet", ["name": "\(index)", "owner": owner])
      }
      try seeding.save()
      try body(stack, try seeding.fetchObjectIDs(FetchRequest("Person", sortedBy: "name")))
    }
  }

  @Test("Creating a child executes no statement and creates no object, however many the parent has")
  func making() throws {
    try stackOfMany { stack, _ in
      let parent = stack.context()
      let held = try parent.fetch(FetchRequest("Person"))
      let calls = stack.store.calls
      let child = ManagedObjectContext(parent: parent)
      #expect(stack.store.calls == calls && child.registeredObjects.isEmpty)
      #expect(parent.registeredObjects.count == held.count)
    }
  }

  @Test("Reading one object reads one row, and creates one object; none is created in the parent")
  func readingOne() throws {
    try stackOfMany { stack, ids in
      let parent = stack.context()
      let child = ManagedObjectContext(parent: parent)
      let calls = stack.store.calls
      let object = child.object(with: ids[7])
      #expect(object["name"] as? String != nil)
      #expect(stack.store.calls == calls + 1)
      #expect(child.registeredObjects == [object] && parent.registeredObjects.isEmpty)
    }
  }

  @Test("Objects that the parent has read are not read again, and share its rows")
  func sharedRows() throws {
    try stackOfMany { stack, ids in
      let parent = stack.context()
      let held = try parent.fetch(FetchRequest("Person"))
      let child = ManagedObjectContext(parent: parent)
      let calls = stack.store.calls
      for id in ids.prefix(50) {
        let object = child.object(with: id)
        #expect(object["name"] as? String == parent.object(with: id)["name"] as? String)
        #expect(object.snapshot?.chunk === parent.object(with: id).snapshot?.chunk)
      }
      #expect(stack.store.calls == calls && held.count == 300)
    }
  }

  @Test("A fetch through a parent without changes is one statement, and creates no object in the parent")
  func fetching() throws {
    try stackOfMany { stack, _ in
      let parent = stack.context()
      let child = ManagedObjectContext(parent: ManagedObjectContext(parent: parent))
      let calls = stack.store.calls
      let found = try child.fetch(FetchRequest("Person", where: "name BEGINSWITH %@", "1", sortedBy: [.init("name")]))
      #expect(found.count == 111 && found.allSatisfy { $0["name"] as? String != nil })
      #expect(stack.store.calls == calls + 1 && parent.registeredObjects.isEmpty)
    }
  }

  @Test("The cost of saving to the parent depends on the changes: one row is read for it, and no other is accessed")
  func saving() throws {
    try stackOfMany { stack, ids in
      let parent = stack.context()
      let child = ManagedObjectContext(parent: parent)
      let held = try child.fetch(FetchRequest("Person"))
      child.object(with: ids[3])["name"] = "changed"
      let calls = stack.store.calls
      try child.save()
      #expect(stack.store.calls == calls + 1 && parent.registeredObjects.count == 1 && held.count == 300)
      try parent.save()
      #expect(stack.store.calls == calls + 2 && stack.store.commits.last?.updates.count == 1)
    }
  }

  @Test("Many-to-many members that are added or removed are saved to the parent without reading the others")
  func manyToManyDifferences() throws {
    try withStack(SampleModels.shapes) { stack in
      let seeding = stack.context()
      let tags = try (0..<50).map { try seeding.make("Tag", ["label": "\($0)"]) }
      let node = try seeding.make("Node", ["name": "n"])
      node["tags"] = Array(tags.dropLast())
      try seeding.save()
      let parent = stack.context()
      let child = ManagedObjectContext(parent: parent)
      let hers = child.object(with: node.objectID)
      try hers.many("tags").insert(child.object(with: tags[49].objectID))
      try hers.many("tags").remove(child.object(with: tags[0].objectID))
      try child.save()
      #expect(parent.object(with: node.objectID).hasFault(forRelationshipNamed: "tags"))
      #expect(parent.registeredObjects.count == 3 && parent.updatedObjects.count == 3)
      try parent.save()
      let links = try #require(stack.store.commits.last?.links)
      #expect(links.flatMap(\.added).count == 1 && links.flatMap(\.removed).count == 1)
      let reader = try stack.reopened().context()
      let labels = try reader.existingObject(with: node.objectID).names("tags", by: "label")
      #expect(labels == (1..<50).map(String.init).sorted())
    }
  }

  @Test("Batched iteration covers the parent's rows, and its new objects and changes")
  func batches() throws {
    try stackOfMany { stack, ids in
      let parent = stack.context()
      let changed = parent.object(with: ids[0])
      changed["name"] = "changed"
      parent.delete(parent.object(with: ids[1]))
      for index in 0..<30 { try parent.make("Person", ["name": "new \(index)"]) }
      let child = ManagedObjectContext(parent: ManagedObjectContext(parent: parent))
      for request in [FetchRequest("Person"), try FetchRequest("Person", where: "name != %@", "5")] {
        let request = request
        var names: [String] = []
        try child.forEachBatch(of: request, size: 7) { batch in
          #expect(batch.count <= 7)
          names += batch.compactMap { $0["name"] as? String }
        }
        #expect(names.count == Set(names).count && names.count == 329 - (request.predicate == nil ? 0 : 1))
        #expect(names.contains("changed") && names.filter { $0.hasPrefix("new") }.count == 30)
      }
    }
  }
}
