import Foundation
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Conflicts with deletions")
struct DeletedRowConflictTests {
  @Test("Under the error policy, a row deleted by others is a conflict with the new version 0")
  func error() throws {
    try withSharedRow { scene in
      scene.first.delete(scene.mine)
      try scene.first.save()
      scene.copy["name"] = "FromCtx2"
      let conflict = try #require(persistError { try scene.second.save() }?.mergeConflicts.first)
      #expect(conflict.newVersionNumber == 0 && conflict.cachedSnapshot == nil)
      #expect(conflict.objectSnapshot?["name"] == "Alice")
    }
  }

  @Test("If the object wins, a row deleted by others is restored under its key", arguments: [
    MergePolicy.mergeByPropertyObjectTrump, .overwrite,
  ])
  func comesBack(policy: MergePolicy) throws {
    try withSharedRow(policy) { scene in
      let id = scene.copy.objectID
      scene.first.delete(scene.mine)
      try scene.first.make("Person", ["name": "Bob"])
      try scene.first.save()
      scene.copy["name"] = "FromCtx2"
      try scene.second.save()
      #expect(scene.copy.objectID == id && scene.second.registeredObject(for: id) === scene.copy)
      #expect(!scene.second.hasChanges && !scene.copy.isDeleted)
      scene.copy["salary"] = 11
      try scene.second.save()
      #expect(try scene.stored() == ["Bob 0", "FromCtx2 11"])
    }
  }

  @Test("If the store wins, an object whose row was deleted by others is removed", arguments: [
    MergePolicy.mergeByPropertyStoreTrump, .rollback,
  ])
  func goes(policy: MergePolicy) throws {
    try withSharedRow(policy) { scene in
      scene.first.delete(scene.mine)
      try scene.first.save()
      scene.copy["name"] = "FromCtx2"
      try scene.second.make("Person", ["name": "Bob"])
      try scene.second.save()
      #expect(scene.copy.isDeleted && !scene.second.hasChanges)
      #expect(scene.second.registeredObject(for: scene.copy.objectID) == nil)
      #expect(try scene.stored() == ["Bob 0"])
    }
  }

  @Test("If the object wins, it is deleted regardless of others' changes to its row", arguments: [
    MergePolicy.mergeByPropertyObjectTrump, .overwrite,
  ])
  func deletes(policy: MergePolicy) throws {
    try withSharedRow(policy) { scene in
      scene.mine["salary"] = 20
      try scene.first.save()
      scene.second.delete(scene.copy)
      try scene.second.save()
      #expect(try scene.stored() == [])
    }
  }

  @Test("If the store wins, the deletion of a row changed by others is reverted", arguments: [
    MergePolicy.mergeByPropertyStoreTrump, .rollback,
  ])
  func undeletes(policy: MergePolicy) throws {
    try withSharedRow(policy) { scene in
      scene.mine["salary"] = 20
      try scene.first.save()
      scene.second.delete(scene.copy)
      try scene.second.save()
      #expect(!scene.copy.isDeleted && scene.copy["salary"] as? Int == 20)
      #expect(!scene.second.hasChanges)
      scene.copy["name"] = "Alicia"
      try scene.second.save()
      #expect(try scene.stored() == ["Alicia 20"])
    }
  }

  @Test("A row deleted by both is deleted, without an error", arguments: MergePolicy.settling)
  func bothDelete(policy: MergePolicy) throws {
    try withSharedRow(policy) { scene in
      scene.first.delete(scene.mine)
      try scene.first.save()
      scene.second.delete(scene.copy)
      try scene.second.save()
      #expect(!scene.second.hasChanges)
      #expect(try scene.stored() == [])
    }
  }

  /// Ann with a pet, known to two contexts; the second deletes Ann, and the first gives her another pet.
  private func withOwner(
    _ policy: MergePolicy, _ body: (TestStack, ManagedObjectContext, ManagedObject) throws -> Void
  ) throws {
    try withStack(SampleModels.pets) { stack in
      let (first, second) = (stack.context(), stack.context())
      second.mergePolicy = policy
      let ann = try first.make("Person", ["name": "Ann"])
      try first.make("Pet", ["name": "Rex", "owner": ann])
      try first.save()
      let copy = try second.named("Person", "Ann")
      _ = try copy.names("pets")
      try first.make("Pet", ["name": "Max", "owner": ann])
      try first.save()
      second.delete(copy)
      try body(stack, second, copy)
    }
  }

  @Test("A deletion that prevails also applies to objects that others related to the object in the meantime")
  func cascadesOn() throws {
    try withOwner(.mergeByPropertyObjectTrump) { stack, second, _ in
      try second.save()
      #expect(try stack.reopened().context().names("Pet") == [])
    }
  }

  @Test("Reverting a deletion also reverts its cascade")
  func takesBackCascade() throws {
    try withOwner(.mergeByPropertyStoreTrump) { stack, second, copy in
      try second.save()
      #expect(!copy.isDeleted && !second.hasChanges)
      #expect(try copy.names("pets") == ["Max", "Rex"])
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Person", "Ann").names("pets") == ["Max", "Rex"])
    }
  }

  @Test("A removed object leaves the relationships that the context assigned to it")
  func leavesRelationships() throws {
    try withStack(SampleModels.pets) { stack in
      let (first, second) = (stack.context(), stack.context())
      second.mergePolicy = .rollback
      let ann = try first.make("Person", ["name": "Ann"])
      try first.save()
      let copy = try second.named("Person", "Ann")
      let rex = try second.make("Pet", ["name": "Rex", "owner": copy])
      first.delete(ann)
      try first.save()
      try second.save()
      #expect(rex.one("owner") == nil)
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Pet", "Rex").one("owner") == nil)
    }
  }

  @Test("A restored row refers to no deleted object")
  func comesBackAlone() throws {
    try withStack(SampleModels.pets) { stack in
      let (first, second) = (stack.context(), stack.context())
      second.mergePolicy = .mergeByPropertyObjectTrump
      let ann = try first.make("Person", ["name": "Ann"])
      try first.make("Pet", ["name": "Rex", "owner": ann])
      try first.save()
      let rex = try second.named("Pet", "Rex")
      _ = rex.one("owner")?["name"]
      first.delete(ann)
      try first.save()
      rex["name"] = "King"
      try second.save()
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Pet", "King").one("owner") == nil)
    }
  }

  @Test("A restored row doesn't restore objects that were deleted with it", arguments: [
    MergePolicy.mergeByPropertyObjectTrump, .overwrite,
  ])
  func comesBackWithoutOthers(policy: MergePolicy) throws {
    try withStack(PlainSchema.model) { stack in
      let (first, second) = (stack.context(), stack.context())
      second.mergePolicy = policy
      let node = try first.make("Node", ["name": "node"])
      try first.make("Passport", ["name": "passport", "holder": node])
      try first.save()
      let copy = try second.named("Node", "node")
      let passport = try #require(copy.one("passport"))
      _ = passport["name"]
      first.delete(node)
      try first.save()
      copy["value"] = 1
      try second.save()
      #expect(copy.one("passport") == nil && passport.isDeleted && !second.hasChanges)
      let fresh = try stack.reopened().context()
      #expect(try fresh.names("Node") == ["node"])
      #expect(try fresh.names("Passport") == [])
    }
  }

  @Test("A restored row keeps the partner that it was assigned here, which had another one", arguments: [
    MergePolicy.mergeByPropertyObjectTrump, .overwrite,
  ])
  func comesBackWithPartner(policy: MergePolicy) throws {
    try withStack(PlainSchema.model) { stack in
      let (first, second) = (stack.context(), stack.context())
      second.mergePolicy = policy
      let node = try first.make("Node", ["name": "node"])
      let passport = try first.make("Passport", ["name": "new"])
      try first.make("Passport", ["name": "old", "holder": node])
      try first.save()
      let copy = try second.named("Node", "node")
      let (old, new) = (try second.named("Passport", "old"), try second.named("Passport", "new"))
      first.delete(passport)
      try first.save()
      new["holder"] = copy
      try second.save()
      #expect(copy.one("passport") === new && new.one("holder") === copy && old.one("holder") == nil)
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Node", "node").one("passport")?["name"] as? String == "new")
      #expect(try fresh.named("Passport", "new").one("holder")?["name"] as? String == "node")
      #expect(try fresh.named("Passport", "old").one("holder") == nil)
    }
  }

  /// Ann, whose row the first context has deleted and a third one inserts again with a pet; in between, the second one
  /// deletes its fault of her.
  private func withReturnedOwner(
    _ policy: MergePolicy,
    _ body: (TestStack, _ second: ManagedObjectContext, _ deleted: ManagedObject) throws -> Void
  ) throws {
    try withStack(SampleModels.pets) { stack in
      let (first, second, third) = (stack.context(), stack.context(), stack.context())
      second.mergePolicy = policy
      third.mergePolicy = .overwrite
      let ann = try first.make("Person", ["name": "Ann"])
      try first.make("Pet", ["name": "Rex"])
      try first.save()
      let theirs = try third.named("Person", "Ann")
      let fault = second.object(with: ann.objectID)
      first.delete(ann)
      try first.save()
      second.delete(fault)
      try third.named("Pet", "Rex")["owner"] = theirs
      theirs["name"] = "Anna"
      try third.save()
      try body(stack, second, fault)
    }
  }

  @Test(
    "Deleting an object without a row doesn't delete the row that others insert afterward",
    arguments: MergePolicy.settling + [.error], [true, false])
  func returnsAfterDeletion(policy: MergePolicy, isRead: Bool) throws {
    try withReturnedOwner(policy) { stack, second, deleted in
      if isRead { #expect(deleted["name"] == nil) }
      try second.save()
      #expect(deleted.isDeleted)
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Person", "Anna").names("pets") == ["Rex"])
    }
  }

  @Test("Deleting an object without a row deletes the row that others insert, once that is merged")
  func isMergedAfterReturn() throws {
    try withReturnedOwner(.error) { stack, second, deleted in
      second.mergeChanges(from: SavedChanges(inserted: [deleted.objectID]))
      #expect(deleted.isDeleted)
      try second.save()
      let fresh = try stack.reopened().context()
      #expect(try fresh.names("Person") == [])
      #expect(try fresh.names("Pet") == [])
    }
  }

  @Test(
    "Refreshing a changed object whose row others deleted removes it, so that it can't change a row that returns",
    arguments: [true, false])
  func isRefreshed(refreshesAll: Bool) throws {
    try withSharedRow { scene in
      let third = scene.stack.context()
      third.mergePolicy = .overwrite
      let theirs = try third.named("Person", "Alice")
      scene.first.delete(scene.mine)
      try scene.first.save()
      scene.copy["name"] = "FromCtx2"
      if refreshesAll {
        scene.second.refreshAllObjects()
      } else {
        scene.second.refresh(scene.copy, mergeChanges: true)
      }
      #expect(scene.copy.isDeleted && !scene.second.hasChanges)
      theirs["salary"] = 20
      try third.save()
      try scene.second.make("Person", ["name": "Bob"])
      try scene.second.save()
      #expect(try scene.second.names("Person") == ["Alice", "Bob"] && !scene.copy.isDeleted)
      #expect(try scene.stored() == ["Alice 20", "Bob 0"])
    }
  }
}
