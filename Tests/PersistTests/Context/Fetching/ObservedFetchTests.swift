import Foundation
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Core Data's observed fetch results with unsaved changes.
@Suite("Fetching with unsaved changes, as observed")
struct ObservedFetchTests {
  private func over20<Result>(_ type: Result.Type = ManagedObject.self) throws -> FetchRequest<Result> {
    try FetchRequest<Result>("Person", where: "salary > 20", sortedBy: [.init("name")])
  }

  @Test("FET-04: unsaved inserts are counted, unsaved deletions aren't")
  func counts() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      let saved = try ["a", "b"].map { try context.make("Person", ["name": $0]) }
      try context.save()
      try context.make("Person", ["name": "c"])
      #expect(try context.count(for: FetchRequest("Person")) == 3)
      context.delete(saved[0])
      #expect(try context.count(for: FetchRequest("Person")) == 2)
    }
  }

  @Test("FET-05, FET-07, FET-08: objects, identifiers and counts match the changed values")
  func dirty() throws {
    try withDirtyPeople { context in
      let found = try context.fetch(over20())
      #expect(names(found) == ["charlie", "delta", "echo"] && found[0]["salary"] as? Int == 21)
      let ids = try context.fetch(over20(ManagedObjectID.self))
      #expect(Set(ids) == Set(found.map(\.objectID)) && ids.count(where: \.isTemporaryID) == 2)
      #expect(try context.fetchObjectIDs(over20()) == ids)
      #expect(try context.count(for: over20()) == 3 && context.fetch(over20(Int.self)) == [3])
      var saved = try over20()
      saved.includesPendingChanges = false
      #expect(try context.count(for: saved) == 2 && context.fetch(saved.returning(Int.self)) == [2])
    }
  }

  @Test("FET-11: unsaved changes overlay an in-memory store in the same way")
  func inMemory() throws {
    let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(SampleModels.people))
    try coordinator.addInMemoryStore()
    let context = ManagedObjectContext(coordinator)
    let (xray, yankee) = (
      try context.make("Person", ["name": "xray", "salary": 22]),
      try context.make("Person", ["name": "yankee", "salary": 10])
    )
    try context.save()
    yankee["salary"] = 21
    context.delete(xray)
    try context.make("Person", ["name": "zulu", "salary": 30])
    #expect(try names(context.fetch(over20())) == ["yankee", "zulu"])
    #expect(try context.count(for: over20()) == 2)
  }

  /// A car with each of these plates, as sport cars.
  private func withSportCars(_ plates: ClosedRange<Int>, _ body: (ManagedObjectContext) throws -> Void) throws {
    try withStack(CarModel.description()) { stack in
      let context = stack.context()
      for plate in plates { try context.make("SportCar", ["numberPlate": "\(plate)"]) }
      try context.save()
      try body(context)
    }
  }

  @Test("FET-14: a changed value is found by its current value, and by the saved one without unsaved changes")
  func changedValue() throws {
    try withSportCars(300...304) { context in
      func count(_ plate: String, pending: Bool = true) throws -> Int {
        var request = try FetchRequest("Car", where: "numberPlate == %@", plate)
        request.includesPendingChanges = pending
        let found = try context.fetch(request).count
        #expect(try context.count(for: request) == found)
        return found
      }
      let car = try context.named("Car", "304", by: "numberPlate")
      car["numberPlate"] = "304-edited"
      #expect(try count("304") == 0 && count("304", pending: false) == 1)
      try context.make("Car", ["numberPlate": "304-fake"])
      #expect(try count("304-fake") == 1 && count("304-fake", pending: false) == 0)
      context.delete(car)
      #expect(try count("304") == 0 && count("304-edited") == 0)
      context.reset()
      #expect(try count("304") == 1)
    }
  }

  @Test("FET-16: texts compare as texts, saved or not")
  func texts() throws {
    try withStack(CarModel.description()) { stack in
      let context = stack.context()
      for plate in [2, 20, 200, 201, 202, 203, 204, 2040, 205] {
        try context.make("SportCar", ["numberPlate": "\(plate)"])
      }
      let request = try FetchRequest(
        "SportCar", where: "numberPlate >= '202' && numberPlate <= '204'", sortedBy: [.init("numberPlate")])
      for _ in 0..<2 {
        #expect(try context.fetch(request).map { $0["numberPlate"] as? String } == ["202", "203", "204"])
        try context.save()
      }
    }
  }

  @Test("PRE-07, PRE-17, PRE-23: operators on texts and arithmetic, evaluated for an in-memory store")
  func operators() throws {
    let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(SampleModels.people))
    try coordinator.addInMemoryStore()
    let context = ManagedObjectContext(coordinator)
    for (name, age) in [("prefix-match", 30), ("match-suffix", 17), ("Café con Leche", 7)] {
      try context.make("Person", ["name": name, "salary": age])
    }
    try context.save()
    for (format, found) in [
      "name BEGINSWITH 'prefix'": "prefix-match", "name ENDSWITH 'suffix'": "match-suffix",
      "name CONTAINS[c] 'café'": "Café con Leche", "name CONTAINS[cd] 'CAFE'": "Café con Leche",
      "name LIKE 'prefix-*'": "prefix-match", "name MATCHES '.*-suffix'": "match-suffix",
      "salary * 2 >= 40": "prefix-match", "salary + 1 >= 21": "prefix-match", "salary / 2 == 3": "Café con Leche",
    ] {
      #expect(try names(context.fetch(FetchRequest("Person", where: format))) == [found], "\(format)")
    }
    #expect(try context.count(for: FetchRequest("Person", where: "salary / 2 == 3.5")) == 0)
    #expect(try context.count(for: FetchRequest("Person", where: "name CONTAINS 'CAFE'")) == 0)
  }
}
