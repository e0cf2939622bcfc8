import Foundation
import Persist
import PersistMacrosless
import PersistTestSupport
import Testing

private enum Mood: String, Codable { case calm, wild }

private struct Stop: Codable, Hashable {
  var name: String
  var minute: Int?
}

private final class Walk: ManagedObject {
  @Attribute var name = ""
  @Attribute var tags: [String] = []
  @Attribute var moods: Set<Mood> = [.calm]
  @Attribute var stops: [Stop] = [Stop(name: "Start", minute: 0)]
  @Attribute var limits: [String: Int] = [:]
  @Attribute var notes: [String]?
}

@Suite("Arrays, sets and dictionaries as attributes")
struct CollectionValueTests {
  private func context(at url: URL) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(Walk.self))
    try coordinator.addStore(at: url)
    return ManagedObjectContext(coordinator)
  }

  @Test("A collection is empty, or has its default, and keeps what a save stores")
  func roundTrip() throws {
    try withTemporaryStore { url in
      do {
        let context = try context(at: url)
        let plain = Walk(context: context)
        plain.name = "plain"
        let full = Walk(context: context)
        full.name = "full"
        full.tags = ["a", "\"b\"", "é"]
        full.moods = [.wild, .calm]
        full.stops.append(Stop(name: "End", minute: nil))
        full.limits = ["week": 7, "day": 1]
        full.notes = []
        try context.save()
      }
      do {
        let context = try context(at: url)
        let walks = try context.fetch(Walk.sorted(by: \.name))
        #expect(walks.map(\.tags) == [["a", "\"b\"", "é"], []])
        #expect(walks.map(\.moods) == [[.wild, .calm], [.calm]])
        #expect(walks.map(\.stops.count) == [2, 1])
        #expect(walks[0].stops.last == Stop(name: "End", minute: nil))
        #expect(walks.map(\.limits) == [["week": 7, "day": 1], [:]])
        #expect(walks.map(\.notes) == [[], nil])
      }
    }
  }

  @Test("Equal sets have the same text, so that setting an equal one changes nothing")
  func equalSets() throws {
    let names = (0..<200).map { "name \($0)" }
    let texts = (0..<5).map { _ in Set(names.shuffled()).stored }
    #expect(Set(texts).count == 1)
    #expect(Set<String>(stored: texts[0]) == Set(names))
    #expect(["b": 1, "a": 2].stored == .string(#"{"a":2,"b":1}"#))
  }
}
