import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// The law: a path over to-many relationships has one meaning, however to-one relationships, to-many relationships and
/// attributes alternate in it. In particular, a to-one relationship without a value in the middle of a path counts as
/// one member, which is null.
@Suite("Paths over collections")
struct CollectionPathTests {
  @Test("Every path of up to three keys has one meaning in SQL, in memory and for an independent interpreter")
  func paths() throws {
    let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(PlainWorld.model))
    let store = try coordinator.addInMemoryStore()
    defer { try? coordinator.remove(store) }
    var world = PlainWorld()
    var graph = WorldInContext(context: ManagedObjectContext(coordinator))
    let people = try (0..<6).map { _ in try world.insert("Person", &graph) }
    let teams = try (0..<4).map { _ in try world.insert("Team", &graph) }
    let tags = try (0..<2).map { _ in try world.insert("Tag", &graph) }
    func set(_ key: String, _ id: Int, _ other: Int?) {
      world.set(key, of: id, to: other.map(PlainValue.object) ?? .null, graph)
    }
    for (index, person) in people.enumerated() where index != 4 {
      world.set("age", of: person, to: .number([20, 30, 20, 0, 1, 40][index], isWhole: true), graph)
    }
    set("boss", people[1], people[0])
    set("boss", people[2], people[0])
    set("boss", people[3], people[2])
    for (person, team) in [(0, 0), (1, 0), (2, 1), (3, 1), (4, 2)] { set("team", people[person], teams[team]) }
    set("parent", teams[1], teams[0])
    set("parent", teams[2], teams[0])
    for (person, tag) in [(0, 0), (0, 1), (2, 0), (4, 1)] { world.toggle(tags[tag], of: people[person], graph) }
    try graph.context.save()
    graph = graph.moved(to: ManagedObjectContext(coordinator))
    try ask(graph, world)

    let newcomer = try world.insert("Person", &graph)
    set("boss", newcomer, people[3])
    set("team", newcomer, teams[2])
    set("boss", people[2], nil)
    set("parent", teams[1], nil)
    world.toggle(tags[1], of: people[3], graph)
    world.delete(people[1], &graph)
    try ask(graph, world)
  }

  private func ask(_ graph: WorldInContext, _ world: PlainWorld) throws {
    let interpreter = PlainInterpreter(world: world)
    for entity in ["Person", "Team", "Tag"] {
      for question in Self.paths(from: entity).flatMap(Self.questions) {
        let expected = Set(world.ids(entity).filter { interpreter.holds(question, for: $0) })
        var request = FetchRequest<ManagedObject>(entity)
        request.predicate = try FetchPredicate(question.format)
        let found = graph.ids(of: try graph.context.fetch(request))
        #expect(found == expected, "\(entity): \(question.format)")
      }
    }
  }

  private typealias Path = (keys: [String], entity: String)

  /// The paths of up to three relationships, at least one of which is to-many.
  private static func paths(from entity: String) -> [Path] {
    var all: [(path: Path, isToMany: Bool)] = []
    var last: [(path: Path, isToMany: Bool)] = [(([], entity), false)]
    for _ in 0..<3 {
      last = last.flatMap { start in
        let (keys, entity) = start.path
        let toOnes = (PlainWorld.toOnes[entity] ?? []).map { ((keys + [$0.name], $0.entity), start.isToMany) }
        return toOnes + (PlainWorld.toManys[entity] ?? []).map { ((keys + [$0.name], $0.entity), true) }
      }
      all += last
    }
    return all.filter(\.isToMany).map(\.path)
  }

  private static func questions(_ path: Path) -> [PlainPredicate] {
    func number(_ value: Int) -> PlainExpression { .constant(.number(.init(value), isWhole: true)) }
    let attribute = ["Person": "age", "Team": "size", "Tag": "rank"][path.entity] ?? "age"
    let objects = PlainExpression.path(variable: nil, path.keys)
    let values = PlainExpression.path(variable: nil, path.keys + [attribute])
    let count = PlainExpression.aggregate(variable: nil, path.keys, "@count", nil)
    let isNotTwenty = PlainPredicate.compare(.one, .path(variable: "m", [attribute]), .notEqual, "", number(20))
    // Nested: the members' own members.
    let innerKey = ["Person": "reports", "Team": "people", "Tag": "people"][path.entity] ?? "reports"
    let innerCount = PlainPredicate.compare(
      .one, .aggregate(variable: "m", [innerKey, "boss", "tags"], "@count", nil), .greater, "", number(1))
    return [
      .compare(.one, count, .equal, "", number(0)), .compare(.one, count, .greater, "", number(0)),
      .compare(.one, count, .greater, "", number(1)),
      .compare(.one, .aggregate(variable: nil, path.keys + [attribute], "@count", nil), .equal, "", number(2)),
      .compare(.one, .aggregate(variable: nil, path.keys, "@sum", attribute), .less, "", number(50)),
      .compare(.one, objects, .equal, "", .constant(.null)), .compare(.one, objects, .notEqual, "", .constant(.null)),
      .compare(.any, objects, .equal, "", .constant(.null)), .compare(.all, objects, .notEqual, "", .constant(.null)),
      .compare(.any, values, .notEqual, "", number(20)), .compare(.all, values, .notEqual, "", number(20)),
      .compare(.none, values, .equal, "", .constant(.null)), .compare(.one, values, .contains, "", number(20)),
      .compare(.one, .subqueryCount(variable: nil, path.keys, as: "m", isNotTwenty), .equal, "", number(1)),
      .not(.compare(.one, .subqueryCount(variable: nil, path.keys, as: "m", innerCount), .less, "", number(1))),
    ]
  }
}
