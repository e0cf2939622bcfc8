import Foundation
import Testing

@testable import Persist
@testable import PersistModel

/// Violating a contract in code stops the program with a message.
@Suite("Contracts of objects and contexts")
struct ContractTests {
  private static func context() throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(SampleModels.pets))
    try coordinator.addInMemoryStore()
    return ManagedObjectContext(coordinator)
  }

  @Test("An object is created by its entity's name")
  func byName() throws {
    let context = try Self.context()
    ManagedObject(entity: "Person", context: context)["name"] = "Ann"
    #expect(try context.names("Person") == ["Ann"])
  }

  @Test("Setting a property that the entity doesn't have")
  func unknownProperty() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      ManagedObject(entity: "Person", context: try ContractTests.context())["height"] = 1
    }
    expect(result, says: "'Person' has no property 'height'")
  }

  @Test("Creating an object of an entity that the model doesn't have")
  func unknownEntity() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = ManagedObject(entity: "Nobody", context: try ContractTests.context())
    }
    expect(result, says: "no entity 'Nobody'")
  }

  @Test("Relating objects of two contexts")
  func foreignObject() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let (here, there) = (try ContractTests.context(), try ContractTests.context())
      try here.make("Person").many("pets").insert(there.make("Pet"))
    }
    expect(result, says: "can contain only objects of its owner's context")
  }

  /// An object that was never inserted into a context, and the slot of one of its relationships.
  private static func loneObject(_ entity: String, _ name: String) throws -> (object: ManagedObject, slot: Int) {
    let entity = try context().entity(named: entity)
    return (ManagedObject(entity: entity, insertInto: nil), try #require(entity.slot(named: name)))
  }

  @Test("Adding members to an object that was never inserted into a context")
  func loneOwner() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let (person, slot) = try ContractTests.loneObject("Person", "pets")
      person.toMany(at: slot, of: ManagedObject.self).insert(try ContractTests.context().make("Pet"))
    }
    expect(result, says: "can't contain objects before the object is in a context")
  }

  @Test("Replacing the members of an object that was never inserted into a context")
  func loneOwnerReplacing() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let (person, _) = try ContractTests.loneObject("Person", "pets")
      person["pets"] = [try ContractTests.context().make("Pet")]
    }
    expect(result, says: "can't contain objects before the object is in a context")
  }

  @Test("Setting a to-one relationship of an object that was never inserted into a context")
  func loneMember() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let (pet, slot) = try ContractTests.loneObject("Pet", "owner")
      pet.setToOne(try ContractTests.context().make("Person"), at: slot)
    }
    expect(result, says: "can't contain objects before the object is in a context")
  }

  @Test("Deleting another context's object")
  func foreignDeletion() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let (here, there) = (try ContractTests.context(), try ContractTests.context())
      here.delete(try there.make("Pet"))
    }
    expect(result, says: "belongs to another context")
  }

  private func expect(_ result: ExitTest.Result?, says sentence: String) {
    let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(said.contains(sentence))
  }
}
