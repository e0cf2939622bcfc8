import Foundation
import Testing

@testable import Persist
@testable import PersistModel

/// Core Data's observed behavior in batches, over 125 cars of which 103 are FIATs.
@Suite("Batch operations, as observed")
struct ObservedBatchTests {
  private func withCars(_ body: (TestStack, ManagedObjectContext) throws -> Void) throws {
    try withStack(CarModel.description()) { stack in
      let context = stack.context()
      for plate in Array(1...15) + Array(100...199) + Array(200...204) + Array(300...304) {
        let isFIAT = plate <= 3 || (100...199).contains(plate)
        try context.make(
          plate < 200 ? "Car" : "SportCar",
          ["numberPlate": "\(plate)", "maker": isFIAT ? "FIAT" : (9...12).contains(plate) ? "Kia" : "other"])
      }
      try context.save()
      try body(stack, stack.context())
    }
  }

  private func count(_ maker: String, _ context: ManagedObjectContext) throws -> Int {
    try context.count(for: FetchRequest("Car", where: "maker == %@", maker))
  }

  @Test("BAT-01: a deletion returns its status, the number of deleted rows, or their identifiers")
  func delete() throws {
    for type in [BatchDeleteRequestResultType.resultTypeStatusOnly, .resultTypeCount, .resultTypeObjectIDs] {
      try withCars { stack, context in
        let fiats = try FetchPredicate("maker == 'FIAT'")
        let result = try context.execute(BatchDeleteRequest("Car", where: fiats, resultType: type))
        #expect(result.count == (type == .resultTypeStatusOnly ? nil : 103))
        #expect(result.objectIDs?.count == (type == .resultTypeObjectIDs ? 103 : nil))
        #expect(try count("FIAT", stack.context()) == 0 && stack.context().count(for: FetchRequest("Car")) == 22)
      }
    }
  }

  @Test("BAT-01: an insertion returns its status or the number of inserted rows")
  func insert() throws {
    try withCars { stack, context in
      for (type, expected) in [
        (.statusOnly, nil), (.count, 1),
      ] as [(BatchInsertRequestResultType, Int?)] {
        var request = BatchInsertRequest("Car", [["numberPlate": "new \(type)", "maker": "FIAT"]])
        request.resultType = type
        let result = try context.execute(request)
        #expect(result.count == expected && result.objectIDs == nil)
      }
      #expect(try count("FIAT", stack.context()) == 105)
    }
  }

  @Test("BAT-02: objects deleted by a batch leave another context once the identifiers are merged into it")
  func mergeDeletion() throws {
    try withCars { stack, background in
      let view = stack.context()
      let held = try view.fetch(FetchRequest("Car", where: "maker == 'FIAT'"))
      #expect(held.count == 103)
      let fiats = try FetchPredicate("maker == 'FIAT'")
      let result = try background.execute(BatchDeleteRequest("Car", where: fiats, resultType: .resultTypeObjectIDs))
      ManagedObjectContext.mergeChanges(
        fromRemoteContextSave: ["deleted": try #require(result.objectIDs)], into: [view])
      #expect(try count("FIAT", view) == 0)
      #expect(held.allSatisfy(\.isDeleted) && view.registeredObjects.isEmpty && !view.hasChanges)
    }
  }

  @Test("Rows inserted and changed by a batch are merged like a save: loaded objects show the new values")
  func mergeChanges() throws {
    try withCars { stack, background in
      let view = stack.context()
      let car = try view.named("Car", "1", by: "numberPlate")
      let dirty = try view.named("Car", "2", by: "numberPlate")
      dirty["mileage"] = 99
      var update = BatchUpdateRequest("Car", set: ["maker": .value("FCA"), "mileage": .value(1)])
      update.resultType = .updatedObjectIDsResultType
      view.mergeChanges(from: try background.execute(update).changes)
      #expect(car["maker"] as? String == "FCA" && car["mileage"] as? Int == 1)
      #expect(dirty["maker"] as? String == "FCA" && dirty["mileage"] as? Int == 99)
      try view.save()
      var insert = BatchInsertRequest("Car", [["numberPlate": "n"]])
      insert.resultType = .objectIDs
      let changes = try background.execute(insert).changes
      view.mergeChanges(from: changes)
      let id = try #require(changes.insertedObjectIDs.first)
      #expect(view.registeredObject(for: id)?["numberPlate"] as? String == "n")
      #expect(try count("FCA", stack.context()) == 125)
    }
  }

  @Test("BAT-07: an update returns its status, the number of changed rows, or their identifiers")
  func update() throws {
    let types: [BatchUpdateRequestResultType] = [
      .statusOnlyResultType, .updatedObjectsCountResultType, .updatedObjectIDsResultType,
    ]
    for type in types {
      try withCars { _, context in
        var request = BatchUpdateRequest(
          "Car", where: try FetchPredicate("maker == 'FIAT'"), set: ["maker": .value("FCA")])
        request.resultType = type
        let result = try context.execute(request)
        #expect(result.count == (type == .statusOnlyResultType ? nil : 103))
        #expect(result.objectIDs?.count == (type == .updatedObjectIDsResultType ? 103 : nil))
        context.reset()
        #expect(try count("FIAT", context) == 0 && count("FCA", context) == 103)
      }
    }
  }

  @Test("A custom merge policy fails a batch insert that conflicts, because there are no objects to resolve")
  func customPolicy() throws {
    struct KeepAll: ConflictResolver {}
    try withCars { stack, context in
      context.mergePolicy = .custom(KeepAll())
      let request = BatchInsertRequest("Car", [["numberPlate": "fresh"], ["numberPlate": "1", "maker": "Seat"]])
      #expect(persistError { try context.execute(request) }?.code == .constraintConflict)
      try #expect(stack.context().count(for: FetchRequest("Car")) == 125)
    }
  }
}
