import Foundation
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Identity and life cycle")
struct IdentityTests {
  final class Hooked: ManagedObject {
    var calls: [String] = []
    override func awakeFromInsert() { calls.append("insert") }
    override func awakeFromFetch() { calls.append("fetch") }
    override func willSave() {
      calls.append("willSave")
      if self["nickname"] as? String == "buddy" { self["nickname"] = "stamped" }
    }
    override func didSave() { calls.append("didSave") }
    override func prepareForDeletion() { calls.append("prepareForDeletion") }
  }

  @Test("ID-01, ID-02: a new object has its defaults, and its insertion hook has run once")
  func insertion() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context(classes: ["Person": Hooked.self])
      let person = Hooked(context: context)
      #expect(person.calls == ["insert"])
      #expect(person["nickname"] as? String == "buddy")
      #expect(person.isInserted && !person.isFault && person.objectID.isTemporaryID)
      #expect(context.insertedObjects == [person] && context.hasChanges)
    }
  }

  @Test("ID-04: a change made in the will-save hook is part of the save; the hooks run once more for it")
  func hooks() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context(classes: ["Person": Hooked.self])
      let person = Hooked(context: context)
      try context.save()
      #expect(person.calls == ["insert", "willSave", "willSave", "didSave"])
      let other = stack.context(classes: ["Person": Hooked.self])
      let again = try #require(try other.fetch(Hooked.self, FetchRequest("Person")).first)
      #expect(again.isFault && again.calls.isEmpty)
      #expect(again["nickname"] as? String == "stamped")
      #expect(!again.isFault && again.calls == ["fetch"])
    }
  }

  @Test("A hook that changes its object endlessly fails the save with an error")
  func endlessHook() throws {
    final class Restless: ManagedObject {
      override func willSave() { self["name"] = UUID().uuidString }
    }
    try withStack(SampleModels.people) { stack in
      let context = stack.context(classes: ["Person": Restless.self])
      _ = Restless(context: context)
      #expect(persistError { try context.save() }?.code == .saveFailed)
      #expect(context.hasChanges)
    }
  }

  @Test("ID-10, ID-11: saving assigns a permanent identifier, whose URI leads to the same object after a restart")
  func identifiers() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      let alice = try context.make("Person", ["name": "Alice"])
      let temporary = alice.objectID
      #expect(context.registeredObject(for: temporary) === alice)
      #expect(try context.existingObject(with: temporary) === alice)
      try context.save()
      let uri = alice.objectID.uriRepresentation()
      #expect(uri.absoluteString == "x-coredata://\(stack.store.identifier)/Person/p1")
      #expect(context.registeredObject(for: temporary) === alice)
      let reopened = try stack.reopened()
      let id = try #require(reopened.coordinator.managedObjectID(forURIRepresentation: uri))
      #expect(id == alice.objectID)
      let again = try reopened.context().existingObject(with: id)
      #expect(!again.isFault && again["name"] as? String == "Alice")
    }
  }

  @Test("ID-13: a row has one object: fetches, lookups and relationships return the same instance")
  func uniqueness() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let owner = try context.make("Person", ["name": "Ann"])
      let pet = try context.make("Pet", ["name": "Rex", "owner": owner])
      try context.save()
      #expect(try context.fetch(FetchRequest("Pet")).first === pet)
      #expect(context.object(with: pet.objectID) === pet)
      #expect(pet.one("owner") === owner)
      #expect(try owner.many("pets").first === pet)
      let fresh = stack.context()
      let first = try fresh.fetch(FetchRequest("Pet"))
      #expect(try fresh.fetch(FetchRequest("Pet")) == first)
    }
  }

  @Test("Unchanged objects that nothing retains are released")
  func memory() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      for index in 0..<100 {
        try context.make("Pet", ["name": "\(index)", "owner": context.make("Person")])
      }
      try context.save()
      #expect(context.registeredObjects.isEmpty)
      var pets = try context.fetch(FetchRequest("Pet"))
      #expect(context.registeredObjects.count == 100)
      pets[3]["name"] = "changed"
      pets = []
      #expect(context.registeredObjects.count == 1 && context.updatedObjects.count == 1)
    }
  }

  @Test("ID-14: rolling back discards new, changed and deleted objects")
  func rollback() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      let alice = try context.make("Person", ["name": "Alice"])
      try context.save()
      alice["name"] = "Alicia"
      let bob = try context.make("Person", ["name": "Bob"])
      context.delete(alice)
      context.rollback()
      #expect(!context.hasChanges && context.insertedObjects.isEmpty && context.deletedObjects.isEmpty)
      #expect(!alice.isDeleted && alice["name"] as? String == "Alice")
      #expect(context.registeredObject(for: bob.objectID) == nil && bob.managedObjectContext == nil)
      #expect(bob["name"] as? String == "Bob")
      #expect(try context.count(for: FetchRequest("Person")) == 1)
    }
  }

  @Test("ID-16: after a reset, retained objects are faults without a context")
  func reset() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      let alice = try context.make("Person", ["name": "Alice"])
      try context.save()
      alice["name"] = "Alicia"
      context.reset()
      #expect(context.registeredObjects.isEmpty && !context.hasChanges)
      #expect(alice.isFault && alice.managedObjectContext == nil && alice["name"] == nil)
      #expect(try context.names("Person") == ["Alice"])
    }
  }

  @Test("An object of a released context keeps the values it had read, and otherwise reads as empty")
  func contextGone() throws {
    try withStack(SampleModels.pets) { stack in
      var context: ManagedObjectContext? = stack.context()
      let made = try context?.make("Pet", ["name": "Rex", "owner": context?.make("Person", ["name": "Ann"])])
      try context?.save()
      let pet = try #require(made)
      let unsaved = try #require(try context?.make("Pet", ["name": "New"]))
      let read = try #require(try context?.make("Person"))
      let fault = try #require(try stack.context().fetch(FetchRequest("Pet")).first)
      context = nil
      #expect(pet.managedObjectContext == nil && pet["name"] as? String == "Rex")
      #expect(pet["owner"] == nil)
      pet["name"] = "Max"
      pet["owner"] = read
      #expect(pet["name"] as? String == "Max" && !pet.hasChanges)
      #expect(unsaved["name"] as? String == "New")
      #expect(try read.many("pets").count == 0)
      #expect(!pet.objectID.isTemporaryID && unsaved.objectID.isTemporaryID)
      #expect(fault.objectID == pet.objectID && fault["name"] == nil || fault["name"] as? String == "Rex")
    }
  }

  @Test("ID-17: an object created without a context keeps its values and can be inserted into one later")
  func withoutContext() throws {
    try withStack(SampleModels.pets) { stack in
      let pet = ManagedObject(entity: try stack.model.entity(named: "Pet"), insertInto: nil)
      pet["name"] = "Rex"
      #expect(pet["name"] as? String == "Rex" && pet["owner"] == nil && !pet.isDeleted && pet.entity.name == "Pet")
      #expect(persistError { try pet.setValue(nil, forKey: "owner") }?.code == .foreignObject)
      let context = stack.context()
      context.insert(pet)
      pet["owner"] = try context.make("Person", ["name": "Ann"])
      try context.save()
      let fresh = stack.context()
      #expect(try fresh.named("Pet", "Rex").one("owner")?["name"] as? String == "Ann")
    }
  }

  @Test("A temporary identifier from before an insertion resolves to the object, before and after its save")
  func identifierBeforeInsertion() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let pet = ManagedObject(entity: try stack.model.entity(named: "Pet"), insertInto: nil)
      let id = pet.objectID
      context.insert(pet)
      #expect(pet.objectID == id && context.registeredObject(for: id) === pet)
      context.delete(pet)
      #expect(context.registeredObject(for: id) == nil && pet.objectID == id)
      context.insert(pet)
      let other = try context.make("Pet")
      #expect(pet.objectID == id && other.objectID != id && context.registeredObject(for: id) === pet)
      pet["name"] = "Rex"
      try context.save()
      #expect(!pet.objectID.isTemporaryID && context.registeredObject(for: id) === pet)
      try #expect(context.fetch(FetchRequest("Pet", where: "SELF == %@", id)) == [pet])
      context.delete(pet)
      try context.save()
      let saved = pet.objectID
      context.insert(pet)
      #expect(pet.objectID.isTemporaryID && pet.objectID != saved && pet.objectID != id)
    }
  }

  @Test("A to-many relationship of an object without a context reads as empty, and has members in one later")
  func membersWithoutContext() throws {
    try withStack(SampleModels.pets) { stack in
      let entity = try stack.model.entity(named: "Person")
      let slot = try #require(entity.slot(named: "pets"))
      let person = ManagedObject(entity: entity, insertInto: nil)
      let members = person.toMany(at: slot, of: ManagedObject.self)
      #expect(members.isEmpty && Array(members) == [] && !members.contains(person))
      members.removeAll()
      members.remove(person)
      person["pets"] = [ManagedObject]()
      person["pets"] = nil
      let context = stack.context()
      context.insert(person)
      let pet = try context.make("Pet", ["name": "Rex"])
      person.toMany(at: slot, of: ManagedObject.self).insert(pet)
      try context.save()
      #expect(Array(person.toMany(at: slot, of: ManagedObject.self)) == [pet] && pet.one("owner") === person)
    }
  }

  @Test("Looking up a missing row throws; its object reads as defaults and counts as deleted")
  func missingRow() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      try context.make("Person")
      try context.save()
      let id = ManagedObjectID(
        entityName: "Person", storeIdentifier: stack.store.identifier, key: .permanent(77))
      #expect(persistError { _ = try context.existingObject(with: id) }?.code == .objectNotFound)
      let ghost = context.object(with: id)
      #expect(ghost["nickname"] as? String == "buddy" && ghost["name"] == nil && ghost.isDeleted)
      ghost["name"] = "Boo"
      #expect(!context.hasChanges)
    }
  }

  @Test("URIs that can't belong to the coordinator produce no identifier")
  func foreignURIs() throws {
    try withStack(SampleModels.people) { stack in
      let store = stack.store.identifier
      for text in [
        "http://\(store)/Person/p1", "x-coredata://\(store)/Nobody/p1", "x-coredata://other/Person/p1",
        "x-coredata://\(store)/Person/p0", "x-coredata://\(store)/Person/p", "x-coredata://\(store)/Person",
        "x-coredata://\(store)/Person/p99999999999999999999",
      ] {
        let url = try #require(URL(string: text))
        #expect(stack.coordinator.managedObjectID(forURIRepresentation: url) == nil, "\(text)")
      }
    }
  }

  @Test("An object that left its context has the identifier of its row, whether or not it was asked for before")
  func identifiersOfDepartedObjects() throws {
    let model = ModelDescription(entities: [
      EntityDescription("Item", attributes: [.init("name", .string)]), EntityDescription("Food", parent: "Item"),
    ])
    try withStack(model) { stack in
      let context = stack.context()
      for (entity, name) in [("Item", "a"), ("Food", "b"), ("Item", "c"), ("Food", "d")] {
        try context.make(entity, ["name": name])
      }
      try context.save()
      let fresh = stack.context()
      let items = try fresh.fetch(FetchRequest("Item", sortedBy: "name"))
      let ids = try context.fetch(FetchRequest("Item", sortedBy: "name")).map(\.objectID)
      let asked = items[0].objectID
      items.prefix(3).forEach(fresh.delete)
      try fresh.save()
      #expect(items.map(\.objectID) == ids && items[0].objectID === asked)
      #expect(items[1].objectID === items[1].objectID && items[1].objectID.primaryKey == ids[1].primaryKey)
      #expect(items[1].description.contains(ids[1].description))
      fresh.reset()
      #expect(items.map(\.objectID) == ids)
    }
  }

  @Test("A URI with a number that no object can have is no identifier")
  func greatestNumber() throws {
    let places = ["x-coredata:///Person/t9223372036854775808", "x-coredata:///Person/t18446744073709551615"]
    for place in places { #expect(ManagedObjectID(uriRepresentation: try #require(URL(string: place))) == nil) }
  }

  @Test("A row with the greatest version can be changed and deleted")
  func greatestVersion() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      context.undoManager = .init()
      for name in ["Ann", "Ben"] { try context.make("Person", ["name": name]) }
      try context.save()
      context.reset()
      let raw = try RawStore(stack.url)
      try raw.execute("UPDATE ZPERSON SET Z_OPT = 9223372036854775807")
      raw.close()
      let (ann, ben) = try (context.named("Person", "Ann"), context.named("Person", "Ben"))
      // A server refuses to increment the version.
      let code = persistError {
        ann["name"] = "Anna"
        try context.save()
      }?.code
      #expect(code == nil || code == .serverFailed)
      if code != nil { context.rollback() }
      context.delete(ben)
      try context.save()
      context.undo()
      try context.save()
      try #expect(context.names("Person").last == "Ben")
    }
  }
}
