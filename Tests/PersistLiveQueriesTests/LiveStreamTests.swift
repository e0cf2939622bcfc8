import Foundation
import Persist
import PersistLiveQueries
import PersistTestSupport
import Testing

@Suite("Live queries of a container", .timeLimit(.minutes(5)))
struct LiveStreamTests {
  private func withContainer(_ body: (URL, PersistentContainer) async throws -> Void) async throws {
    try await withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("Store.sqlite")
      try await body(url, Self.container(url))
    }
  }

  private static func container(_ url: URL) throws -> PersistentContainer {
    let container = PersistentContainer(name: "Store", model: try ManagedObjectModel(LiveQueryTests.model))
    try container.persistentStoreCoordinator.addStore(at: url, options: StoreOptions(tracksHistory: true))
    return container
  }

  @Test("Any task receives the values of a request, a count and a closure")
  func values() async throws {
    try await withContainer { url, container in
      var request = FetchRequest<FetchedRow>("Book", sortedBy: "title")
      request.propertiesToFetch = ["title"]
      var rows = container.live(request).makeAsyncIterator()
      var counts = container.liveCount(of: request).makeAsyncIterator()
      var longest = container.live(entities: ["Book"]) { context in
        try context.fetch(FetchRequest("Book")).map { ($0["title"] as? String ?? "").count }.max() ?? 0
      }.makeAsyncIterator()
      #expect(try await rows.next()?.count == 0)
      #expect(try await counts.next() == 0)
      #expect(try await longest.next() == 0)
      try await container.performBackgroundTask { try LiveQueryTests.add("Novel", "Emma", in: $0) }
      #expect(try await rows.next()?.map { $0["title"] as? String } == ["Emma"])
      #expect(try await counts.next() == 1)
      #expect(try await longest.next() == 4)
      try await Self.container(url).performBackgroundTask { try LiveQueryTests.add("Book", "Persuasion", in: $0) }
      #expect(try await counts.next() == 2)
      #expect(try await longest.next() == 10)
    }
  }

  /// Three writers save at random, a reader is told of it: what it has last is what the store has, and there are no
  /// more elements than saves.
  @Test("After the last save, the last element is what a fetch finds", arguments: 0..<5)
  func law(seed: UInt64) async throws {
    try await withContainer { url, container in
      let saves = 40
      let containers = [container, container, try Self.container(url)]
      let writers = Task {
        try await withThrowingTaskGroup(of: Void.self) { group in
          for (index, container) in containers.enumerated() {
            group.addTask {
              var random = SeededRandom(seed: seed &* 3 &+ UInt64(index))
              for number in 0..<saves {
                let entity = ["Book", "Novel", "Film", "Shelf"].randomElement(using: &random) ?? "Book"
                let deletes = Bool.random(using: &random) && Bool.random(using: &random)
                try await container.write { context in
                  // The others delete, too.
                  context.mergePolicy = .mergeByPropertyObjectTrump
                  if deletes, let book = try context.fetch(FetchRequest("Book")).first {
                    context.delete(book)
                    try context.save()
                  } else if entity == "Shelf" {
                    _ = try context.create("Shelf")
                    try context.save()
                  } else {
                    try LiveQueryTests.add(entity, "\(index) \(number)", in: context)
                  }
                }
              }
            }
          }
          try await group.waitForAll()
        }
        try await container.write { try LiveQueryTests.add("Book", "end", in: $0) }
      }
      var request = FetchRequest<FetchedRow>("Book", sortedBy: "title")
      request.propertiesToFetch = ["title"]
      let stream = container.live(request)
      let reader = Task {
        var (elements, last) = (0, [String]())
        for try await rows in stream {
          elements += 1
          last = rows.map { $0["title"] as? String ?? "" }
          if last.contains("end") { break }
        }
        return (elements, last)
      }
      do { try await writers.value } catch {
        reader.cancel()
        throw error
      }
      let (elements, last) = try await reader.value
      let found = try await container.read { context in
        try context.fetch(FetchRequest("Book", sortedBy: "title")).map { $0["title"] as? String ?? "" }
      }
      #expect(last == found)
      #expect(elements <= 3 * saves + 2)
    }
  }
}
