import Foundation
import Testing

@testable import Persist

@Suite("Merge policies")
struct MergePolicyTests {
  @Test("MRG-01: five policies report their own types; a context's default is error, and another one reads back")
  func types() throws {
    let policies: [MergePolicy] = [.error] + MergePolicy.settling
    #expect(
      policies.map(\.mergeType)
        == [.error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback])
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      #expect(context.mergePolicy.mergeType == .error)
      context.mergePolicy = .overwrite
      #expect(context.mergePolicy.mergeType == .overwrite)
    }
  }

  @Test("MRG-02: under the error policy both changed the name: the save fails with 133020 and lists the conflict")
  func error() throws {
    try withSharedRow { scene in
      scene.mine["name"] = "FromCtx1"
      try scene.first.save()
      scene.copy["name"] = "FromCtx2"
      let error = try #require(persistError { try scene.second.save() })
      #expect(error.code.rawValue == 133020 && error.mergeConflicts.count == 1)
      let conflict = try #require(error.mergeConflicts.first)
      #expect(scene.second.object(with: conflict.sourceObjectID) === scene.copy)
      #expect(conflict.oldVersionNumber == 1 && conflict.newVersionNumber == 2)
      #expect(conflict.objectSnapshot == ["name": "Alice", "salary": 10])
      #expect(conflict.cachedSnapshot == ["name": "FromCtx1", "salary": 10])
      #expect(conflict.persistedSnapshot == nil && conflict.ancestorSnapshot == conflict.objectSnapshot)
      #expect(conflict.changedValues == ["name": "FromCtx2"])
      #expect(scene.copy["name"] as? String == "FromCtx2" && scene.copy.isUpdated)
      #expect(try scene.stored() == ["FromCtx1 10"])
    }
  }

  @Test("MRG-03: the store trumps property by property: what both changed is the store's, the rest is merged")
  func storeTrump() throws {
    try withSharedRow(.mergeByPropertyStoreTrump) { scene in
      scene.mine["name"] = "FromCtx1"
      try scene.first.save()
      scene.copy["name"] = "FromCtx2"
      scene.copy["salary"] = 99
      try scene.second.save()
      #expect(scene.copy["name"] as? String == "FromCtx1" && scene.copy["salary"] as? Int == 99)
      #expect(!scene.second.hasChanges)
      #expect(try scene.stored() == ["FromCtx1 99"])
    }
  }

  @Test("MRG-04: the object trumps property by property: what both changed is the object's, the rest is merged")
  func objectTrump() throws {
    try withSharedRow(.mergeByPropertyObjectTrump) { scene in
      scene.mine["name"] = "FromCtx1"
      scene.mine["salary"] = 50
      try scene.first.save()
      scene.copy["name"] = "FromCtx2"
      try scene.second.save()
      #expect(scene.copy["name"] as? String == "FromCtx2" && scene.copy["salary"] as? Int == 50)
      #expect(try scene.stored() == ["FromCtx2 50"])
    }
  }

  @Test("MRG-05: overwriting writes the object's whole row, unchanged properties included")
  func overwrite() throws {
    try withSharedRow(.overwrite) { scene in
      scene.mine["name"] = "FromCtx1"
      scene.mine["salary"] = 77
      try scene.first.save()
      scene.copy["name"] = "FromCtx2"
      try scene.second.save()
      scene.first.refresh(scene.mine, mergeChanges: false)
      #expect(scene.mine["name"] as? String == "FromCtx2" && scene.mine["salary"] as? Int == 10)
      #expect(try scene.stored() == ["FromCtx2 10"])
    }
  }

  @Test("MRG-06: rolling back drops the object's changes and saves the others")
  func rollback() throws {
    try withSharedRow(.rollback) { scene in
      scene.mine["name"] = "FromCtx1"
      try scene.first.save()
      scene.copy["name"] = "FromCtx2"
      scene.copy["salary"] = 99
      try scene.second.make("Person", ["name": "Zoe"])
      try scene.second.save()
      #expect(scene.copy["name"] as? String == "FromCtx1" && scene.copy["salary"] as? Int == 10)
      #expect(!scene.second.hasChanges)
      #expect(try scene.stored() == ["FromCtx1 10", "Zoe 0"])
    }
  }

  @Test("MRG-07: another object inserted meanwhile is no conflict")
  func insert() throws {
    try withSharedRow { scene in
      scene.mine["name"] = "FromCtx1"
      try scene.first.save()
      try scene.second.make("Person", ["name": "Bob"])
      try scene.second.save()
      #expect(try scene.first.names("Person") == ["Bob", "FromCtx1"])
    }
  }

  @Test("A value set as it was read doesn't undo what others changed")
  func sameValue() throws {
    try withSharedRow(.mergeByPropertyObjectTrump) { scene in
      scene.mine["name"] = "FromCtx1"
      try scene.first.save()
      scene.copy["name"] = "Alice"
      scene.copy["salary"] = 20
      try scene.second.save()
      #expect(try scene.stored() == ["FromCtx1 20"])
    }
  }

  @Test("A save without conflicts looks at no policy: one commit, nothing read")
  func fastPath() throws {
    try withSharedRow(.mergeByPropertyObjectTrump) { scene in
      let calls = scene.stack.store.calls
      scene.copy["name"] = "FromCtx2"
      try scene.second.save()
      #expect(scene.stack.store.calls == calls + 1)
    }
  }

  @Test("Settling a conflict costs one read of the rows in conflict and one more commit")
  func cost() throws {
    try withStack(SampleModels.people) { stack in
      let (first, second) = (stack.context(), stack.context())
      second.mergePolicy = .mergeByPropertyObjectTrump
      let people = try (0..<50).map { try first.make("Person", ["name": "\($0)"]) }
      try first.save()
      let copies = try second.fetch(FetchRequest("Person"))
      for copy in copies { copy["salary"] = 2 }
      for person in people { person["name"] = "changed" }
      try first.save()
      let calls = stack.store.calls
      try second.save()
      #expect(stack.store.calls == calls + 3)
      #expect(copies.allSatisfy { $0["name"] as? String == "changed" && $0["salary"] as? Int == 2 })
    }
  }

  @Test("A conflict that comes up while another is settled is settled too")
  func again() throws {
    struct Meddling: ConflictResolver {
      let coordinator: PersistentStoreCoordinator
      let id: ManagedObjectID

      func resolve(_ conflicts: [MergeConflict], in context: ManagedObjectContext) throws {
        guard conflicts[0].newVersionNumber < 5 else { return }
        let other = ManagedObjectContext(coordinator)
        let object = try other.existingObject(with: id)
        object["salary"] = (object["salary"] as? Int ?? 0) + 1
        try other.save()
      }
    }
    try withSharedRow { scene in
      scene.mine["salary"] = 11
      try scene.first.save()
      scene.second.mergePolicy = .custom(
        Meddling(coordinator: scene.stack.coordinator, id: scene.copy.objectID))
      scene.copy["name"] = "FromCtx2"
      try scene.second.save()
      #expect(try scene.stored() == ["FromCtx2 14"])
    }
  }
}

@Suite("Merge policies of a program's own")
struct CustomPolicyTests {
  /// Adds up what both sides did to the salary.
  struct Adding: ConflictResolver {
    func resolve(_ conflicts: [MergeConflict], in context: ManagedObjectContext) throws {
      for conflict in conflicts {
        guard case .integer(let before)? = conflict.objectSnapshot?["salary"],
          case .integer(let now)? = conflict.cachedSnapshot?["salary"]
        else { continue }
        let object = context.object(with: conflict.sourceObjectID)
        object["salary"] = (object["salary"] as? Int ?? 0) + Int(now - before)
      }
    }
  }

  @Test("A resolver changes the objects, and the save writes what they then have")
  func adding() throws {
    try withSharedRow(.custom(Adding())) { scene in
      #expect(scene.second.mergePolicy.mergeType == .custom)
      scene.mine["salary"] = 15
      scene.mine["name"] = "Alicia"
      try scene.first.save()
      scene.copy["salary"] = 13
      try scene.second.save()
      #expect(try scene.stored() == ["Alicia 18"])
    }
  }

  @Test("A resolver hands some conflicts to another policy")
  func delegating() throws {
    struct Delegating: ConflictResolver {
      func resolve(_ conflicts: [MergeConflict], in context: ManagedObjectContext) throws {
        try MergePolicy.rollback.resolve(conflicts, in: context)
      }
    }
    try withSharedRow(.custom(Delegating())) { scene in
      scene.mine["salary"] = 15
      try scene.first.save()
      scene.copy["salary"] = 13
      try scene.second.save()
      #expect(try scene.stored() == ["Alice 15"])
    }
  }

  @Test("What a resolver throws ends the save, and leaves everything as it was")
  func throwing() throws {
    struct Refusal: Error {}
    struct Refusing: ConflictResolver {
      func resolve(_ conflicts: [MergeConflict], in context: ManagedObjectContext) throws {
        for conflict in conflicts { context.object(with: conflict.sourceObjectID)["name"] = "half done" }
        throw Refusal()
      }
    }
    try withSharedRow(.custom(Refusing())) { scene in
      scene.mine["salary"] = 15
      try scene.first.save()
      scene.copy["salary"] = 13
      #expect(throws: Refusal.self) { try scene.second.save() }
      #expect(scene.copy["name"] as? String == "Alice" && scene.copy["salary"] as? Int == 13)
      #expect(scene.second.updatedObjects == [scene.copy])
    }
  }

  @Test("A resolver without a rule of its own throws the conflicts")
  func empty() throws {
    struct Nothing: ConflictResolver {}
    try withSharedRow(.custom(Nothing())) { scene in
      scene.mine["salary"] = 15
      try scene.first.save()
      scene.copy["salary"] = 13
      #expect(persistError { try scene.second.save() }?.mergeConflicts.count == 1)
    }
  }
}

@Suite("A save that fails after its conflicts were settled")
struct FailedSettlementTests {
  @Test("Merged values that break a rule fail the save, and leave the objects with what they had")
  func invalid() throws {
    var description = SampleModels.people
    description.entities[0].attributes[1].validation = AttributeValidation(maximum: .integer(100))
    try withStack(description) { stack in
      struct Raising: ConflictResolver {
        func resolve(_ conflicts: [MergeConflict], in context: ManagedObjectContext) throws {
          for conflict in conflicts { context.object(with: conflict.sourceObjectID)["salary"] = 101 }
        }
      }
      let scene = try SharedRow(stack, policy: .custom(Raising()))
      scene.mine["name"] = "FromCtx1"
      try scene.first.save()
      scene.copy["name"] = "FromCtx2"
      let gone = try scene.second.make("Person", ["name": "New"])
      #expect(persistError { try scene.second.save() }?.code == .validationNumberTooLarge)
      #expect(scene.copy["name"] as? String == "FromCtx2" && scene.copy["salary"] as? Int == 10)
      #expect(scene.second.updatedObjects == [scene.copy] && scene.second.insertedObjects == [gone])
      scene.second.mergePolicy = .error
      #expect(persistError { try scene.second.save() }?.code == .mergeConflict)
      scene.second.mergePolicy = .mergeByPropertyObjectTrump
      try scene.second.save()
      #expect(try scene.stored() == ["FromCtx2 10", "New 0"])
    }
  }
}
