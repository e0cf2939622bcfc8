import Foundation
import PersistTestSupport
import PersistTools
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Uniqueness with a condition", .timeLimit(.minutes(5)))
struct ConditionalUniquenessTests {
  /// User {email, unique unless deleted; team, unique among leaders; deletedAt, isLeader}; Guest: User.
  static func users(
    _ conditions: [[String]: [UniquenessCondition]] = [
      ["email"]: [.isNil("deletedAt")], ["team"]: [.equal("isLeader", true), .isNil("deletedAt")],
    ],
    constraints: [[String]] = [["email"], ["team"]], deletion: AttributeDescription = .init("deletedAt", .date)
  ) -> ModelDescription {
    var user = EntityDescription(
      "User",
      attributes: [
        AttributeDescription("email", .string), AttributeDescription("team", .int64), deletion,
        AttributeDescription("isLeader", .boolean),
      ], uniquenessConstraints: constraints)
    user.uniquenessConditions = conditions
    return ModelDescription(entities: [user, EntityDescription("Guest", parent: "User")])
  }

  private static let date = Date(timeIntervalSinceReferenceDate: 1)

  /// Whether the objects of a context satisfy both constraints, by a comparison of each with each.
  private static func isValid(_ context: ManagedObjectContext) throws -> Bool {
    let users = try context.fetch(FetchRequest("User")).filter { $0["deletedAt"] as? Date == nil }
    func repeats(_ values: [AnyHashable]) -> Bool { Set(values).count < values.count }
    let emails = users.compactMap { $0["email"] as? String }
    let teams = users.filter { $0["isLeader"] as? Bool == true }.compactMap { $0["team"] as? Int }
    return !repeats(emails) && !repeats(teams)
  }

  @Test(
    "A save succeeds if its result satisfies every constraint, in whatever order rows are written",
    .law("conditional uniqueness", short: 40, long: 2000))
  func law() throws {
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      try withStack(Self.users()) { stack in
        let context = stack.context()
        for _ in 0..<12 {
          var users = try context.fetch(FetchRequest("User", sortedBy: "email"))
          for _ in 0..<Int.random(in: 1...4, using: &random) {
            if users.isEmpty || Int.random(in: 0..<4, using: &random) == 0 {
              users.append(try context.make(Bool.random(using: &random) ? "User" : "Guest"))
            }
            let user = users[Int.random(in: 0..<users.count, using: &random)]
            switch Int.random(in: 0..<5, using: &random) {
            case 0: user["email"] = [nil, "a", "b"][Int.random(in: 0..<3, using: &random)]
            case 1: user["team"] = [nil, 1, 2][Int.random(in: 0..<3, using: &random)]
            case 2: user["deletedAt"] = Bool.random(using: &random) ? Self.date : nil
            case 3: user["isLeader"] = Bool.random(using: &random)
            default:
              users.removeAll { $0 === user }
              context.delete(user)
            }
          }
          let isValid = try Self.isValid(context)
          let error = persistError { try context.save() }
          #expect((error == nil) == isValid, "\(String(describing: error))")
          if let error {
            #expect(error.code == .constraintConflict)
            context.rollback()
          }
        }
        try #expect(Self.isValid(stack.reopened().context()))
      }
    }
  }

  @Test("Rows exchange their places among those of the constraint in one save")
  func exchange() throws {
    try withStack(Self.users()) { stack in
      let context = stack.context()
      let (one, other) = (try context.make("User", ["email": "a"]), try context.make("Guest", ["email": "a"]))
      other["deletedAt"] = Self.date
      try context.save()
      for _ in 0..<2 {
        for user in [one, other] { user["deletedAt"] = user["deletedAt"] as? Date == nil ? Self.date : nil }
        try context.save()
      }
    }
  }

  @Test("A conflict names the values, and a policy merges with the row that isn't exempt")
  func policies() throws {
    try withStack(Self.users()) { stack in
      let context = stack.context()
      try context.make("User", ["email": "a", "team": 1, "deletedAt": Self.date])
      try context.make("User", ["email": "a", "team": 2])
      try context.save()
      let second = stack.context()
      let new = try second.make("User", ["email": "a", "team": 3])
      let error = try #require(persistError { try second.save() })
      #expect(error.code == .constraintConflict)
      #expect(error.constraintConflicts.map(\.constraintValues) == [["email": .string("a")]])
      #expect(error.constraintConflicts.first?.databaseSnapshot?["team"] == .integer(2))
      second.mergePolicy = .mergeByPropertyObjectTrump
      try second.save()
      #expect(new["team"] as? Int == 3)
      let teams = try stack.reopened().context().fetch(FetchRequest("User", sortedBy: "team"))
      #expect(teams.map { $0["team"] as? Int } == [1, 3])
    }
  }

  @Test("A batch inserts rows that are exempt, and follows the policy for others")
  func batches() throws {
    try withStack(Self.users()) { stack in
      let context = stack.context()
      func insert(_ rows: [String: Any]...) throws -> Int? {
        try context.execute(BatchInsertRequest("User", rows)).count
      }
      try #expect(insert(["email": "a", "team": 1], ["email": "a", "team": 2, "deletedAt": Self.date]) == 2)
      #expect(persistError { _ = try insert(["email": "a"]) }?.code == .constraintConflict)
      context.mergePolicy = .mergeByPropertyObjectTrump
      try #expect(insert(["email": "a", "team": 5], ["email": "a", "team": 6, "deletedAt": Self.date]) == 2)
      let teams = try stack.context().fetch(FetchRequest("User", sortedBy: "team")).map { $0["team"] as? Int }
      #expect(teams == [2, 5, 6])
    }
  }

  // MARK: Migration

  private func migrate(
    _ old: ModelDescription, _ new: ModelDescription, filling rows: [[String: Any?]],
    _ body: (URL, ModelRegistry, MigrationPlan) throws -> Void
  ) throws {
    let registry = ModelRegistry(versions: [
      ModelVersion(name: "1", model: try ManagedObjectModel(old)),
      ModelVersion(name: "2", model: try ManagedObjectModel(new)),
    ])
    try withTemporaryStore { url in
      let stack = try TestStack(registry.versions[0].model, at: url)
      let context = stack.context()
      for row in rows {
        let user = try context.make("User")
        for (name, value) in row { user[name] = value }
      }
      try context.save()
      try stack.store.close()
      try body(url, registry, MigrationPlan(storeAt: url, to: registry.versions[1], registry: registry))
    }
  }

  private func open(_ url: URL, _ registry: ModelRegistry) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(model: registry.versions[1].model, registry: registry)
    try coordinator.addStore(at: url, options: .automaticMigration)
    return ManagedObjectContext(coordinator)
  }

  @Test("A constraint gets a condition, and loses it")
  func changedCondition() throws {
    let strict = Self.users([:], constraints: [["email"]])
    let lenient = Self.users([["email"]: [.isNil("deletedAt")]], constraints: [["email"]])
    try migrate(strict, lenient, filling: [["email": "a", "deletedAt": Self.date]]) { url, registry, plan in
      #expect(
        plan.steps.map(\.operation.description).sorted() == [
          "add uniqueness constraint User.email (where deletedAt == nil)", "remove uniqueness constraint User.email",
        ])
      let context = try open(url, registry)
      try context.make("User", ["email": "a"])
      try context.save()
      try context.make("User", ["email": "a"])
      #expect(persistError { try context.save() }?.code == .constraintConflict)
    }
    let rows: [[String: Any?]] = [["email": "a", "deletedAt": Self.date], ["email": "a"]]
    try migrate(lenient, strict, filling: rows) { url, registry, plan in
      #expect(plan.blockers.map(\.what) == ["Rows of User with the same email as another, which must be unique: 1."])
      #expect(persistError { _ = try open(url, registry) } != nil)
    }
  }

  @Test("A plan counts only the rows that the condition concerns")
  func plannedDuplicates() throws {
    let none = Self.users([:], constraints: [])
    let rows: [[String: Any?]] = [
      ["team": 1, "isLeader": true], ["team": 1, "isLeader": true], ["team": 1, "isLeader": false],
      ["team": 2, "isLeader": true], ["team": 2, "isLeader": true, "deletedAt": Self.date],
    ]
    let users = Self.users([["team"]: [.equal("isLeader", true), .isNil("deletedAt")]], constraints: [["team"]])
    try migrate(none, users, filling: rows) { _, _, plan in
      #expect(plan.blockers.map(\.what) == ["Rows of User with the same team as another, which must be unique: 1."])
    }
    try migrate(none, users, filling: Array(rows.dropFirst())) { url, registry, plan in
      #expect(plan.blockers.isEmpty)
      try #expect(open(url, registry).count("User") == 4)
    }
  }

  @Test("A condition follows its attribute under another name")
  func renamed() throws {
    let old = Self.users([["email"]: [.isNil("deletedAt")]], constraints: [["email"]])
    let new = Self.users(
      [["email"]: [.isNil("trashedAt")]], constraints: [["email"]],
      deletion: AttributeDescription("trashedAt", .date, renamingIdentifier: "deletedAt"))
    try migrate(old, new, filling: [["email": "a", "deletedAt": Self.date], ["email": "a"]]) { url, registry, plan in
      #expect(!plan.steps.contains { $0.operation.kind == .addUniquenessConstraint })
      let context = try open(url, registry)
      try context.make("User", ["email": "a"])
      #expect(persistError { try context.save() }?.code == .constraintConflict)
    }
  }

  @Test("A store that was closed and opened has the condition still, and a check finds what it forbids")
  func dropped() throws {
    try withTemporaryFile { url in
      let model = try ManagedObjectModel(Self.users())
      let coordinator = PersistentStoreCoordinator(model: model)
      let store = try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      for date in [Self.date, Self.date, nil] { try context.make("User", ["email": "a", "deletedAt": date]) }
      try context.save()
      try coordinator.remove(store)
      var problems: [StoreProblem] = []
      try StoreCheck.check(storeAt: url, registry: nil) { problems.append($0) }
      #expect(problems.isEmpty)
      try MadeStore.run(
        "DROP INDEX Z_User_UNIQUE_email", "UPDATE ZUSER SET ZDELETEDAT = NULL WHERE Z_PK = 1", at: url)
      try StoreCheck.check(storeAt: url, registry: nil) { problems.append($0) }
      #expect(problems.map(\.kind).contains(.duplicateValue))
      #expect(problems.map(\.kind).contains(.missingIndex))
      #expect(persistError { _ = try coordinator.addStore(at: url) }?.code == .storeDamaged)
      try MadeStore.run("UPDATE ZUSER SET ZDELETEDAT = 1 WHERE Z_PK = 1", at: url)
      try coordinator.addStore(at: url)
      let again = ManagedObjectContext(coordinator)
      try again.make("User", ["email": "a"])
      #expect(persistError { try again.save() }?.code == .constraintConflict)
    }
  }

  // MARK: Models

  @Test("A model's JSON and fingerprint contain the conditions; other models have the fingerprints they had")
  func descriptions() throws {
    let users = Self.users([
      ["email"]: [.isNotNil("deletedAt"), .equal("team", -3)], ["team"]: [.equal("isLeader", false), .isNil("email")],
    ])
    try #expect(ModelDescription(json: Data(users.json.utf8)) == users)
    let (with, without) = (try ManagedObjectModel(users), try ManagedObjectModel(Self.users([:])))
    #expect(with.fingerprints["User"] != without.fingerprints["User"])
    #expect(
      with.description.entities.first?.uniquenessTexts == [
        "email where deletedAt != nil AND team == -3", "team where email == nil AND isLeader == NO",
      ])
  }

  @Test(
    "A condition of no constraint or that an index can't have is a flaw",
    arguments: [
      ([["name"]: [UniquenessCondition.isNil("deletedAt")]], "belongs to no such constraint"),
      ([["email"]: [.isNil("nothing")]], "names no attribute of 'User'"),
      ([["email"]: [.equal("email", 1)]], "compares an attribute that isn't an integer"),
      ([["email"]: [.equal("team", true)]], "compares an attribute that isn't Boolean"),
    ])
  func flaws(conditions: [[String]: [UniquenessCondition]], reason: String) throws {
    let error = try #require(persistError { _ = try ManagedObjectModel(Self.users(conditions)) })
    #expect("\(error)".contains(reason))
  }
}
