import Foundation
import PersistTestSupport
import PersistTools
import Testing

@testable import Persist
@testable import PersistCore

/// The law, over random edits and deletions of one graph by contexts that don't know of each other's saves: whatever
/// the merge policies let through, relationships in the store lead to rows that exist, and their two sides agree.
@Suite("Law of shared graphs")
struct SharedGraphLawTests {
  @Test(
    "Whatever contexts save over each other, the store's relationships agree",
    .law("shared-graphs", short: 60, long: 6000))
  func law() throws {
    let model = try ManagedObjectModel(RandomGraph.model)
    forEachSeed { seed in
      try withTemporaryStore { url in
        var run = try SharedGraphRun(seed, TestStack(model, at: url))
        for _ in 0..<60 { try run.step() }
        try run.end()
      }
    }
  }
}

private struct SharedGraphRun {
  private let stack: TestStack
  private var random: SeededRandom
  private var graphs: [RandomGraph]
  private var trail: [String] = []

  init(_ seed: UInt64, _ stack: TestStack) throws {
    self.stack = stack
    random = SeededRandom(seed: seed)
    graphs = (0..<3).map { RandomGraph(stack.context(), seed: seed &* 3 &+ $0) }
    for _ in 0..<20 { try graphs[0].edit() }
    try? graphs[0].context.save()
  }

  mutating func step() throws {
    let index = Int.random(in: 0..<graphs.count, using: &random)
    let context = graphs[index].context
    switch Int.random(in: 0..<10, using: &random) {
    case 0, 1: try read(index)
    case 2...6: for _ in 0..<3 { try graphs[index].edit() }
    case 7:
      context.refreshAllObjects()
      trail.append("refresh \(index)")
    default: try save(index)
    }
  }

  /// Makes the objects known to a context, with some of their values and members.
  private mutating func read(_ index: Int) throws {
    graphs[index].objects = try RandomGraph.everything(in: graphs[index].context)
    for object in graphs[index].objects where Bool.random(using: &random) {
      _ = object["name"]
      guard let relationship = object.layout.relationships.randomElement(using: &random) else { continue }
      if relationship.isToMany {
        _ = try object.many(relationship.name).count
      } else {
        _ = object.one(relationship.name)
      }
    }
    trail.append("read \(index)")
  }

  private mutating func save(_ index: Int) throws {
    let context = graphs[index].context
    let policies = [MergePolicy.error] + MergePolicy.settling
    context.mergePolicy = policies[Int.random(in: 0..<policies.count, using: &random)]
    trail.append("save \(index) by \(context.mergePolicy.mergeType): \(words(context))")
    do {
      try context.save()
    } catch {
      context.rollback()
      context.refreshAllObjects()
      trail.append("failed")
    }
    let reader = stack.context()
    let disagreements = try GraphState.disagreements(RandomGraph.everything(in: reader))
    try #require(disagreements.isEmpty, "\(disagreements); \(trail.suffix(12))")
  }

  /// A context's changes in words, such as `Node 1 updated: spouse nil → Leaf 4`.
  private func words(_ context: ManagedObjectContext) -> String {
    func word(_ value: Any?) -> String {
      switch value {
      case let object as ManagedObject: object.objectID.uriRepresentation().path
      case let objects as Set<ManagedObject>: "\(objects.map { word($0) }.sorted())"
      case let objects as OrderedSet<ManagedObject>: "\(objects.map { word($0) })"
      case let value?: "\(value)"
      case nil: "nil"
      }
    }
    let changed = context.insertedObjects.union(context.updatedObjects).union(context.deletedObjects)
    return changed.map { object in
      let old = object.committedValues(forKeys: nil)
      let values = object.changedValues().sorted { $0.key < $1.key }.map { name, value in
        "\(name) \(word(old[name] ?? nil)) → \(word(value))"
      }
      return "\(word(object)) \(object.change): \(values.joined(separator: ", "))"
    }.sorted().joined(separator: "; ")
  }

  /// Checks the file itself.
  mutating func end() throws {
    for index in graphs.indices { try save(index) }
    try stack.store.close()
    guard stack.url.isFileURL else { return }
    var problems: [StoreProblem] = []
    _ = try StoreCheck.check(storeAt: stack.url) { if !$0.isHarmless { problems.append($0) } }
    try #require(problems.isEmpty, "\(problems); \(trail.suffix(12))")
  }
}
