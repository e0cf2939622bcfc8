import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Versions of rows")
struct VersionTests {
  @Test("A new object has no version; each save that writes the row increases it, whatever is set in between")
  func counting() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      let ann = try context.make("Person", ["name": "Ann"])
      #expect(ann.version == nil)
      try context.save()
      #expect(ann.version == 1)
      for version in Int64(1)...5 {
        #expect(ann.version == version)
        ann["salary"] = Int(version)
        #expect(ann.version == version)
        try context.save()
      }
      try context.save()
      #expect(ann.version == 6)
      #expect(try stack.reopened().context().named("Person", "Ann").version == 6)
    }
  }

  @Test("A fault reads its row once for it")
  func fault() throws {
    try withStack(SampleModels.people) { stack in
      let seeding = stack.context()
      try seeding.make("Person", ["name": "Ann"])
      try seeding.save()
      let context = stack.context()
      let id = try #require(try context.fetchObjectIDs(FetchRequest("Person")).first)
      let ann = context.object(with: id)
      #expect(ann.isFault && ann.version == 1 && !ann.isFault && ann.version == 1)
      let gone = context.object(with: ManagedObjectID(
        entityName: "Person", storeIdentifier: id.storeIdentifier, key: .permanent(99)))
      #expect(gone.version == nil)
    }
  }

  @Test("It reflects others' saves once the object shows their values")
  func others() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      let ann = try context.make("Person", ["name": "Ann"])
      try context.save()
      try ForeignSQL.run(named: "UPDATE ZPERSON SET ZSALARY = 5, Z_OPT = Z_OPT + 1", at: stack.url)
      #expect(ann.version == 1)
      ann["name"] = "Anna"
      let conflict = try #require(persistError { try context.save() }?.mergeConflicts.first)
      #expect(conflict.oldVersionNumber == 1 && conflict.newVersionNumber == 2)
      context.refresh(ann, mergeChanges: true)
      #expect(ann.version == 2)
      try context.save()
      #expect(ann.version == 3)
    }
  }

  @Test("An added or removed member counts as a change of its owner too, as in Core Data")
  func members() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let ann = try context.make("Person", ["name": "Ann"])
      let pet = try context.make("Pet", ["name": "Rex"])
      try context.save()
      pet["owner"] = ann
      try context.save()
      #expect(pet.version == 2 && ann.version == 2)
    }
  }

  /// An attribute can have that name.
  private final class Document: ManagedObject {
    var version = "draft"
  }

  @Test("A class can have a property of that name")
  func ownProperty() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context(classes: ["Person": Document.self])
      let document = Document(context: context)
      try context.save()
      #expect(document.version == "draft" && (document as ManagedObject).version == 1)
    }
  }
}
