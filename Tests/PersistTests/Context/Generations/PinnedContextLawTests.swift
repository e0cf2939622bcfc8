import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Everything that the objects of a context's stores show, by their identifiers.
private func contents(_ context: ManagedObjectContext) throws -> [String: [String: String]] {
  var found: [String: [String: String]] = [:]
  for entity in ["Person", "Team", "Tag"] {
    for object in try context.fetch(FetchRequest(entity)) {
      var values: [String: String] = [:]
      for property in object.entity.properties {
        if property.name == "photo" {
          values["photo"] = (object["photo"] as? Data).map { "\($0.count) of \($0.first ?? 0)" } ?? "nil"
        } else if property.attribute != nil {
          values[property.name] = "\(object[property.name] ?? "nil")"
        } else if property.isToMany {
          values[property.name] = try object.many(property.name).map(\.objectID.description).sorted().joined()
        } else {
          values[property.name] = object.one(property.name)?.objectID.description ?? "nil"
        }
      }
      found[object.objectID.description] = values
    }
  }
  return found
}
@Suite("Query generations: one state")
struct QueryGenerationLawTests {
  @Test("A pinned context shows one state of the store", .law("pinned-context", short: 12, long: 1500))
  func oneState() throws {
    let model = try HistoryModel.make()
    forEachSeed { seed in
      do {
        try withTemporaryStore { url in try GenerationRun(seed, model, url).run() }
      } catch {
        Issue.record(error)
      }
    }
  }
}

private final class GenerationRun {
  private var random: SeededRandom
  private let coordinators: [PersistentStoreCoordinator]

  init(_ seed: UInt64, _ model: ManagedObjectModel, _ url: URL) throws {
    random = SeededRandom(seed: seed)
    coordinators = try (0..<2).map { _ in
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.addStore(at: url)
      return coordinator
    }
  }

  private func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

  private func any(_ entity: String, _ context: ManagedObjectContext) throws -> ManagedObject? {
    let objects = try context.fetch(FetchRequest(entity))
    return objects.isEmpty ? nil : objects[number(objects.count)]
  }

  /// Saves and batch operations, by one of the coordinators.
  private func write() throws {
    let context = ManagedObjectContext(coordinators[number(2)])
    context.mergePolicy = .mergeByPropertyObjectTrump
    for _ in 0...number(4) {
      switch number(11) {
      case 0...1:
        let person = try context.make("Person", ["age": number(9), "team": any("Team", context)])
        if number(2) == 0 { person["photo"] = Data(repeating: UInt8(number(200)), count: 1 + number(2) * 200_000) }
      case 2: try context.make("Employee", ["salary": Double(number(9)), "boss": any("Person", context)])
      case 3: try context.make("Team", ["name": "t\(number(9))", "tag": any("Tag", context)])
      case 4: try context.make("Tag", ["label": "l\(number(30))"])
      case 5: try any("Person", context)?.setValue(number(9), forKey: "age")
      case 6: try any("Person", context)?.setValue(any("Team", context), forKey: "team")
      case 7:
        guard let person = try any("Person", context), let tag = try any("Tag", context) else { continue }
        try person.many("tags").insert(tag)
      case 8: if let object = try any(["Person", "Tag"][number(2)], context) { context.delete(object) }
      case 9: try context.execute(BatchUpdateRequest("Person", set: ["age": .value(number(9))]))
      default: try context.execute(BatchDeleteRequest("Tag", where: FetchPredicate("team == nil")))
      }
    }
    try context.save()
  }

  func run() throws {
    for _ in 0..<3 { try write() }
    let context = ManagedObjectContext(coordinators[0])
    try context.setQueryGeneration(from: .current)
    for _ in 0..<6 {
      let expected = try contents(ManagedObjectContext(coordinators[0]))
      let people = try context.fetch(FetchRequest<ManagedObjectID>("Person"))
      for _ in 0..<5 {
        for _ in 0..<number(3) { try write() }
        try #expect(context.count(for: FetchRequest("Person")) == people.count)
        guard let id = people.randomElement(using: &random) else { continue }
        let person = context.object(with: id)
        let (age, tags) = ("\(person["age"] ?? "nil")", try person.many("tags").map(\.objectID.description).sorted())
        #expect(age == expected[id.description]?["age"])
        #expect(tags.joined() == expected[id.description]?["tags"])
        let wanted = number(9)
        let found = try context.fetch(FetchRequest("Person", where: "age == %@", wanted)).map(\.objectID.description)
        #expect(Set(found) == Set(expected.filter { $0.value["age"] == "\(wanted)" }.keys))
      }
      try #expect(contents(context) == expected)
      // Each of these reads the newest state with the values of all objects.
      switch number(3) {
      case 0: context.reset()
      case 1: context.refreshAllObjects()
      default:
        try context.setQueryGeneration(from: .current)
        context.refreshAllObjects()
      }
      try #expect(contents(context) == contents(ManagedObjectContext(coordinators[0])))
      context.reset()
    }
    for coordinator in coordinators {
      for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
  }
}
