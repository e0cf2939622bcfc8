import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// One-to-one relationships that change hands in a child: whoever is related and deleted in whichever order, the child
/// before its save, its parents after it, and the store show the same pairs.
@Suite("Partners that change in child contexts")
struct ChildPartnerTests {
  private static let oneToOnes = PlainSchema.relationships.filter { side in
    !side.isToMany && PlainSchema.inverse(of: side)?.isToMany == false
  }

  @Test(
    "A child, its parents and the store agree on partners that were exchanged and deleted in a child",
    .law("child-partners", short: 60, long: 20_000))
  func partners() {
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      try withStack(PlainSchema.model) { stack in try Self.run(stack, &random) }
    }
  }

  private static func run(_ stack: TestStack, _ random: inout SeededRandom) throws {
    let root = stack.context()
    var run = Run(context: root, random: random)
    defer { random = run.random }
    for _ in 0..<5 { run.make() }
    for _ in 0..<3 { try run.relate() }
    // Objects with and without rows.
    if run.chance(3) { try root.save() }
    if run.chance(2) { run.make() }
    if run.chance(2) { try run.relate() }
    let depth = Int.random(in: 1...3, using: &run.random)
    var contexts = [root]
    for _ in 0..<depth { contexts.append(ManagedObjectContext(parent: contexts[contexts.count - 1])) }
    for context in contexts.dropFirst() {
      run.move(to: context)
      for _ in 0..<Int.random(in: 1...6, using: &run.random) { try run.step() }
    }
    var wanted = try PlainObjects(fetching: run.context).state()
    for (level, context) in contexts.enumerated().reversed() {
      let trace = "level \(level) of \(depth) after \(run.log.joined(separator: ", "))"
      if let error = persistError({ try context.save() }) {
        // Denied, and with it everything above.
        return try demand(
          [.validationDeleteDenied, .validationMultiple].contains(error.code), "\(error) at \(trace)")
      }
      let above = level > 0 ? contexts[level - 1] : stack.context()
      try demand(PlainObjects(fetching: context).state(), is: wanted, "the saved \(trace)")
      try demand(PlainObjects(fetching: above).state(), is: wanted, "what is above \(trace)")
      wanted = try PlainObjects(fetching: above).state()
    }
  }

  /// Random changes of pairs, recorded for messages.
  private struct Run {
    private(set) var context: ManagedObjectContext
    var random: SeededRandom
    private(set) var log: [String] = []
    private var objects: [ManagedObject] = []
    private let sides: [PlainRelationship]
    private var count = 0

    init(context: ManagedObjectContext, random: SeededRandom) {
      self.context = context
      self.random = random
      let first = ChildPartnerTests.oneToOnes.randomElement(using: &self.random)
      sides = first.map { [$0] + (PlainSchema.inverse(of: $0).map { [$0] } ?? []) } ?? []
    }

    mutating func chance(_ of: Int) -> Bool { Int.random(in: 0..<of, using: &random) == 0 }

    mutating func move(to child: ManagedObjectContext) {
      log.append("child")
      objects = objects.filter { !$0.isDeleted && $0.managedObjectContext === context }
        .map { child.object(with: $0.objectID) }
      context = child
    }

    mutating func make() {
      let entity = sides.map(\.entity).randomElement(using: &random) ?? "Node"
      guard let object = try? context.create(entity) else { return }
      count += 1
      object["name"] = "\(count)"
      objects.append(object)
      log.append("make \(count)")
    }

    mutating func step() throws {
      switch Int.random(in: 0..<10, using: &random) {
      case 0: make()
      case 1...3: try delete()
      case 4: context.processPendingChanges()
      default: try relate()
      }
    }

    private func alive(_ entity: String) -> [ManagedObject] {
      objects.filter { !$0.isDeleted && $0.managedObjectContext === context && $0.entity.name == entity }
    }

    private mutating func delete() throws {
      guard let object = alive(sides.map(\.entity).randomElement(using: &random) ?? "").randomElement(using: &random)
      else { return }
      log.append("delete \(object.label)")
      context.delete(object)
    }

    mutating func relate() throws {
      guard let side = sides.randomElement(using: &random), let owner = alive(side.entity).randomElement(using: &random)
      else { return }
      let other = chance(6) ? nil : alive(side.destination).randomElement(using: &random)
      log.append("\(owner.label).\(side.name) = \(other?.label ?? "none")")
      owner[side.name] = other
    }
  }
}
