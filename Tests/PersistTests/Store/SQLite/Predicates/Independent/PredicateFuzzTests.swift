import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// The law: a predicate has one meaning. SQL, evaluation in memory, and an interpreter that shares no code with either
/// find the same objects, with and without unsaved changes, in children and after the save.
@Suite("Predicates and an independent interpreter")
struct PredicateFuzzTests {
  private static let questions = 25

  @Test(
    "Random predicates over random objects and changes",
    .law("predicate-fuzz", short: 12, long: 4000))
  func agreement() throws {
    let model = try ManagedObjectModel(PlainWorld.model)
    forEachSeed { seed in
      do { try run(seed, model) } catch { Issue.record(error) }
    }
  }

  private func run(_ seed: UInt64, _ model: ManagedObjectModel) throws {
    var generator = RandomPlainPredicate(seed: seed)
    let coordinator = PersistentStoreCoordinator(model: model)
    let store = try coordinator.addInMemoryStore()
    defer { try? coordinator.remove(store) }
    var world = PlainWorld()
    var graph = WorldInContext(context: ManagedObjectContext(coordinator))
    for entity in [
      "Person", "Person", "Person", "Person", "Person", "Team", "Team", "Team", "Tag", "Tag",
    ] {
      _ = try world.insert(entity, &graph)
    }
    for _ in 0..<80 { try change(&world, &graph, &generator, deletes: false) }
    try graph.context.save()
    let saved = world
    try ask(graph.moved(to: ManagedObjectContext(coordinator)), world, saved, &generator)
    // Changed objects, and some that haven't been loaded.
    graph = graph.moved(to: ManagedObjectContext(coordinator))
    for _ in 0..<generator.pick([1, 3, 12]) {
      try change(&world, &graph, &generator, deletes: true)
    }
    try ask(graph, world, saved, &generator)
    var child = graph.moved(to: ManagedObjectContext(parent: graph.context))
    if graph.objects.values.allSatisfy({ !$0.objectID.isTemporaryID }) {
      var below = world
      for _ in 0..<generator.pick([1, 3]) { try change(&below, &child, &generator, deletes: true) }
      if child.objects.values.allSatisfy({ !$0.objectID.isTemporaryID }) {
        try ask(child, below, world, &generator)
      }
    }
    try graph.context.save()
    try ask(graph, world, world, &generator)
    try ask(graph.moved(to: ManagedObjectContext(coordinator)), world, world, &generator)
  }

  private func change(
    _ world: inout PlainWorld, _ graph: inout WorldInContext, _ generator: inout RandomPlainPredicate,
    deletes: Bool
  ) throws {
    let entity = generator.pick(["Person", "Person", "Person", "Team", "Tag"])
    if deletes, generator.chance(8),
      let id = world.ids(entity).randomElement(using: &generator.random)
    {
      world.delete(id, &graph)
      graph.context.processPendingChanges()
      return
    }
    if deletes, generator.chance(8) {
      _ = try world.insert(entity, &graph)
      return
    }
    guard let id = world.ids(entity).randomElement(using: &generator.random) else { return }
    if generator.chance(35),
      let toOne = PlainWorld.toOnes[entity]?.randomElement(using: &generator.random)
    {
      let other =
        generator.chance(20) ? nil : world.ids(toOne.entity).randomElement(using: &generator.random)
      world.set(toOne.name, of: id, to: other.map(PlainValue.object) ?? .null, graph)
    } else if entity == "Person", generator.chance(25),
      let tag = world.ids("Tag").randomElement(using: &generator.random)
    {
      world.toggle(tag, of: id, graph)
    } else if let attribute = PlainWorld.attributes[entity]?.randomElement(using: &generator.random)
    {
      world.set(attribute.name, of: id, to: generator.value(attribute.kind, attribute.name), graph)
    }
  }

  /// Evaluates with a context, each of its objects, and the interpreter.
  private func ask(
    _ graph: WorldInContext, _ world: PlainWorld, _ saved: PlainWorld,
    _ generator: inout RandomPlainPredicate
  ) throws {
    for _ in 0..<Self.questions {
      let entity = generator.pick(["Person", "Person", "Team", "Tag"])
      let plain = generator.predicate(.init(entity: entity), depth: 3)
      let predicate = try FetchPredicate(plain.format)
      let interpreter = PlainInterpreter(world: world)
      let expected = Set(world.ids(entity).filter { interpreter.holds(plain, for: $0) })
      var request = FetchRequest<ManagedObject>(entity)
      request.predicate = predicate
      let inMemory = try Set(
        world.ids(entity).filter { id in
          try graph.objects[id].map { try predicate.evaluate(with: $0) } ?? false
        })
      #expect(inMemory == expected, "in memory, \(entity): \(plain.format)")
      let found = try graph.context.fetch(request)
      #expect(graph.ids(of: found) == expected, "fetched, \(entity): \(plain.format)")
      #expect(
        try graph.context.count(for: request) == expected.count, "counted, \(entity): \(plain.format)")
      guard graph.context.hasChanges, generator.chance(30) else { continue }
      request.includesPendingChanges = false
      let before = PlainInterpreter(world: saved)
      let count = saved.ids(entity).filter { before.holds(plain, for: $0) }.count
      #expect(try graph.context.count(for: request) == count, "as saved, \(entity): \(plain.format)")
    }
  }
}
