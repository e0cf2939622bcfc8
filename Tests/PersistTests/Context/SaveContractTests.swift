import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Contracts of saves and deletions")
struct SaveContractTests {
  private final class Saver: ManagedObject {
    nonisolated(unsafe) static var errors: [PersistenceError?] = []  // One test uses it.

    override func willSave() {
      do { try managedObjectContext?.save() } catch { Self.errors.append(error as? PersistenceError) }
    }
  }

  private final class LateSaver: ManagedObject {
    override func didSave() {
      guard self["nickname"] as? String != "saved" else { return }
      self["nickname"] = "saved"
      #expect(throws: Never.self) { try managedObjectContext?.save() }
    }
  }

  @Test("Saving from within willSave throws a message, and the running save continues")
  func recursiveSave() throws {
    try withStack(SampleModels.pets) { stack in
      Saver.errors = []
      let context = ManagedObjectContext(stack.coordinator, classes: ["Person": Saver.self])
      try context.make("Person", ["name": "Ann"])
      try context.save()
      let error = try #require(Saver.errors.compactMap { $0 }.first)
      #expect(error.code == .saveFailed && Saver.errors.count == 1)
      #expect(error.message.contains("while it was saving") && (error.fix ?? "").contains("willSave"))
      let fresh = try stack.reopened().context()
      #expect(try fresh.names("Person") == ["Ann"])
    }
  }

  @Test("didSave may save again")
  func saveInDidSave() throws {
    try withStack(SampleModels.pets) { stack in
      let context = ManagedObjectContext(stack.coordinator, classes: ["Person": LateSaver.self])
      try context.make("Person", ["name": "Ann"])
      try context.save()
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Person", "Ann")["nickname"] as? String == "saved" && !context.hasChanges)
    }
  }

  @Test("A denied deletion names the relationship that denies it")
  func deniedDeletion() throws {
    try withStack(SampleModels.staff) { stack in
      let context = stack.context()
      let department = try context.make("Department", ["name": "Sales"])
      try context.make("Employee", ["name": "Ann", "department": department])
      try context.save()
      context.delete(department)
      let error = try #require(persistError { try context.save() })
      #expect(error.code == .validationDeleteDenied && error.place.property == "employees")
      #expect(error.message.contains("'employees'"))
      #expect(error.validationFailure?.key == "employees" && error.validationFailure?.value == 1)
      #expect(error.validationFailure?.objectID == department.objectID)
    }
  }

  @Test("isDeleted is true from the deletion to the save")
  func isDeleted() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let ann = try context.make("Person", ["name": "Ann"])
      try context.save()
      context.delete(ann)
      #expect(ann.isDeleted)
      try context.save()
      #expect(!ann.isDeleted && ann.managedObjectContext == nil && ann["name"] as? String == "Ann")
      let child = ManagedObjectContext(parent: context)
      let bob = try context.make("Person", ["name": "Bob"])
      try context.save()
      let copy = try child.existingObject(with: bob.objectID)
      child.delete(copy)
      try child.save()
      #expect(!copy.isDeleted && bob.isDeleted)
    }
  }

  @Test("A required derived attribute without a value is rejected; with one it is saved")
  func derived() throws {
    let model = ModelDescription(entities: [
      EntityDescription(
        "Note",
        attributes: [
          AttributeDescription("title", .string),
          AttributeDescription("sortTitle", .string, isOptional: false, derivation: "uppercase:(title)"),
          AttributeDescription("count", .int64, isOptional: false, derivation: "lines.@count"),
          AttributeDescription("changed", .date, isOptional: false, derivation: "now()"),
          AttributeDescription("copy", .string, isOptional: false, derivation: "lowercase:(sortTitle)"),
        ],
        relationships: [RelationshipDescription("lines", toMany: "Line", inverse: "note")]),
      EntityDescription("Line", relationships: [RelationshipDescription("note", to: "Note", inverse: "lines")]),
    ])
    try withStack(model) { stack in
      let context = stack.context()
      let note = try context.make("Note")
      let error = try #require(persistError { try context.save() })
      #expect(error.errors.map(\.code) == [.validationMissingRequired, .validationMissingRequired])
      #expect(Set(error.errors.map(\.place.property)) == ["sortTitle", "copy"])
      note["title"] = "tea"
      try context.save()
      note["title"] = nil
      #expect(persistError { try context.save() }?.errors.count == 2)
      context.rollback()
      let fresh = try stack.reopened().context()
      let found = try #require(try fresh.fetch(FetchRequest("Note")).first)
      #expect(found["sortTitle"] as? String == "TEA" && found["count"] as? Int == 0 && found["changed"] is Date)
    }
  }

  @Test("A value of the wrong type set by subscript stops the program with a message, in every build configuration")
  func wrongType() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(SampleModels.people))
      try coordinator.addInMemoryStore()
      let context = ManagedObjectContext(coordinator)
      try context.make("Person")["salary"] = "much"
    }
    let sentence = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(sentence.contains("'salary' is of type int32"))
    let said = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      ProgramStop.report("a sentence")
    }
    let report = String(decoding: said?.standardErrorContent ?? [], as: UTF8.self)
    #expect(report.contains("a sentence"))
  }
}
