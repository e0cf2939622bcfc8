import Foundation
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Fetching by predicate")
struct PredicateFetchTests {
  @Test("Unsaved changes overlay the store's results for a predicate")
  func overlay() throws {
    try withDirtyPeople { context in
      var request = try FetchRequest("Person", where: "salary > 20", sortedBy: [.init("name")])
      #expect(try names(context.fetch(request)) == ["charlie", "delta", "echo"])
      #expect(try context.count(for: request) == 3)
      let ids = try context.fetchObjectIDs(request)
      #expect(ids.count == 3 && ids.filter(\.isTemporaryID).count == 2)
      request.sortDescriptors = []
      #expect(try Set(names(context.fetch(request))) == ["charlie", "delta", "echo"])
      #expect(try context.count(for: request) == 3)
      request.includesPendingChanges = false
      #expect(try context.count(for: request) == 2)
      #expect(try context.fetchObjectIDs(request).count == 2)
    }
  }

  @Test("Limit and offset apply to the objects that match the predicate")
  func window() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      for number in 1...20 { try context.make("Person", ["name": "p\(number)", "salary": number]) }
      try context.save()
      let fresh = stack.context()
      for format in ["salary %% 2 == 0", "name ENDSWITH[c] '0' OR salary > 14", "salary > 10"] {
        let all = try fresh.fetch(FetchRequest("Person", where: format, sortedBy: [.init("salary")]))
        let some = try fresh.fetch(
          FetchRequest("Person", where: format, sortedBy: [.init("salary")], limit: 3, offset: 2))
        #expect(names(some) == Array(names(all)[2..<5]))
        #expect(try fresh.count(for: FetchRequest("Person", where: format, limit: 3, offset: 2)) == 3)
        var walked = 0
        try fresh.forEachBatch(of: FetchRequest("Person", where: format), size: 2) { walked += $0.count }
        #expect(walked == all.count)
        walked = 0
        try fresh.forEachBatch(of: FetchRequest("Person", where: format, sortedBy: [.init("name")]), size: 2) {
          walked += $0.count
        }
        #expect(walked == all.count)
      }
    }
  }

  @Test("Results remain faults, however they were found")
  func faults() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      try context.make("Person", ["name": "Ann", "salary": 1])
      try context.save()
      for format in ["salary == 1", "name MATCHES 'A.*'"] {
        let found = try stack.context().fetch(FetchRequest("Person", where: format))
        #expect(found.count == 1 && found.allSatisfy(\.isFault), "\(format)")
      }
    }
  }

  @Test("Predicates follow relationships, saved and unsaved")
  func relationships() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let ann = try context.make("Person", ["name": "Ann"])
      let bob = try context.make("Person", ["name": "Bob"])
      try context.make("Pet", ["name": "Rex", "owner": ann])
      try context.make("Pet", ["name": "Tom", "owner": ann])
      try context.make("Pet", ["name": "stray"])
      func check(_ context: ManagedObjectContext, _ ann: ManagedObject) throws {
        func people(_ format: String) throws -> [String] {
          try names(context.fetch(FetchRequest("Person", where: format, sortedBy: [.init("name")])))
        }
        func pets(_ format: String, _ arguments: (any FetchArgument)?...) throws -> [String] {
          var request = FetchRequest("Pet", sortedBy: [.init("name")])
          request.predicate = try FetchPredicate(format, arguments: arguments)
          return try names(context.fetch(request))
        }
        #expect(try people("ANY pets.name == 'Rex'") == ["Ann"])
        #expect(try people("ALL pets.name == 'Rex'") == ["Bob"])
        #expect(try people("pets.@count == 0") == ["Bob"])
        #expect(try people("SUBQUERY(pets, $p, $p.name BEGINSWITH 'T').@count == 1") == ["Ann"])
        #expect(try pets("owner == %@", ann) == ["Rex", "Tom"])
        #expect(try pets("owner IN %@", [ann]) == ["Rex", "Tom"])
        #expect(try pets("owner == nil") == ["stray"])
        #expect(try pets("owner.name ==[c] 'ANN' AND name != 'Tom'") == ["Rex"])
        #expect(try pets("SELF.owner.pets.@count > 1") == ["Rex", "Tom"])
      }
      try check(context, ann)
      try context.save()
      try check(context, ann)
      #expect(try FetchPredicate("ANY pets.name == 'Rex'").evaluate(with: ann))
      #expect(try !FetchPredicate("ANY pets.name == 'Rex'").evaluate(with: bob))
      let fresh = try stack.reopened().context()
      try check(fresh, fresh.named("Person", "Ann"))
    }
  }

  @Test("A wrong key is an error even without rows")
  func wrongKeys() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      for format in [
        "nme == 'x'", "owner.nme == 'x'", "ANY owner.pets.nme == 'x'", "owner.pets.@sum.nme == 1",
        "SUBQUERY(owner.pets, $p, $p.nme == 1).@count > 0", "TERNARY(nme == 1, 1, 2) == 1", "{nme} == nil",
      ] {
        let error = try #require(persistError { _ = try context.fetch(FetchRequest("Pet", where: format)) })
        #expect(error.code == .unknownProperty && error.place.property == "nme", "\(format)")
      }
      let error = try #require(persistError { _ = try context.count(for: FetchRequest("Pet", where: "name == $name")) })
      #expect(error.code == .invalidPredicate)
    }
  }

  @Test("A transient attribute can be used, because it is evaluated on objects")
  func transient() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      try context.make("Person", ["name": "Ann"])["displayName"] = "Ann \"A\""
      #expect(try context.count(for: FetchRequest("Person", where: "displayName CONTAINS 'A' AND name == 'Ann'")) == 1)
      #expect(try context.count(for: FetchRequest("Person", where: "displayName == nil")) == 0)
    }
  }

  @Test(
    "Without marks, a part that consists of marks is empty, and occurs in every text",
    arguments: [
      "name CONTAINS[d] %@", "name CONTAINS[cd] %@", "name BEGINSWITH[d] %@", "name ENDSWITH[cd] %@", "%@ IN[d] name",
    ])
  func marksAlone(format: String) throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      for name in ["", "Tea", "e\u{301}"] { try context.make("Person", ["name": name]) }
      try context.make("Person")
      try context.save()
      for marks in ["\u{301}", "\u{301}\u{308}"] {
        #expect(try stack.context().count(for: FetchRequest("Person", where: format, marks)) == 3)
        let predicate = try FetchPredicate(format, marks)
        #expect(try context.fetch(FetchRequest("Person")).filter { try predicate.evaluate(with: $0) }.count == 3)
      }
    }
  }

  @Test("Violating a rule of the model throws the model's warning")
  func rules() throws {
    let model = ModelDescription(entities: [
      EntityDescription(
        "Employee",
        attributes: [
          AttributeDescription(
            "name", .string,
            validation: AttributeValidation(rules: [
              .init(predicate: "length >= 2", warning: "Name is too short."), .init(predicate: "SELF != 'Bob'"),
            ]))
        ])
    ])
    try withStack(model) { stack in
      let context = stack.context()
      let employee = try context.make("Employee", ["name": "A"])
      let error = try #require(persistError { try employee.validateForInsert() })
      #expect(error.code == .validationRule && error.message == "Name is too short.")
      #expect(error.place.property == "name" && error.fix?.contains("length >= 2") == true)
      employee["name"] = "Bob"
      #expect(persistError { try context.save() }?.message.contains("SELF != 'Bob'") == true)
      employee["name"] = "Al"
      try context.save()
    }
  }
}
