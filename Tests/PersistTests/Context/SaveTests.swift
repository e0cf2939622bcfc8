import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Saving")
struct SaveTests {
  @Test("A new context has no changes, and saving it accesses no store")
  func nothing() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      #expect(!context.hasChanges && context.registeredObjects.isEmpty)
      try context.save()
      #expect(stack.store.calls == 0)
    }
  }

  @Test("A save writes the changes in one commit, and reads nothing back")
  func oneCommit() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      let people = try (0..<100).map { try context.make("Person", ["name": "\($0)"]) }
      try context.save()
      #expect(stack.store.calls == 1)
      people[3]["name"] = "changed"
      context.delete(people[4])
      try context.make("Person", ["name": "new"])
      try context.save()
      #expect(stack.store.calls == 2)
      let writes = try #require(stack.store.commits.last)
      #expect(writes.inserts.count == 1 && writes.updates.count == 1 && writes.deletes.count == 1)
      #expect(people[3]["name"] as? String == "changed" && people[5]["name"] as? String == "5")
      #expect(stack.store.calls == 2)
    }
  }

  @Test("Repeated saves increase an object's version with each change")
  func versions() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      let ann = try context.make("Person", ["name": "Ann"])
      for salary in 1...5 {
        try context.save()
        ann["salary"] = salary
      }
      try context.save()
      #expect(stack.store.commits.dropFirst().compactMap(\.updates.first?.version) == [1, 2, 3, 4, 5])
    }
  }

  @Test("Two contexts change one row: the second save is a conflict, and keeps its changes")
  func conflict() throws {
    try withStack(SampleModels.people) { stack in
      let (first, second) = (stack.context(), stack.context())
      let alice = try first.make("Person", ["name": "Alice", "salary": 10])
      try first.save()
      let copy = try second.named("Person", "Alice")
      alice["name"] = "First"
      try first.save()
      copy["name"] = "Second"
      let error = try #require(persistError { try second.save() })
      #expect(error.code == .mergeConflict && error.errors.isEmpty && error.mergeConflicts.count == 1)
      #expect(error.place.entity == "Person" && error.place.row == 1)
      #expect(second.hasChanges && copy["name"] as? String == "Second")
      second.refresh(copy, mergeChanges: true)
      #expect(copy["name"] as? String == "Second")
      try second.save()
      first.refresh(alice, mergeChanges: false)
      #expect(alice["name"] as? String == "Second")
    }
  }

  @Test("A row that another context deleted is a conflict too")
  func deletedMeanwhile() throws {
    try withStack(SampleModels.people) { stack in
      let (first, second) = (stack.context(), stack.context())
      let alice = try first.make("Person", ["name": "Alice"])
      try first.save()
      let copy = try second.named("Person", "Alice")
      first.delete(alice)
      try first.save()
      copy["name"] = "Second"
      #expect(persistError { try second.save() }?.code == .mergeConflict)
      second.delete(copy)
      #expect(persistError { try second.save() }?.code == .mergeConflict)
      second.refresh(copy, mergeChanges: true)
    }
  }

  @Test("Another context's insert is no conflict")
  func independentInsert() throws {
    try withStack(SampleModels.people) { stack in
      let (first, second) = (stack.context(), stack.context())
      let alice = try first.make("Person", ["name": "Alice"])
      try first.save()
      _ = try second.named("Person", "Alice")
      alice["name"] = "Alicia"
      try first.save()
      try second.make("Person", ["name": "Bob"])
      try second.save()
      #expect(try first.names("Person") == ["Alicia", "Bob"])
    }
  }

  @Test("New objects refer to each other before they have keys")
  func newToNew() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let rex = try context.make("Pet", ["name": "Rex"])
      let ann = try context.make("Person", ["name": "Ann", "pets": [rex]])
      try context.save()
      #expect(rex.one("owner") === ann)
      #expect(try ann.many("pets").objectIDs == [rex.objectID] && !rex.objectID.isTemporaryID)
      rex["name"] = "Max"
      try context.save()
      #expect(try ann.names("pets") == ["Max"])
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Pet", "Max").one("owner")?["name"] as? String == "Ann")
    }
  }

  @Test("A read-only store refuses the save, and the changes remain")
  func readOnly() throws {
    try withStack(SampleModels.people) { stack in
      try stack.context().save()
      let readOnly = try stack.reopened(options: StoreOptions(isReadOnly: true))
      let context = readOnly.context()
      try context.make("Person", ["name": "Ann"])
      #expect(persistError { try context.save() }?.code == .storeReadOnly)
      #expect(context.insertedObjects.count == 1)
    }
  }

  @Test("Each entity is saved to the store whose configuration contains it; relationships don't cross stores")
  func configurations() throws {
    var description = SampleModels.pets
    description.configurations = ["people": ["Person"], "animals": ["Pet"]]
    let model = try ManagedObjectModel(description)
    let coordinator = PersistentStoreCoordinator(model: model)
    let people = try coordinator.addInMemoryStore(options: StoreOptions(configuration: "people"))
    let animals = try coordinator.addInMemoryStore(options: StoreOptions(configuration: "animals"))
    let context = ManagedObjectContext(coordinator)
    let ann = try context.make("Person", ["name": "Ann"])
    let rex = try context.make("Pet", ["name": "Rex"])
    try context.save()
    #expect(ann.objectID.storeIdentifier == people.identifier && rex.objectID.storeIdentifier == animals.identifier)
    #expect(try context.names("Person") == ["Ann"] && context.names("Pet") == ["Rex"])
    rex["owner"] = ann
    #expect(persistError { try context.save() }?.code == .saveFailed)
  }

  @Test("Saving without a store is an error that says so")
  func noStore() throws {
    let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(SampleModels.people))
    let context = ManagedObjectContext(coordinator)
    try context.make("Person")
    #expect(persistError { try context.save() }?.message.contains("No open store") == true)
    #expect(try context.count(for: FetchRequest("Person")) == 1)
  }

  @Test("After any series of changes, an object's row in memory has the values and the size of the one read again")
  func rowInMemory() throws {
    try withStack(SampleModels.types) { stack in
      var random = SeededRandom(seed: 7)
      let context = stack.context()
      let object = try context.make("Sample", ["string": "a text that is longer than a slot"])
      try context.save()
      let attributes = object.layout.properties.filter { object.layout.kinds[$0.slot] == .attribute }
      for round in 0..<60 {
        for property in attributes where Int.random(in: 0..<4, using: &random) == 0 {
          let isText = property.attribute?.type == .string
          let value: StoredValue =
            switch Int.random(in: 0..<5, using: &random) {
            case 0: .null
            case 1 where isText: .string(String(repeating: "é", count: round))
            default: Self.value(of: try #require(property.attribute).type, round)
            }
          object.setAttributeValue(value, at: property.slot)
        }
        try context.save()
        let row = try #require(object.snapshot)
        let again = try #require(
          stack.store.rows(RowQuery(entity: object.entity, keys: [object.key])).first?.snapshot)
        #expect(row.version == again.version)
        for stored in object.layout.storedSlots {
          #expect(row.holds(stored, as: again, of: object.layout), "\(object.layout.properties[stored.slot].name)")
        }
        #expect(object.layout.byteCount(of: row) == object.layout.byteCount(of: again))
      }
    }
  }

  private static func value(of type: AttributeType, _ number: Int) -> StoredValue {
    switch type {
    case .int16, .int32, .int64: .integer(Int64(number))
    case .double, .float: .double(Double(number) / 2)
    case .boolean: .boolean(number.isMultiple(of: 2))
    case .date: .date(Date(timeIntervalSinceReferenceDate: Double(number)))
    case .decimal: .decimal(Decimal(number) / 100)
    case .string: .string("text \(number)")
    case .uri: .uri("https://example.org/\(number)")
    case .uuid: .uuid(UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, UInt8(number))))
    case .binary, .transformable: .data(Data(repeating: 7, count: number))
    case .composite, .objectID, .undefined: .null
    }
  }
}
