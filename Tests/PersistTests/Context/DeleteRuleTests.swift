import Foundation
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Delete rules")
struct DeleteRuleTests {
  @Test("DEL-01: cascade deletes the other end, through several objects")
  func cascade() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let ann = try context.make("Person", ["name": "Ann"])
      for name in ["a", "b"] { try context.make("Pet", ["name": name, "owner": ann]) }
      try context.make("Pet", ["name": "stray"])
      try context.save()
      let fresh = stack.context()
      fresh.delete(try fresh.named("Person", "Ann"))
      #expect(fresh.deletedObjects.count == 3)
      try fresh.save()
      #expect(try stack.reopened().context().names("Pet") == ["stray"])
    }
  }

  @Test("DEL-02: deny refuses the deletion while there is another end, unless that is deleted too")
  func deny() throws {
    try withStack(SampleModels.staff) { stack in
      let context = stack.context()
      let department = try context.make("Department", ["name": "Sales"])
      let carol = try context.make("Employee", ["name": "Carol", "department": department])
      try context.save()
      context.delete(department)
      #expect(persistError { try department.validateForDelete() }?.code == .validationDeleteDenied)
      #expect(persistError { try context.save() }?.code == .validationDeleteDenied)
      context.delete(carol)
      try department.validateForDelete()
      try context.save()
      #expect(try stack.reopened().context().count(for: FetchRequest("Department")) == 0)
    }
  }

  @Test("DEL-04: nullify keeps the other end, which no longer refers to the object")
  func nullify() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let ann = try context.make("Person", ["name": "Ann"])
      let pets = try ["a", "b"].map { try context.make("Pet", ["name": $0, "owner": ann]) }
      try context.save()
      for pet in pets { context.delete(pet) }
      #expect(try ann.many("pets").isEmpty && pets[0]["name"] as? String == "a")
      try context.save()
      #expect(pets.allSatisfy { $0.managedObjectContext == nil && !$0.isDeleted })
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Person", "Ann").many("pets").isEmpty)
    }
  }

  @Test("A cycle of cascades ends")
  func cycle() throws {
    let model = ModelDescription(entities: [
      EntityDescription(
        "Ring",
        relationships: [
          RelationshipDescription("next", to: "Ring", inverse: "previous", deleteRule: .cascade),
          RelationshipDescription("previous", to: "Ring", inverse: "next", deleteRule: .cascade),
        ])
    ])
    try withStack(model) { stack in
      let context = stack.context()
      let ring = try (0..<5).map { _ in try context.make("Ring") }
      for index in 0..<5 { ring[index]["next"] = ring[(index + 1) % 5] }
      try context.save()
      context.delete(ring[2])
      #expect(context.deletedObjects.count == 5)
      try context.save()
      #expect(try context.count(for: FetchRequest("Ring")) == 0)
    }
  }

  @Test("ID-07, ID-08: deleting an unsaved object leaves no trace")
  func unsaved() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let ann = try context.make("Person")
      let rex = try context.make("Pet", ["owner": ann])
      context.delete(ann)
      #expect(ann.isDeleted && rex.isDeleted)
      #expect(!context.hasChanges && context.registeredObjects.isEmpty)
      try context.save()
      #expect(stack.store.commits.isEmpty)
    }
  }

  @Test("DEL-05: an unsaved destination of a relationship without an inverse is removed from its holder")
  func oneWay() throws {
    try withStack(SampleModels.shapes) { stack in
      let context = stack.context()
      let node = try context.make("Node", ["name": "a"])
      try context.save()
      let tag = try context.make("Tag", ["label": "new"])
      node["favourite"] = tag
      context.delete(tag)
      #expect(node["favourite"] == nil)
      #expect(node.isUpdated && node.changedValues().keys.contains("favourite"))
      try context.save()
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Node", "a")["favourite"] == nil)
    }
  }

  @Test("ID-05: a deleted object isn't fetched, counts as deleted, and its hook runs each time it is deleted")
  func deletedObject() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context(classes: ["Person": IdentityTests.Hooked.self])
      let made = try context.make("Person", ["name": "Ann"])
      try context.save()
      context.delete(made)
      context.delete(made)
      #expect((made as? IdentityTests.Hooked)?.calls.filter { $0 == "prepareForDeletion" }.count == 2)
      #expect(made.isDeleted)
      #expect(try context.fetch(FetchRequest("Person")).isEmpty)
      #expect(persistError { _ = try context.existingObject(with: made.objectID) }?.code == .objectNotFound)
    }
  }

  @Test("Objects deleted with an unsaved owner that already has a permanent identifier leave nothing behind")
  func unsavedOwner() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let rex = try context.make("Pet", ["name": "Rex"])
      try context.save()
      let ann = try context.make("Person", ["name": "Ann"])
      try context.obtainPermanentIDs(for: [ann])
      rex["owner"] = ann
      context.delete(ann)
      #expect(rex.isDeleted && context.updatedObjects.isEmpty && context.insertedObjects.isEmpty)
      #expect(context.registeredObjects == [rex])
      try context.save()
      #expect(!context.hasChanges)
      #expect(try stack.reopened().context().names("Pet") == [])
    }
  }
}
