import Foundation
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Merge policies")
struct MergePolicyTests {
  @Test("MRG-01: five policies report their own types; a context's default is error, and any other can be set")
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

  @Test("MRG-02: if both changed the name, the error policy fails the save with 133020 and lists the conflict")
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

  @Test("MRG-03: store trump merges by property: the store's value wins if both changed it")
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

  @Test("MRG-04: object trump merges by property: the object's value wins if both changed it")
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

  @Test("MRG-05: overwriting writes the object's whole row, including unchanged properties")
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

  @Test("MRG-06: rolling back discards the object's changes and saves the others")
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

  @Test("MRG-07: another object inserted in the meantime is no conflict")
  func insert() throws {
    try withSharedRow { scene in
      scene.mine["name"] = "FromCtx1"
      try scene.first.save()
      try scene.second.make("Person", ["name": "Bob"])
      try scene.second.save()
      #expect(try scene.first.names("Person") == ["Bob", "FromCtx1"])
    }
  }

  @Test("Setting a property to the value that was read doesn't revert others' changes")
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

  @Test("A save without conflicts doesn't consult the policy: one commit, and nothing is read")
  func fastPath() throws {
    try withSharedRow(.mergeByPropertyObjectTrump) { scene in
      let calls = scene.stack.store.calls
      scene.copy["name"] = "FromCtx2"
      try scene.second.save()
      #expect(scene.stack.store.calls == calls + 1)
    }
  }

  @Test("Resolving a conflict costs one read of the conflicting rows and one more commit")
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

  @Test("A conflict that arises while another is resolved is resolved too")
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

@Suite("Custom merge policies")
struct CustomPolicyTests {
  /// Adds up both sides' changes to the salary.
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

  @Test("A resolver changes the objects, and the save writes the results")
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

  @Test("A resolver delegates some conflicts to another policy")
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

  @Test("An error thrown by a resolver fails the save, and leaves everything unchanged")
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

@Suite("A save that fails after its conflicts were resolved")
struct FailedSettlementTests {
  @Test("Merged values that violate a rule fail the save, and leave the objects with their former values")
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
