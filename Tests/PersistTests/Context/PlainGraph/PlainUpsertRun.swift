import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Random items, of which there is one for each code, beside plain rows: new ones meet rows and one another.
struct PlainUpsertRun: PlainTrial {
  static let model = ModelDescription(entities: [
    EntityDescription(
      "Item",
      attributes: [
        AttributeDescription("code", .string), AttributeDescription("a", .int32, default: 7),
        AttributeDescription("b", .int32, default: 7),
      ],
      relationships: [
        RelationshipDescription("owner", to: "Person", inverse: "items"),
        RelationshipDescription("tags", toMany: "Tag", inverse: "items"),
      ],
      uniquenessConstraints: [["code"]]),
    EntityDescription(
      "Person", attributes: [AttributeDescription("name", .string)],
      relationships: [RelationshipDescription("items", toMany: "Item", inverse: "owner")]),
    EntityDescription(
      "Tag", attributes: [AttributeDescription("name", .string)],
      relationships: [RelationshipDescription("items", toMany: "Item", inverse: "tags")]),
  ])

  private struct Row: Equatable {
    var a = 7
    var b = 7
    var owner: String?
    var tags: Set<String> = []
  }

  /// A new object, with what it was given.
  private struct New {
    let code: String
    var row = Row()
    var given: Set<String> = []
  }

  private let stack: TestStack
  private let context: ManagedObjectContext
  private var rows: [String: Row] = [:]
  var edits: PlainEdits
  private var log: [String] = []
  /// Items that the program holds: others are found again by the save.
  private var held: [ManagedObject] = []
  private var parts: [String: ManagedObject] = [:]

  init(_ stack: TestStack, _ edits: PlainEdits) throws {
    self.stack = stack
    context = stack.context()
    self.edits = edits
    for name in ["p", "q", "r"] { parts[name] = try context.make("Person", ["name": name]) }
    for name in ["s", "t", "u"] { parts[name] = try context.make("Tag", ["name": name]) }
    try context.save()
  }

  private mutating func chance(_ of: Int) -> Bool { Int.random(in: 0..<of, using: &edits.random) == 0 }
  private mutating func any(_ names: [String]) -> String { names[Int.random(in: 0..<names.count, using: &edits.random)] }

  mutating func step() throws {
    log.append("— round")
    var pending = rows
    var deleted: Set<String> = []
    for _ in 0..<Int.random(in: 0...2, using: &edits.random) {
      guard let code = pending.keys.sorted().randomElement(using: &edits.random) else { continue }
      let item = try demand(
        try context.fetch(FetchRequest<ManagedObject>("Item", where: "code == %@", code)).first, "no \(code)")
      if chance(5) {
        log.append("delete \(code)")
        context.delete(item)
        pending[code] = nil
        deleted.insert(code)
      } else {
        var row = pending[code] ?? Row()
        var given: Set<String> = []
        try change(item, &row, &given)
        log.append("change \(code) \(given.sorted()) to \(row)")
        pending[code] = row
      }
      if chance(2) { held.append(item) }
    }
    var new: [New] = []
    for _ in 0..<Int.random(in: 1...3, using: &edits.random) {
      var made = New(code: any(["1", "2", "3", "4", "5"]))
      let item = try context.make("Item", ["code": made.code])
      for _ in 0..<Int.random(in: 0...3, using: &edits.random) { try change(item, &made.row, &made.given) }
      log.append("new \(made.code) \(made.given.sorted()) \(made.row)")
      new.append(made)
    }
    try save(pending, new)
    if chance(3) { held = [] }
    if chance(5) { context.refreshAllObjects() }
  }

  private mutating func change(_ item: ManagedObject, _ row: inout Row, _ given: inout Set<String>) throws {
    switch Int.random(in: 0..<4, using: &edits.random) {
    case 0:
      row.a = Int.random(in: 5..<9, using: &edits.random)
      item["a"] = row.a
      given.insert("a")
    case 1:
      row.b = Int.random(in: 5..<9, using: &edits.random)
      item["b"] = row.b
      given.insert("b")
    case 2:
      row.owner = chance(4) ? nil : any(["p", "q", "r"])
      item["owner"] = row.owner.flatMap { parts[$0] }
      given.insert("owner")
    default:
      let tag = any(["s", "t", "u"])
      let tags = try item.related("tags")
      if row.tags.contains(tag) { tags.remove(try demand(parts[tag])) } else { tags.insert(try demand(parts[tag])) }
      row.tags.formSymmetricDifference([tag])
    }
  }

  private mutating func save(_ pending: [String: Row], _ new: [New]) throws {
    let policies = [MergePolicy.error] + MergePolicy.settling
    let policy = policies[Int.random(in: 0..<policies.count, using: &edits.random)]
    context.mergePolicy = policy
    log.append("save, \(policy.mergeType)")
    let (wanted, hasConflict) = outcome(pending, new, policy.mergeType)
    let error = persistError { try context.save() }
    if policy.mergeType == .error, hasConflict {
      try demand(error?.code == .constraintConflict, "\(error?.description ?? "saved")")
      try demand(context.insertedObjects.count == new.count, "new objects are lost")
      context.rollback()
    } else {
      try demand(error == nil, error?.description ?? "")
      try demand(!context.hasChanges, "changes are left")
      rows = wanted
    }
    try expect(try state(of: stack.context()), "the store")
    try expect(try state(of: context), "the context")
  }

  /// The stored values, by the table of merge policies.
  private func outcome(
    _ pending: [String: Row], _ new: [New], _ policy: MergePolicy.MergeType
  ) -> (rows: [String: Row], hasConflict: Bool) {
    var rows = pending
    var hasConflict = false
    for made in new {
      guard var row = rows[made.code] else {
        rows[made.code] = made.row
        continue
      }
      hasConflict = true
      if policy == .overwrite || policy == .mergeByPropertyObjectTrump {
        func isWritten(_ name: String) -> Bool { policy == .overwrite || made.given.contains(name) }
        if isWritten("a") { row.a = made.row.a }
        if isWritten("b") { row.b = made.row.b }
        if isWritten("owner") { row.owner = made.row.owner }
      }
      if policy != .rollback { row.tags.formUnion(made.row.tags) }
      rows[made.code] = row
    }
    return (rows, hasConflict)
  }

  func end() throws { try expect(try state(of: stack.reopened().context()), "after reopening") }

  /// The rows as a context shows them, from both sides.
  private func state(of context: ManagedObjectContext) throws -> [String: Row] {
    var rows: [String: Row] = [:]
    let items = try context.fetch(FetchRequest<ManagedObject>("Item"))
    let everyone = try context.fetch(FetchRequest<ManagedObject>("Person")) + context.fetch(FetchRequest("Tag"))
    for item in items {
      let code = try demand(item["code"] as? String)
      try demand(rows[code] == nil, "there are several of \(code)")
      let tags = try item.related("tags").compactMap { $0["name"] as? String }
      try demand(tags.count == Set(tags).count, "\(code) has tags twice")
      rows[code] = Row(
        a: item["a"] as? Int ?? 0, b: item["b"] as? Int ?? 0,
        owner: (item["owner"] as? ManagedObject)?["name"] as? String, tags: Set(tags))
      for other in everyone {
        let name = try demand(other["name"] as? String)
        let isHere = try other.related("items").contains { $0 === item }
        let isThere = rows[code]?.owner == name || rows[code]?.tags.contains(name) == true
        try demand(isHere == isThere, "\(name) and \(code) disagree")
      }
    }
    for other in everyone {
      let members = try other.related("items").map { $0 }
      try demand(members.allSatisfy { member in items.contains { $0 === member } }, "a stray member")
    }
    return rows
  }

  var trace: String { "after:\n" + log.suffix(24).joined(separator: "\n") }

  private func expect(_ found: [String: Row], _ what: String) throws {
    for code in Set(found.keys).union(rows.keys).sorted() {
      try demand(found[code] == rows[code], "\(what), \(code)")
    }
  }
}
