import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// The law, over random saves, batches, upserts and deletions: reverting the transactions of a history one after the
/// other, the last one first, passes through every state that the store had, back to the first.
@Suite("History: reverting")
struct RevertLawTests {
  @Test("Reverting the last transactions one by one shows every earlier state again",
    .law("history-revert", short: 12, long: 2000))
  func reverting() throws { try law(.overwrite) }

  @Test("Reverting the last transactions one by one causes no conflict, which would be an error",
    .law("history-revert-error", short: 12, long: 2000))
  func revertingWithoutConflicts() throws { try law(.error) }

  /// - Parameter policy: The policy of the contexts that revert.
  private func law(_ policy: MergePolicy) throws {
    let model = try OldValuesModel.make()
    forEachSeed { seed in
      do {
        try withTemporaryStore { url in
          var run = RevertRun(seed, model, url, policy)
          try run.run()
        }
      } catch {
        Issue.record(error)
      }
    }
  }
}

/// One run of the law.
private struct RevertRun {
  private var random: SeededRandom
  private let model: ManagedObjectModel
  private let url: URL
  private let policy: MergePolicy
  /// The state after each transaction, by its number.
  private var states: [Int64: [String: [String: String]]] = [:]

  init(_ seed: UInt64, _ model: ManagedObjectModel, _ url: URL, _ policy: MergePolicy) {
    random = SeededRandom(seed: seed)
    (self.model, self.url, self.policy) = (model, url, policy)
  }

  private mutating func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

  private func open() throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.addStore(at: url, options: StoreOptions(historyKeeps: .oldValues))
    return coordinator
  }

  private func close(_ coordinator: PersistentStoreCoordinator) throws {
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  mutating func run() throws {
    let coordinator = try open()
    states[0] = try contents(coordinator)
    let context = ManagedObjectContext(coordinator)
    context.mergePolicy = .overwrite
    for _ in 0..<40 {
      do {
        for _ in 0...number(3) { try step(context) }
        try context.save()
      } catch {
        // A unique value that another object has.
        context.rollback()
      }
      if let last = try coordinator.transactions(HistoryQuery()).last?.transactionNumber {
        states[last] = try contents(coordinator)
      }
    }
    try close(coordinator)
    try revertAll()
  }

  private func revertAll() throws {
    let coordinator = try open()
    // A batch between two saves is a transaction whose state wasn't compared.
    let transactions = try coordinator.transactions()
    for transaction in transactions.reversed() {
      let context = ManagedObjectContext(coordinator)
      context.mergePolicy = policy
      try context.revert(transaction)
      try context.save()
      guard let state = states[transaction.transactionNumber - 1] else { continue }
      let now = try contents(coordinator)
      for name in Set(state.keys).union(now.keys) where state[name] != now[name] {
        Issue.record(
          """
          Before transaction \(transaction.transactionNumber) (\((transaction.changes ?? []).map(words))), \(name) was \
          \(state[name].map { "\($0)" } ?? "missing"), and now is \(now[name].map { "\($0)" } ?? "missing")
          """)
      }
      if state != now { break }
    }
    try close(coordinator)
    var problems: [StoreProblem] = []
    try checkStore(at: url, registry: nil) { problems.append($0) }
    #expect(problems.isEmpty, "\(problems)")
  }

  private mutating func any(_ entity: String, _ context: ManagedObjectContext) throws -> ManagedObject? {
    let objects = try context.fetch(FetchRequest(entity)).sorted { $0.objectID.description < $1.objectID.description }
    return objects.isEmpty ? nil : objects[number(objects.count)]
  }

  private mutating func step(_ context: ManagedObjectContext) throws {
    switch number(20) {
    case 0...2:
      try context.make(
        "Person", ["name": "n\(number(9))", "team": any("Team", context), "photo": photo(), "wealth": wealth()])
    case 3: try context.make("Employee", ["salary": Double(number(9)), "boss": any("Person", context), "code": UUID()])
    case 4: try context.make("Team", ["name": "t\(number(9))", "tag": any("Tag", context)])
    case 5: try context.make("Tag", ["label": "l\(number(12))", "chief": any("Person", context)])
    case 6:
      let person = try any("Person", context)
      try person?.setValue(number(9), forKey: "age")
      try person?.setValue(wealth(), forKey: "wealth")
      let born = Date(timeIntervalSinceReferenceDate: Double(number(99)))
      try person?.setValue(number(2) == 0 ? nil : born, forKey: "born")
    case 7:
      let person = try any("Person", context)
      let home: [String: Any]? = number(3) == 0 ? nil : ["city": "c\(number(4))", "height": Double(number(9))]
      try person?.setValue(home, forKey: "home")
      try person?.setValue(photo(), forKey: "photo")
    case 8: try any("Person", context)?.setValue(any("Team", context), forKey: "team")
    case 9: try any("Employee", context)?.setValue(any("Person", context), forKey: "boss")
    case 10: try any("Tag", context)?.setValue(any("Person", context), forKey: "chief")
    case 11...12:
      guard let person = try any("Person", context), let tag = try any("Tag", context) else { return }
      let tags = try person.many("tags")
      if tags.contains(tag) { tags.remove(tag) } else { tags.insert(tag) }
    case 13:
      guard let one = try any("Person", context), let other = try any("Person", context) else { return }
      let friends = try one.many("friends")
      if friends.contains(other) { friends.remove(other) } else { friends.insert(other) }
    case 14:
      guard let team = try any("Team", context) else { return }
      let note = try any("Note", context) ?? context.make("Note", ["text": "x"])
      if number(3) == 0 { try team.many("notes").remove(note) } else { try team.many("notes").insert(note) }
    case 15: if let object = try any(["Person", "Team", "Tag", "Note"][number(4)], context) { context.delete(object) }
    case 16:
      try saved(context)
      // Overwriting would empty one side of one-to-one relationships.
      context.mergePolicy = .mergeByPropertyObjectTrump
      defer { context.mergePolicy = .overwrite }
      try context.execute(BatchInsertRequest("Tag", (0..<3).map { _ in ["label": "l\(number(12))"] }))
    case 17:
      try saved(context)
      try context.execute(BatchUpdateRequest("Person", set: ["age": .value(number(9)), "name": .value("b")]))
    case 18:
      try saved(context)
      try context.execute(BatchDeleteRequest("Person", where: FetchPredicate("age == %@", number(9))))
    default:
      guard number(3) == 0 else { return }
      try saved(context)
      try context.execute(BatchDeleteRequest(["Team", "Tag"][number(2)]))
    }
  }

  /// Batches don't see unsaved changes, and objects don't see batches.
  private func saved(_ context: ManagedObjectContext) throws {
    try context.save()
    context.reset()
  }

  private mutating func photo() -> Data? {
    switch number(6) {
    case 0: Data(repeating: UInt8(number(9)), count: 200_000)
    case 1: Data([2, 3])
    default: nil
    }
  }

  private mutating func wealth() -> Decimal? { number(3) == 0 ? nil : Decimal(number(1000)) / 8 }
}
