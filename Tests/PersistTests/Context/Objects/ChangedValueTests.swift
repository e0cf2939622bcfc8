import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Changed, committed and primitive values")
struct ChangedValueTests {
  @Test("CHG-02: changed values are the new and committed values the saved ones, until a save makes them equal")
  func changedAndCommitted() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      let alice = try context.make("Person", ["name": "Alice"])
      try context.save()
      for name in ["Ali", "Alicia"] {
        alice["name"] = name
        #expect(alice.changedValues() as? [String: String] == ["name": name])
        #expect(alice.committedValues(forKeys: ["name"]) as? [String: String] == ["name": "Alice"])
      }
      try context.save()
      #expect(alice.changedValues().isEmpty)
      #expect(alice.committedValues(forKeys: ["name"]) as? [String: String] == ["name": "Alicia"])
      #expect(alice["name"] as? String == "Alicia")
    }
  }

  @Test("CHG-04: a primitive setter leaves the object unchanged; with willChangeValue around it the value is saved")
  func primitiveSetter() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      let alice = try context.make("Person", ["name": "Alice"])
      try context.save()
      try alice.setPrimitiveValue("Alicia", forKey: "name")
      try #expect(alice.primitiveValue(forKey: "name") as? String == "Alicia")
      #expect(alice.changedValues().isEmpty && !alice.hasChanges && !context.hasChanges)
      alice.willChangeValue(forKey: "name")
      try alice.setPrimitiveValue("Ally", forKey: "name")
      alice.didChangeValue(forKey: "name")
      #expect(alice.isUpdated)
      try context.save()
      try #expect(stack.reopened().context().names("Person") == ["Ally"])
    }
  }

  @Test("CHG-05: a change of only a transient attribute changes the object, without persistent changed values")
  func transientChange() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let ann = try context.make("Person", ["name": "Ann"])
      try context.save()
      ann["displayName"] = "Ann \"buddy\""
      #expect(ann.hasChanges && context.updatedObjects == [ann] && !ann.hasPersistentChangedValues)
      #expect(ann.changedValues().isEmpty)
      try context.save()
      #expect(ann["displayName"] as? String == "Ann \"buddy\"" && !ann.hasChanges)
    }
  }

  @Test("Changed values for the current event are the former values of the properties that changed in it")
  func currentEvent() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let (ann, ben) = (try context.make("Person", ["name": "Ann"]), try context.make("Person", ["name": "Ben"]))
      let pet = try context.make("Pet", ["name": "Rex", "owner": ann])
      try context.save()
      context.processPendingChanges()
      pet["name"] = "Max"
      #expect(pet.changedValuesForCurrentEvent() as? [String: String] == ["name": "Rex"])
      context.processPendingChanges()
      #expect(pet.changedValuesForCurrentEvent().isEmpty && pet.changedValues().count == 1)
      pet["name"] = "Tom"
      pet["owner"] = ben
      #expect(pet.changedValuesForCurrentEvent()["name"] as? String == "Max")
      #expect(pet.changedValuesForCurrentEvent()["owner"] as? ManagedObject === ann)
      #expect(ann.changedValuesForCurrentEvent()["pets"] as? [ManagedObjectID] == [pet.objectID])
      #expect(ben.changedValuesForCurrentEvent()["pets"] as? [ManagedObjectID] == [])
    }
  }

  @Test("Changed values contain a to-one relationship's object and members' identifiers; committed ones identifiers")
  func relatedValues() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let (ann, ben) = (try context.make("Person", ["name": "Ann"]), try context.make("Person", ["name": "Ben"]))
      let pet = try context.make("Pet", ["name": "Rex", "owner": ann])
      try context.save()
      pet["owner"] = ben
      #expect(pet.changedValues()["owner"] as? ManagedObject === ben)
      #expect(ben.changedValues()["pets"] as? [ManagedObjectID] == [pet.objectID])
      #expect(pet.committedValues()["owner"] as? ManagedObjectID == ann.objectID)
      #expect(ann.committedValues()["pets"] as? [ManagedObjectID] == [pet.objectID])
    }
  }

  @Test("While an observer handles an event, changed values for the current event are that event's")
  func currentEventWhileTold() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      let people = try (0..<3).map { try context.make("Person", ["salary": $0]) }
      try context.save()
      var told: [Set<Int?>] = []
      let observation = context.observe { event in
        guard case .objectsDidChange(let changes) = event else { return }
        told.append(Set(changes.updated.map { $0.changedValuesForCurrentEvent()["salary"] as? Int }))
      }
      for person in people { person["salary"] = 10 }
      context.processPendingChanges()
      #expect(told == [[0, 1, 2]])
      withExtendedLifetime(observation) {}
    }
  }

  @Test("Values set by the fetch hook don't count as changes")
  func fetchHook() throws {
    final class Person: ManagedObject {
      override func awakeFromFetch() { self["displayName"] = "\(self["name"] ?? "") \"\(self["nickname"] ?? "")\"" }
    }
    try withStack(SampleModels.pets) { stack in
      let context = stack.context(classes: ["Person": Person.self])
      try context.make("Person", ["name": "Ann"])
      try context.save()
      let fresh = stack.context(classes: ["Person": Person.self])
      let ann = try fresh.named("Person", "Ann")
      #expect(ann["displayName"] as? String == "Ann \"buddy\"")
      #expect(!ann.hasChanges && !fresh.hasChanges)
      ann["displayName"] = "changed"
      #expect(ann.isUpdated)
    }
  }

  /// A person whose display name ends in an exclamation mark.
  private final class Exclaimed: ManagedObject {
    override func awakeFromFetch() { self["displayName"] = "\(self["name"] ?? "")!" }
  }

  @Test("Discarding and undoing changes leave the transient values from before them, and the object unchanged")
  func formerTransientValues() throws {
    try withStack(SampleModels.pets) { stack in
      let first = stack.context()
      try first.make("Person", ["name": "Ann"])
      try first.save()
      for isUndone in [false, true] {
        let context = stack.context(classes: ["Person": Exclaimed.self])
        if isUndone { context.undoManager = .init() }
        let ann = try context.named("Person", "Ann")
        let changes: [() throws -> Void] = [
          { ann["name"] = "x" }, { ann["displayName"] = "y" }, { context.delete(ann) },
          { (ann["name"], ann["displayName"]) = ("x", "y") }, { try context.make("Pet", ["owner": ann]) },
        ]
        for (index, change) in changes.enumerated() {
          try change()
          #expect(context.hasChanges)
          if isUndone { context.undo() } else { context.rollback() }
          #expect(ann["name"] as? String == "Ann" && ann["displayName"] as? String == "Ann!", "\(isUndone) \(index)")
          #expect(!ann.hasChanges && !context.hasChanges, "\(isUndone) \(index)")
        }
        ann["displayName"] = "Ms Ann"
        try context.save()
        ann["displayName"] = "Mrs Ann"
        if isUndone { context.undo() } else { context.rollback() }
        #expect(ann["displayName"] as? String == "Ms Ann")
      }
    }
  }

  @Test("A rollback keeps transient values that the fetch hook sets after a change to the fault's members")
  func transientValuesOfFaults() throws {
    try withStack(SampleModels.pets) { stack in
      let first = stack.context()
      try first.make("Person", ["name": "Ann"])
      try first.save()
      for isUndone in [false, true] {
        let context = stack.context(classes: ["Person": Exclaimed.self])
        if isUndone { context.undoManager = .init() }
        let ann = try #require(try context.fetch(FetchRequest("Person")).first)
        try context.make("Pet", ["owner": ann])
        #expect(ann["displayName"] as? String == "Ann!")
        if isUndone { context.undo() } else { context.rollback() }
        #expect(ann["displayName"] as? String == "Ann!" && !ann.hasChanges)
      }
    }
  }

  @Test("A rollback discards transient values that were set during a failed save which read the row")
  func transientValuesOfFailedSaves() throws {
    final class Person: ManagedObject {
      override func validateForUpdate() throws {
        self["displayName"] = "valid"
        try super.validateForUpdate()
      }
    }
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(SampleModels.pets))
      try coordinator.addStore(at: url)
      let first = ManagedObjectContext(coordinator)
      let people = try ["Ann", "Ben"].map { try first.make("Person", ["name": $0]) }
      try first.save()
      let context = ManagedObjectContext(coordinator, classes: ["Person": Person.self])
      try context.setQueryGeneration(from: .current)
      let ben = context.object(with: people[1].objectID)
      ben["name"] = "mine"
      let ann = context.object(with: people[0].objectID)
      try context.make("Pet", ["owner": ann])
      #expect(ann.isUpdated && ann.isWithoutRow)
      people[1]["name"] = "theirs"
      try first.save()
      #expect(persistError { try context.save() }?.code == .mergeConflict)
      // Reads the row of the pinned state.
      #expect(ann.isWithoutRow && ann["name"] as? String == "Ann")
      #expect(ann["displayName"] as? String == "valid")
      context.rollback()
      #expect(ann["displayName"] == nil && !ann.hasChanges && !context.hasChanges)
    }
  }

  @Test("Paths lead through relationships, composites and operators, and set the property at their end")
  func paths() throws {
    try withStack(SampleModels.staff) { stack in
      let context = stack.context()
      let sales = try context.make("Department", ["name": "Sales"])
      let ann = try context.make("Employee", ["name": "Ann", "salary": 3, "department": sales])
      try context.make("Employee", ["name": "Ben", "department": sales])
      try #expect(ann.value(forKeyPath: "department.name") as? String == "Sales")
      try #expect(ann.value(forKeyPath: "department") as? ManagedObject === sales)
      try #expect(sales.value(forKeyPath: "employees.@count") as? Int == 2)
      try #expect(sales.value(forKeyPath: "employees.@sum.salary") as? Int == 3)
      let names = try #require(try sales.value(forKeyPath: "employees.name") as? [String])
      let salaries = try #require(try sales.value(forKeyPath: "employees.salary") as? [Int?])
      #expect(Set(names) == ["Ann", "Ben"] && Set(salaries) == [3, nil])
      try ann.setValue("Shop", forKeyPath: "department.name")
      #expect(sales["name"] as? String == "Shop")
      #expect(persistError { _ = try ann.value(forKeyPath: "department.height") }?.code == .unknownProperty)
      #expect(persistError { try sales.setValue(1, forKeyPath: "employees.salary") }?.code == .unknownProperty)
    }
    try withStack(SampleModels.types) { stack in
      let sample = try stack.context().make("Sample")
      try sample.setValue(1.5, forKeyPath: "location.x")
      try sample.setValue(2.5, forKeyPath: "location.y")
      try sample.setValue(nil, forKeyPath: "location.x")
      try #expect(sample.value(forKeyPath: "location.y") as? Double == 2.5)
      try #expect(sample.value(forKeyPath: "location.x") == nil)
    }
  }

  @Test("Setting one element of a composite by path keeps the stored values of the others")
  func elementPaths() throws {
    let model = ModelDescription(
      entities: [
        EntityDescription("Sample", attributes: [AttributeDescription("link", .composite, compositeName: "Link")])
      ],
      composites: [
        CompositeDescription(
          "Link",
          elements: [
            AttributeDescription("page", .uri), AttributeDescription("size", .composite, compositeName: "Size"),
          ]),
        CompositeDescription("Size", elements: [AttributeDescription("x", .int16), AttributeDescription("y", .int16)]),
      ])
    try withStack(model) { stack in
      let context = stack.context()
      let sample = try context.make("Sample", ["link": ["page": "http://x/a b"]])
      let slot = try #require(sample.entity.property(named: "link")).slot
      try sample.setValue(1, forKeyPath: "link.size.x")
      let page = StoredValue.uri("http://x/a b")
      #expect(sample.attributeValue(at: slot) == .composite(["page": page, "size": .composite(["x": 1])]))
      try sample.setValue(["y": 2], forKeyPath: "link.size")
      #expect(sample.attributeValue(at: slot) == .composite(["page": page, "size": .composite(["y": 2])]))
      try sample.setValue(nil, forKeyPath: "link.size.y")
      #expect(sample.attributeValue(at: slot) == .composite(["page": page]))
      for (path, value) in [("link.size.x", 40_000), ("link.size", 1), ("link.size.x.z", 1)] {
        #expect(persistError { try sample.setValue(value, forKeyPath: path) } != nil, "\(path)")
      }
      #expect(persistError { try sample.setValue(nil, forKeyPath: "link.nothing") }?.code == .unknownProperty)
      #expect(sample.attributeValue(at: slot) == .composite(["page": page]))
      try sample.setValue(nil, forKeyPath: "link.page")
      #expect(sample.attributeValue(at: slot) == .null)
    }
  }
}
