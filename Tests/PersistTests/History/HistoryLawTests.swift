import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

/// The law, over random saves, batches and deletions of two coordinators with two contexts each: a program that only
/// follows the history knows every object of the store, its values and its members.
@Suite("History: following")
struct HistoryLawTests {
  @Test("Who follows the history knows what the store holds", .law("history-follower", short: 12, long: 2000))
  func following() throws {
    let model = try HistoryModel.make()
    forEachSeed { seed in
      do {
        try withTemporaryStore { url in try HistoryRun(seed, model, url).run() }
      } catch {
        Issue.record(error)
      }
    }
  }
}

/// Keeps the state of a store by its history alone.
struct Follower {
  private(set) var objects: [String: [String: String]] = [:]
  private var last: Int64 = 0

  /// Reads the transactions since the last call, and the rows that they name.
  mutating func follow(_ coordinator: PersistentStoreCoordinator) throws {
    let transactions = try coordinator.transactions(HistoryQuery(afterNumber: last))
    #expect(transactions.map(\.transactionNumber) == transactions.map(\.transactionNumber).sorted())
    let context = ManagedObjectContext(coordinator)
    for transaction in transactions {
      last = transaction.transactionNumber
      #expect(transaction.changes?.isEmpty == false)
      for change in transaction.changes ?? [] {
        let name = change.changedObjectID.description
        #expect((objects[name] == nil) == (change.changeType == .insert), "\(words(change))")
        if change.changeType == .delete {
          objects[name] = nil
        } else {
          // Objects that a later transaction deleted are gone already.
          objects[name] = (try? context.existingObject(with: change.changedObjectID)).map(Self.values) ?? [:]
        }
      }
    }
  }

  /// Attributes, to-one and many-to-many relationships. Other members show in their own to-one relationship.
  static func values(_ object: ManagedObject) -> [String: String] {
    var values: [String: String] = [:]
    for property in object.entity.properties {
      if property.attribute != nil { values[property.name] = "\(object[property.name] ?? "nil")" }
      guard let relationship = property.relationship else { continue }
      if !relationship.isToMany {
        values[property.name] = object.one(property.name)?.objectID.description ?? "nil"
      } else if ["tags", "people", "friends"].contains(property.name) {
        let members = try? object.many(property.name).map(\.objectID.description)
        values[property.name] = members?.sorted().joined(separator: " ")
      }
    }
    return values
  }
}

/// One run of the law.
private final class HistoryRun {
  private var random: SeededRandom
  private let coordinators: [PersistentStoreCoordinator]
  private let contexts: [ManagedObjectContext]
  private var followers = [Follower(), Follower()]
  private var saves = 0

  init(_ seed: UInt64, _ model: ManagedObjectModel, _ url: URL) throws {
    random = SeededRandom(seed: seed)
    let coordinators = try (0..<2).map { index in
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.addStore(at: url, options: StoreOptions(tracksHistory: index == 0))
      return coordinator
    }
    self.coordinators = coordinators
    contexts = (0..<4).map { index in
      let context = ManagedObjectContext(coordinators[index / 2])
      context.transactionAuthor = "author \(index)"
      return context
    }
  }

  private func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

  func run() throws {
    for _ in 0..<60 {
      let context = contexts[number(4)]
      context.mergePolicy = [.error, .mergeByPropertyObjectTrump, .overwrite][number(3)]
      do {
        try step(context)
      } catch {
        // A conflict, a unique value or an object that others deleted.
        context.rollback()
        context.reset()
      }
      if number(10) == 0 {
        let index = number(2)
        try followers[index].follow(coordinators[index])
      }
    }
    try compare()
  }

  private func any(_ entity: String, _ context: ManagedObjectContext) throws -> ManagedObject? {
    let objects = try context.fetch(FetchRequest(entity))
    return objects.isEmpty ? nil : objects[number(objects.count)]
  }

  private func step(_ context: ManagedObjectContext) throws {
    switch number(16) {
    case 0...2: try context.make("Person", ["name": "n\(number(9))", "team": any("Team", context)])
    case 3: try context.make("Employee", ["salary": Double(number(9)), "boss": any("Person", context)])
    case 4: try context.make("Team", ["name": "t\(number(9))", "tag": any("Tag", context)])
    case 5: try context.make("Tag", ["label": "l\(number(12))"])
    case 6...7: try any("Person", context)?.setValue(number(9), forKey: "age")
    case 8: try any("Person", context)?.setValue(any("Team", context), forKey: "team")
    case 9:
      guard let person = try any("Person", context), let tag = try any("Tag", context) else { return }
      let tags = try person.many("tags")
      if tags.contains(tag) { tags.remove(tag) } else { tags.insert(tag) }
    case 10:
      guard let one = try any("Person", context), let other = try any("Person", context) else { return }
      try one.many("friends").insert(other)
    case 11: if let object = try any(["Person", "Team", "Tag"][number(3)], context) { context.delete(object) }
    case 12:
      try context.execute(BatchInsertRequest("Tag", (0..<3).map { _ in ["label": "l\(number(12))"] }))
    case 13: try context.execute(BatchUpdateRequest("Person", set: ["age": .value(number(9))]))
    case 14:
      if number(3) == 0 {
        try context.execute(BatchDeleteRequest(["Team", "Tag"][number(2)]))
      } else {
        try context.execute(BatchDeleteRequest("Person", where: FetchPredicate("age == %@", number(9))))
      }
    default:
      try context.save()
      saves += 1
    }
  }

  private func compare() throws {
    for context in contexts { try? context.save() }
    let reader = ManagedObjectContext(coordinators[0])
    var stored: [String: [String: String]] = [:]
    for entity in ["Person", "Team", "Tag"] {
      for object in try reader.fetch(FetchRequest(entity)) {
        stored[object.objectID.description] = Follower.values(object)
      }
    }
    for (index, coordinator) in coordinators.enumerated() {
      try followers[index].follow(coordinator)
      #expect(Set(followers[index].objects.keys) == Set(stored.keys))
      for (name, values) in stored where followers[index].objects[name] != values {
        Issue.record("\(name) is \(values), and by the history \(followers[index].objects[name] ?? [:])")
      }
    }
    for coordinator in coordinators {
      for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
  }
}
