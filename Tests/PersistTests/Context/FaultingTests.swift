import Foundation
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Faulting")
struct FaultingTests {
  final class Counted: ManagedObject {
    var calls: [String] = []
    override func awakeFromFetch() { calls.append("fetch") }
    override func willTurnIntoFault() { calls.append("willFault \(self["name"] ?? "")") }
    override func didTurnIntoFault() { calls.append("didFault") }
    override func awakeFromSnapshotEvents(_ events: SnapshotEvents) { calls.append("snapshot \(events.rawValue)") }
  }

  @Test("FLT-01: accessing a fetched object runs its fetch hook once, and it is no longer a fault")
  func fetchHook() throws {
    try withStack(SampleModels.people) { stack in
      try stack.context().seedPeople(["Ann"])
      let context = stack.context(classes: ["Person": Counted.self])
      let ann = try #require(try context.fetch(Counted.self, FetchRequest("Person")).first)
      #expect(ann["name"] as? String == "Ann" && ann["salary"] == nil)
      #expect(ann.calls == ["fetch"] && !ann.isFault)
    }
  }

  @Test("FLT-02: fetched objects are faults; without faults, or with an unsaved insert of the entity, none is")
  func fetchedFaults() throws {
    try withStack(SampleModels.people) { stack in
      try stack.context().seedPeople(["Ann", "Ben"])
      try #expect(stack.context().fetch(FetchRequest("Person")).map(\.isFault) == [true, true])
      var request = FetchRequest("Person")
      request.returnsObjectsAsFaults = false
      try #expect(stack.context().fetch(request).map(\.isFault) == [false, false])
      let context = stack.context()
      let new = try context.make("Person")
      try #expect(context.fetch(FetchRequest("Person")).map(\.isFault) == [false, false, false])
      withExtendedLifetime(new) {}
    }
  }

  @Test("FLT-04: a changed object refreshed with merging is no fault and keeps its change over the new row")
  func refreshMerging() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context(classes: ["Person": Counted.self])
      let ann = Counted(context: context)
      ann["name"] = "Ann"
      try context.save()
      let other = stack.context()
      try other.named("Person", "Ann")["salary"] = 7
      try other.save()
      ann["name"] = "Anna"
      ann.calls = []
      context.refresh(ann, mergeChanges: true)
      #expect(!ann.isFault && ann["name"] as? String == "Anna" && ann["salary"] as? Int == 7)
      #expect(ann.calls == ["snapshot 32"])
      context.refresh(ann, mergeChanges: false)
      #expect(ann.isFault && ann["name"] as? String == "Ann" && !ann.hasChanges)
      #expect(ann.calls == ["snapshot 32", "willFault Anna", "didFault", "fetch"])
    }
  }

  @Test("FLT-05: refreshing all makes unchanged objects faults; a changed one keeps its change and is none")
  func refreshAll() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      let (ann, ben) = (try context.make("Person", ["name": "Ann"]), try context.make("Person", ["name": "Ben"]))
      try context.save()
      ann["name"] = "Anna"
      context.refreshAllObjects()
      #expect(!ann.isFault && ann["name"] as? String == "Anna" && ben.isFault)
    }
  }

  @Test("FLT-10: after refreshing all, a hundred members of a relationship are read as faults, with two statements")
  func members() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let ann = try context.make("Person", ["name": "Ann"])
      let pets = try (0..<100).map { try context.make("Pet", ["name": "\($0)", "owner": ann]) }
      try context.save()
      context.refreshAllObjects()
      let before = stack.store.calls
      try #expect(ann.many("pets").count == 100 && ann.many("pets").allSatisfy { $0.isFault })
      #expect(stack.store.calls == before + 2)
      withExtendedLifetime(pets) {}
    }
  }

  @Test("FLT-11: fetching objects of several entities by identifier, without faults, fires them all")
  func manyFaults() throws {
    try withStack(SampleModels.shapes) { stack in
      let seed = stack.context()
      for _ in 0..<2 {
        try seed.make("Node")
        try seed.make("Leaf")
      }
      try seed.save()
      let context = stack.context()
      let nodes = try context.fetchObjectIDs(FetchRequest("Node")).map(context.object)
      #expect(nodes.count == 4 && nodes.allSatisfy { $0.isFault })
      var request = FetchRequest("Node", objectIDs: nodes.map(\.objectID))
      request.returnsObjectsAsFaults = false
      _ = try context.fetch(request)
      #expect(nodes.map(\.isFault) == [false, false, false, false])
      let calls = stack.store.calls
      for node in nodes { _ = node["name"] }
      #expect(stack.store.calls == calls)
    }
  }

  @Test("A relationship is a fault until its members, or its other end, have been read")
  func relationshipFaults() throws {
    try withStack(SampleModels.pets) { stack in
      let seed = stack.context()
      try seed.make("Pet", ["name": "Rex", "owner": seed.make("Person", ["name": "Ann"])])
      try seed.save()
      let context = stack.context()
      let rex = try context.named("Pet", "Rex")
      let ann = try #require(rex.one("owner"))
      #expect(rex.hasFault(forRelationshipNamed: "owner") && ann.hasFault(forRelationshipNamed: "pets"))
      #expect(ann["name"] as? String == "Ann" && ann.hasFault(forRelationshipNamed: "pets"))
      try #expect(ann.many("pets").count == 1)
      #expect(!ann.hasFault(forRelationshipNamed: "pets") && !rex.hasFault(forRelationshipNamed: "owner"))
    }
  }

  @Test("A deleted row reads as defaults; only a context that doesn't accept this reports it")
  func inaccessibleFaults() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      try context.seedPeople(["Ann", "Ben"])
      let ids = try context.fetchObjectIDs(FetchRequest("Person", sortedBy: "name"))
      let objects = ids.map(context.object)
      let other = stack.context()
      for id in ids { other.delete(other.object(with: id)) }
      try other.save()
      #expect(objects[0]["name"] == nil && objects[0].isDeleted)
      _ = try context.count(for: FetchRequest("Person"))
      context.shouldDeleteInaccessibleFaults = false
      #expect(objects[1]["name"] == nil && objects[1].isDeleted)
      #expect(persistError { _ = try context.count(for: FetchRequest("Person")) }?.code == .objectNotFound)
    }
  }

  @Test("A context that retains its objects keeps them until it is reset or stops retaining them")
  func retained() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      context.retainsRegisteredObjects = true
      try context.seedPeople(["Ann", "Ben"])
      #expect(context.registeredObjects.count == 2)
      context.retainsRegisteredObjects = false
      #expect(context.registeredObjects.isEmpty)
      context.retainsRegisteredObjects = true
      _ = try context.fetch(FetchRequest("Person"))
      #expect(context.registeredObjects.count == 2)
      context.reset()
      #expect(context.registeredObjects.isEmpty)
    }
  }
}

extension ManagedObjectContext {
  fileprivate func seedPeople(_ names: [String]) throws {
    for name in names { try make("Person", ["name": name]) }
    try save()
  }
}
