import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

/// The law: a fetch returns what the context shows, wherever the unsaved changes are.
@Suite("Unsaved changes of related objects")
struct RelatedChangesTests {
  private static let model = ModelDescription(entities: [
    EntityDescription(
      "Company", attributes: [AttributeDescription("name", .string), AttributeDescription("budget", .decimal)],
      relationships: [RelationshipDescription("teams", toMany: "Team", inverse: "company")]),
    EntityDescription(
      "Team", attributes: [AttributeDescription("title", .string), AttributeDescription("budget", .decimal)],
      relationships: [
        RelationshipDescription("company", to: "Company", inverse: "teams"),
        RelationshipDescription("people", toMany: "Person", inverse: "team"),
      ]),
    EntityDescription(
      "Person", attributes: [AttributeDescription("name", .string), AttributeDescription("age", .int32)],
      relationships: [
        RelationshipDescription("team", to: "Team", inverse: "people"),
        RelationshipDescription("friends", toMany: "Person", inverse: "friends"),
      ]),
  ])

  /// Two companies of two teams of two people: P111 to P222.
  private func withPeople(_ body: (ManagedObjectContext, TestStack) throws -> Void) throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      for company in 1...2 {
        let c = try context.make("Company", ["name": "C\(company)", "budget": Decimal(company)])
        for team in 1...2 {
          let t = try context.make("Team", ["title": "T\(company)\(team)", "budget": Decimal(team), "company": c])
          for person in 1...2 {
            _ = try context.make("Person", ["name": "P\(company)\(team)\(person)", "age": person, "team": t])
          }
        }
      }
      try context.save()
      try body(stack.context(), stack)
    }
  }

  private func names(_ format: String, _ entity: String, _ context: ManagedObjectContext) throws -> Set<String> {
    let request = try FetchRequest<ManagedObject>(entity, where: format)
    let found = try Set(context.fetch(request).compactMap { $0[entity == "Team" ? "title" : "name"] as? String })
    #expect(try context.count(for: request) == found.count, "\(format)")
    #expect(try context.fetchObjectIDs(request).count == found.count, "\(format)")
    return found
  }

  private func named(_ name: String, _ entity: String, _ context: ManagedObjectContext) throws -> ManagedObject {
    try context.named(entity, name, by: entity == "Team" ? "title" : "name")
  }

  @Test("A related object's unsaved value is respected, over one step and over several")
  func values() throws {
    try withPeople { context, _ in
      try named("T11", "Team", context)["title"] = "new"
      #expect(try names("team.title == 'new'", "Person", context) == ["P111", "P112"])
      #expect(try names("team.title == 'T11'", "Person", context) == [])
      #expect(try names("team.title == 'T11' AND team.budget + team.budget < 5", "Person", context) == [])
      #expect(try names("NOT team.title == 'new' AND team.company.name == 'C1'", "Person", context) == ["P121", "P122"])
      #expect(try names("ANY teams.title == 'new'", "Company", context) == ["C1"])
      #expect(try names("ANY teams.people.team.title == 'new'", "Company", context) == ["C1"])
      #expect(
        try names("SUBQUERY(teams, $t, ANY $t.people.name == 'P111' AND $t.title == 'new').@count == 1", "Company", context)
          == ["C1"])
      try named("C2", "Company", context)["name"] = "far"
      #expect(try names("team.company.name == 'far'", "Person", context) == ["P211", "P212", "P221", "P222"])
      #expect(try names("team.company.name == 'C2'", "Person", context) == [])
    }
  }

  @Test("Unsaved relationships and deletions of related objects are respected")
  func relationships() throws {
    try withPeople { context, _ in
      try named("T11", "Team", context)["company"] = try named("C2", "Company", context)
      #expect(try names("team.company.name == 'C1'", "Person", context) == ["P121", "P122"])
      #expect(try names("teams.@count == 3", "Company", context) == ["C2"])
      #expect(try names("ANY teams.people.name == 'P111'", "Company", context) == ["C2"])
      context.delete(try named("P211", "Person", context))
      #expect(try names("people.@count == 1", "Team", context) == ["T21"])
      #expect(try names("ANY teams.people.name == 'P211'", "Company", context) == [])
      #expect(
        try names("SUBQUERY(teams, $t, $t.people.@count == 1).@count == 1", "Company", context) == ["C2"])
      let friend = try named("P121", "Person", context)
      friend["friends"] = Set([try named("P122", "Person", context)])
      #expect(try names("ANY friends.name == 'P121'", "Person", context) == ["P122"])
      #expect(try names("ANY team.people.friends.name == 'P121'", "Person", context) == ["P121", "P122"])
      let added = try context.make("Person", ["name": "new", "age": 70])
      added["team"] = try named("T22", "Team", context)
      #expect(try names("people.@max.age == 70", "Team", context) == ["T22"])
      #expect(try names("ANY teams.people.age == 70", "Company", context) == ["C2"])
    }
  }

  @Test("Rows are sorted by related objects' unsaved values, and windows apply to that order")
  func order() throws {
    try withPeople { context, _ in
      try named("T11", "Team", context)["title"] = "zz"
      let team = try named("T22", "Team", context)
      try named("P111", "Person", context)["team"] = team
      var request = FetchRequest<ManagedObject>("Person", sortedBy: [.init("team.title"), .init("name")])
      func found() throws -> [String] { try context.fetch(request).compactMap { $0["name"] as? String } }
      let all = ["P121", "P122", "P211", "P212", "P111", "P221", "P222", "P112"]
      #expect(try found() == all)
      (request.fetchLimit, request.fetchOffset) = (3, 2)
      #expect(try found() == Array(all[2..<5]))
      #expect(try context.fetchObjectIDs(request).count == 3)
      (request.fetchLimit, request.fetchOffset) = (.max, 6)
      #expect(try found() == Array(all[6...]))
      #expect(try context.count(for: request) == 2)
    }
  }

  @Test("Without unsaved changes, a request matches saved values, even if part of it is evaluated in memory")
  func saved() throws {
    try withPeople { context, _ in
      let team = try named("T11", "Team", context)
      (team["title"], team["budget"]) = ("new", Decimal(100))
      for (format, count) in [
        "team.title == 'T11' AND team.budget + team.budget < 5": 2, "team.title == 'T11'": 2,
        "team.title == 'new' AND team.budget + team.budget > 50": 0,
        "team.title == 'T11' AND team.budget + team.budget > 50": 0,
      ] {
        var request = try FetchRequest<ManagedObject>("Person", where: format)
        request.includesPendingChanges = false
        #expect(try context.fetch(request).count == count, "\(format)")
        #expect(try context.count(for: request) == count, "\(format)")
        #expect(try context.fetch(request.returning(FetchedRow.self)).count == count, "\(format)")
      }
    }
  }

  @Test("A child context's unsaved changes of related objects are respected")
  func child() throws {
    try withPeople { context, _ in
      let child = ManagedObjectContext(parent: context)
      try named("T12", "Team", context)["title"] = "parent's"
      try named("T11", "Team", child)["title"] = "child's"
      #expect(try names("team.title == \"parent's\"", "Person", child) == ["P121", "P122"])
      #expect(try names("team.title == \"child's\"", "Person", child) == ["P111", "P112"])
      #expect(try names("team.title == \"child's\"", "Person", context) == [])
      #expect(try names("team.title == 'T11'", "Person", child) == [])
    }
  }

  @Test("Changes that don't affect a request cost no statement")
  func cost() throws {
    try withPeople { context, stack in
      let team = try named("T11", "Team", context)
      team["budget"] = Decimal(5)
      let request = try FetchRequest<ManagedObject>("Person", where: "team.title == 'T11'")
      var calls = stack.store.calls
      #expect(try context.fetch(request).count == 2)
      #expect(stack.store.calls == calls + 1)
      team["title"] = "new"
      calls = stack.store.calls
      #expect(try context.fetch(request).count == 0)
      #expect(stack.store.calls == calls + 2)
    }
  }

  @Test("Limits and offsets of any size return rows or an error")
  func limits() throws {
    try withPeople { context, _ in
      _ = try context.make("Person", ["name": "unsaved"])
      var request = FetchRequest<ManagedObject>("Person", sortedBy: "name")
      (request.fetchLimit, request.fetchOffset) = (.max, 1)
      #expect(try context.fetch(request).count == 8)
      #expect(try context.count(for: request) == 8)
      (request.fetchLimit, request.fetchOffset) = (.max, .max)
      #expect(try context.fetch(request).isEmpty)
      request.fetchOffset = 0
      request.fetchBatchSize = .max
      #expect(try Array(context.fetchBatched(request)).count == 9)
      var groups: [Int] = []
      try context.forEachBatch(of: request, size: .max) { groups.append($0.count) }
      #expect(groups.reduce(0, +) == 9)
      let child = ManagedObjectContext(parent: context)
      request.fetchLimit = .max - 1
      #expect(try child.fetch(request).count == 9)
      for (limit, offset) in [(-1, 0), (0, -1), (5, -3), (.min, .min)] {
        (request.fetchLimit, request.fetchOffset) = (limit, offset)
        #expect(throws: PersistenceError.self) { try context.fetch(request) }
        #expect(throws: PersistenceError.self) { try context.count(for: request) }
        #expect(throws: PersistenceError.self) { try context.fetch(request.returning(FetchedRow.self)) }
      }
    }
  }
}
