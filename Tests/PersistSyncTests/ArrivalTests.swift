import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistSync

/// The work of a replica for objects that it doesn't know yet, and for changed attributes.
@Suite("Synchronization: arrival")
struct ArrivalTests {
  /// Notes refer to owners, whose name comes later in the alphabet, and to the notes before them.
  private static let description = ModelDescription(entities: [
    EntityDescription(
      "Note",
      attributes: [
        .init("id", .uuid), .init("title", .string, default: "new"), .init("rank", .int64), .init("when", .date),
        .init("size", .composite, compositeName: "Size"),
      ],
      relationships: [
        .init("owner", to: "Owner", inverse: "notes"), .init("previous", to: "Note"),
      ], uniquenessConstraints: [["id"]]),
    EntityDescription(
      "Owner", attributes: [.init("id", .uuid), .init("name", .string, isOptional: false)],
      relationships: [.init("notes", toMany: "Note", inverse: "owner")]),
  ], composites: [CompositeDescription("Size", elements: [.init("width", .int32), .init("height", .int32)])])

  private static let identifiers = ["Note": "id", "Owner": "id"]

  private func device(_ name: String, _ folder: URL, _ model: ManagedObjectModel) throws -> Device {
    try Device(folder.appendingPathComponent("\(name).sqlite"), model, identifiedBy: Self.identifiers)
  }

  private func addNotes(_ count: Int, to device: Device) throws {
    let context = ManagedObjectContext(device.coordinator)
    let owners = try (0..<10).map { number in
      let owner = try context.create("Owner")
      owner["id"] = UUID()
      if number > 0 { owner["name"] = "owner \(number)" }
      return owner
    }
    var last: ManagedObject?
    for number in 0..<count {
      let note = try context.create("Note")
      (note["id"], note["rank"], note["owner"]) = (UUID(), number, owners[number % 10])
      if number % 3 > 0 { note["title"] = number % 3 == 1 ? nil : "title \(number)" }
      if number % 4 == 0 { note["size"] = ["width": number] }
      (note["when"], note["previous"]) = (Date(timeIntervalSinceReferenceDate: Double(number)), last)
      last = note
    }
    owners[0]["name"] = "first"
    try context.save()
  }

  private func statements(of device: Device, _ body: () async throws -> Void) async throws -> Int {
    let name = try #require(device.coordinator.persistentStores.first?.identifier)
    let store = try #require(device.coordinator.storesWithHistory([name]).first?.store as? SQLiteStore)
    let before = store.pool.counts.executed
    try await body()
    return store.pool.counts.executed - before
  }

  /// The statements of the arrival of notes, as a snapshot or as change sets.
  private func arrival(of count: Int, asSnapshot isSnapshot: Bool) async throws -> Int {
    try await withTemporaryFolder { folder in
      let model = try ManagedObjectModel(Self.description)
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let (one, two) = (try device("one", folder, model), try device("two", folder, model))
      try addNotes(count, to: one)
      try await one.replica.synchronize(with: hub)
      if isSnapshot { _ = try await one.replica.compact(hub, forgetting: .zero) }
      let statements = try await statements(of: two) { try await two.replica.synchronize(with: hub) }
      #expect(try two.contents() == one.contents())
      #expect(try two.contents().count == count + 10)
      #expect(try two.outdatedRows().isEmpty)
      return statements
    }
  }

  @Test("Objects arrive with little more than the statements that insert their rows", arguments: [true, false])
  func arrival(asSnapshot isSnapshot: Bool) async throws {
    let small = try await arrival(of: 300, asSnapshot: isSnapshot)
    let large = try await arrival(of: 1200, asSnapshot: isSnapshot)
    #expect(Double(large - small) / 900 <= 1.6, "\(small) \(large)")
  }

  @Test("Changed attributes are sent and applied with little more than the statements that update their rows")
  func changes() async throws {
    var costs: [Int: (send: Int, receive: Int)] = [:]
    for count in [100, 900] {
      try await withTemporaryFolder { folder in
        let model = try ManagedObjectModel(Self.description)
        let hub = FolderHub(folder.appendingPathComponent("hub"))
        let (one, two) = (try device("one", folder, model), try device("two", folder, model))
        try addNotes(1000, to: one)
        for device in [one, two] { try await device.replica.synchronize(with: hub) }
        let context = ManagedObjectContext(one.coordinator)
        let notes = try context.fetch(FetchRequest<ManagedObject>("Note"))
        for note in notes.prefix(count) { (note["title"], note["rank"]) = ("changed", nil) }
        try context.save()
        let send = try await statements(of: one) { try await one.replica.synchronize(with: hub) }
        let receive = try await statements(of: two) { try await two.replica.synchronize(with: hub) }
        #expect(try two.contents() == one.contents())
        #expect(try two.outdatedRows().isEmpty)
        costs[count] = (send, receive)
      }
    }
    let (small, large) = (try #require(costs[100]), try #require(costs[900]))
    #expect(Double(large.send - small.send) / 800 <= 0.3, "\(costs)")
    #expect(Double(large.receive - small.receive) / 800 <= 1.5, "\(costs)")
  }

  @Test("Objects that arrive in an empty store aren't looked for, unless somebody else has written meanwhile")
  func known() async throws {
    try await withTemporaryFolder { folder in
      let model = try ManagedObjectModel(Self.description)
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let (one, two) = (try device("one", folder, model), try device("two", folder, model))
      // Another program's replica of the same store.
      let other = try Replica(two.coordinator, identifiedBy: Self.identifiers)
      func possible() throws -> Int? {
        let (step, record, _) = try two.replica.work.open()
        // The keys of objects that exist, and of some that don't.
        let objects = try step.tables.allObjects().map(FactKey.prefix)
        let new = (0..<1000).map { FactKey.prefix(of: Identity(.integer($0), of: "Owner")) }
        let places = try two.replica.work.arrivals.possible(objects + new, record, step.history)
        if let places { #expect(places == Array(objects.indices)) }
        return places?.count
      }
      for round in 0..<3 {
        try addNotes(600, to: one)
        let context = ManagedObjectContext(one.coordinator)
        for note in try context.fetch(FetchRequest<ManagedObject>("Note")) where note["title"] == nil {
          note["title"] = "title \(round)"
        }
        try context.save()
        try await one.replica.synchronize(with: hub)
        try await two.replica.synchronize(with: hub)
        #expect(try two.contents() == one.contents())
        #expect(try two.contents().count == (round + 1) * 610)
        #expect(try possible() == (round + 1) * 610)
      }
      try addNotes(600, to: one)
      try await one.replica.synchronize(with: hub)
      try await other.synchronize(with: hub)
      #expect(try possible() == nil)
      try addNotes(600, to: one)
      try await one.replica.synchronize(with: hub)
      try await two.replica.synchronize(with: hub)
      #expect(try two.contents() == one.contents())
      #expect(try two.contents().count == 5 * 610)
      #expect(try two.outdatedRows().isEmpty)
    }
  }

  @Test("The parts of a snapshot have objects before those that refer to them")
  func order() async throws {
    try await withTemporaryFolder { folder in
      let model = try ManagedObjectModel(Self.description)
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let one = try device("one", folder, model)
      try addNotes(50, to: one)
      _ = try await one.replica.compact(hub, forgetting: .zero)
      var known: [String] = []
      let all = try one.replica.work.beginSnapshot()
      for range in all.ranges {
        var rest = all
        rest.ranges = [range]
        let part = try one.replica.work.facts(in: rest)
        let entities: Set<String> = Set(
          (part?.facts ?? []).compactMap { fact -> String? in
            if case .life = fact.key { try? Life(fact.value).entity } else { nil }
          })
        known += entities.sorted()
      }
      #expect(known == ["Owner", "Note"])
    }
  }
}
