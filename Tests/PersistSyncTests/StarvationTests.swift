import Foundation
import Persist
import PersistTestSupport
import Testing

@testable import PersistSync

/// A synchronization ends after a bounded number of attempts, whatever programs save meanwhile.
@Suite("Synchronization: while programs save all the time")
struct StarvationTests {
  /// What has changed before the program begins to save all the time.
  enum Changes: CaseIterable {
    case none, values, relationships, deletions, references
  }

  /// What the program saves.
  enum Saves: CaseIterable {
    case newObjects, sameObject, throughChild
  }

  /// More attempts than each of the steps of an exchange needs.
  private static let bound = 150

  /// Sends what each device has to the other.
  private func exchange(_ devices: [Device]) throws {
    for (index, device) in devices.enumerated() {
      let record = try device.replica.work.capture().record
      while case let unsent = try device.replica.work.unsent(), !unsent.isEmpty {
        _ = try devices[1 - index].replica.work.apply(unsent.map { try ChangeSet($0.data) })
        try device.replica.work.removeSent(unsent.map(\.number), of: record.id)
      }
    }
  }

  private func items(_ context: ManagedObjectContext) throws -> [ManagedObject] {
    try context.fetch(FetchRequest<ManagedObject>("Item", sortedBy: "name"))
  }

  private func fill(_ device: Device, _ count: Int) throws {
    let context = ManagedObjectContext(device.coordinator)
    let boxes = try (0..<10).map { number in
      let box = try context.create("Box")
      box["label"] = "box \(number)"
      return box
    }
    for number in 0..<count {
      let item = try context.create("Item")
      (item["id"], item["name"], item["box"]) = (UUID(), "item \(10_000 + number)", boxes[number % 10])
      if number < 10 { boxes[number]["first"] = item }
    }
    try context.save()
  }

  /// - Parameter number: The number of the device.
  private func change(_ device: Device, _ number: Int, _ changes: Changes) throws {
    let context = ManagedObjectContext(device.coordinator)
    let items = try items(context)
    switch changes {
    case .none: break
    case .values:
      for item in items { item[["name", "price"][number]] = [("changed " as Any), 2.5 as Decimal][number] }
    case .relationships:
      let boxes = try context.fetch(FetchRequest<ManagedObject>("Box", sortedBy: "label"))
      for (place, item) in items.enumerated() where place % 2 == number {
        item["box"] = boxes[(place / 10) % 10]
        try item.many("friends").insert(items[(place + 7) % items.count])
      }
    case .deletions: for item in items.dropFirst(50 * number).prefix(50) { context.delete(item) }
    // Rows that still refer to them without an inverse are changed with the capture.
    case .references: for item in items.dropFirst(5 * number).prefix(5) { context.delete(item) }
    }
    try context.save()
  }

  private func save(_ saves: Saves, _ coordinator: PersistentStoreCoordinator) -> @Sendable (Int) throws -> Void {
    { number in
      let parent = ManagedObjectContext(coordinator)
      let context = saves == .throughChild ? ManagedObjectContext(parent: parent) : parent
      let first = try context.fetch(FetchRequest<ManagedObject>("Item", sortedBy: "name")).first
      if saves == .sameObject, let item = first {
        (item["flag"], item["when"]) = (number % 2 == 0, Date(timeIntervalSinceReferenceDate: Double(number)))
      } else {
        let item = try context.create("Item")
        (item["id"], item["name"]) = (UUID(), "program \(number)")
      }
      do {
        try context.save()
        if context !== parent { try parent.save() }
      } catch let error as PersistenceError where error.code == .mergeConflict {
        // What was applied has changed the same object.
      }
    }
  }

  // With PERSIST_TEST_ENGINE=postgresql, the store of the program is on a server.
  @Test("Changes are captured and applied after few attempts", arguments: Changes.allCases, Saves.allCases)
  func exchanges(changes: Changes, saves: Saves) throws {
    try withTemporaryStore { url in
      try withTemporaryFolder { folder in
        let (model, program) = (try ManagedObjectModel(SyncModel.description), DisturbingProgram())
        let device = try Device(url, model, identifiedBy: SyncModel.identifiers, sources: program.sources)
        let other = try Device(folder.appendingPathComponent("b.sqlite"), model, identifiedBy: SyncModel.identifiers)
        try fill(device, 200)
        for _ in 0..<2 { try exchange([device, other]) }
        for (number, device) in [device, other].enumerated() { try change(device, number, changes) }
        program.begin(save(saves, device.coordinator))
        try exchange([device, other])
        #expect(program.attempts <= Self.bound)
        program.end()
        #expect(program.saves > 0 || changes == .none)
        #expect(program.errors == [])
        for _ in 0..<2 { try exchange([device, other]) }
        #expect(try device.contents() == other.contents())
        for device in [device, other] { try device.close() }
      }
    }
  }

  @Test("A first synchronization and the arrival of a snapshot end after few attempts", arguments: [0, 2500])
  func beginning(count: Int) throws {
    try withTemporaryStore { url in
      try withTemporaryFolder { folder in
        let (model, program) = (try ManagedObjectModel(SyncModel.description), DisturbingProgram())
        let device = try Device(url, model, identifiedBy: SyncModel.identifiers, sources: program.sources)
        let other = try Device(folder.appendingPathComponent("b.sqlite"), model, identifiedBy: SyncModel.identifiers)
        if count > 0 { try fill(device, count) }
        try fill(other, 800)
        program.begin(save(.newObjects, device.coordinator))
        try exchange([device, other])
        #expect(program.attempts <= Self.bound)
        program.end()
        #expect(program.saves > 0 && program.errors == [])
        for _ in 0..<2 { try exchange([device, other]) }
        #expect(try device.contents() == other.contents())
        for device in [device, other] { try device.close() }
      }
    }
  }

  @Test("Programs that save without a pause, one of them with a coordinator of its own, delay no synchronization")
  func withoutPause() async throws {
    try await withTemporaryFolder { folder in
      let (model, counter) = (try ManagedObjectModel(SyncModel.description), DisturbingProgram())
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let url = folder.appendingPathComponent("a.sqlite")
      let device = try Device(url, model, identifiedBy: SyncModel.identifiers, sources: counter.sources)
      let other = try Device(folder.appendingPathComponent("b.sqlite"), model, identifiedBy: SyncModel.identifiers)
      let second = try Device(url, model, identifiedBy: SyncModel.identifiers)
      try fill(device, 300)
      for device in [device, other] { try await device.replica.synchronize(with: hub) }
      for (number, device) in [device, other].enumerated() { try change(device, number, .relationships) }
      try await other.replica.synchronize(with: hub)
      let isOver = LockProtected(false)
      let replica = device.replica
      try await withThrowingTaskGroup(of: Int.self) { group in
        for coordinator in [device.coordinator, device.coordinator, second.coordinator] {
          let save = save(.newObjects, coordinator)
          group.addTask {
            var count = 0
            while !isOver.withLock({ $0 }) {
              try save(count)
              count += 1
              await Task.yield()
            }
            return count
          }
        }
        group.addTask {
          defer { isOver.withLock { $0 = true } }
          for _ in 0..<3 {
            let before = counter.attempts
            try await replica.synchronize(with: hub)
            #expect(counter.attempts - before <= Self.bound)
          }
          return 0
        }
        let saves = try await group.reduce(0, +)
        #expect(saves > 3)
      }
      for device in [device, other, device, other] { try await device.replica.synchronize(with: hub) }
      #expect(try device.contents() == other.contents())
      for device in [device, other, second] { try device.close() }
    }
  }

  @Test("Devices of a user are served while the server's own program saves")
  func server() async throws {
    try await withTemporaryFolder { folder in
      let (model, program) = (try ManagedObjectModel(SyncModel.description), DisturbingProgram())
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let server = try Device(
        folder.appendingPathComponent("server.sqlite"), model, identifiedBy: SyncModel.identifiers,
        sources: program.sources)
      let device = try Device(folder.appendingPathComponent("a.sqlite"), model, identifiedBy: SyncModel.identifiers)
      try fill(server, 60)
      let (all, unflagged) = (FetchPredicate(value: true), try FetchPredicate("flag == nil OR flag == NO"))
      let scoped = try ScopedHub(
        hub, server: server.replica, user: "ann",
        scope: SyncScope(["Item": .init(reading: unflagged, writing: all), "Box": .init(reading: all, writing: all)]))
      try await device.replica.synchronize(with: scoped)
      #expect(try items(ManagedObjectContext(device.coordinator)).count == 60)
      let context = ManagedObjectContext(server.coordinator)
      for item in try items(context).prefix(10) { item["flag"] = true }
      try context.save()
      try change(device, 0, .values)
      program.begin(save(.newObjects, server.coordinator))
      for _ in 0..<2 { try await device.replica.synchronize(with: scoped) }
      #expect(program.attempts <= 4 * Self.bound)
      program.end()
      #expect(program.saves > 0 && program.errors == [])
      try await device.replica.synchronize(with: scoped)
      let present = try items(ManagedObjectContext(device.coordinator))
      #expect(present.count == 50 + program.saves)
      let changed = try items(ManagedObjectContext(server.coordinator)).filter { $0["name"] as? String == "changed " }
      #expect(changed.count == 60)
      for device in [device, server] { try device.close() }
    }
  }

  @Test("A compaction ends after few attempts")
  func compaction() async throws {
    try await withTemporaryFolder { folder in
      let (model, program) = (try ManagedObjectModel(SyncModel.description), DisturbingProgram())
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let device = try Device(
        folder.appendingPathComponent("a.sqlite"), model, identifiedBy: SyncModel.identifiers, sources: program.sources)
      let other = try Device(folder.appendingPathComponent("b.sqlite"), model, identifiedBy: SyncModel.identifiers)
      try fill(device, 200)
      for device in [device, other] { try await device.replica.synchronize(with: hub) }
      try change(device, 0, .deletions)
      program.begin(save(.newObjects, device.coordinator))
      try await device.replica.compact(hub, forgetting: .seconds(1000))
      #expect(program.attempts <= Self.bound)
      program.end()
      #expect(program.saves > 0 && program.errors == [])
      let new = try Device(folder.appendingPathComponent("c.sqlite"), model, identifiedBy: SyncModel.identifiers)
      for device in [device, other, new] { try await device.replica.synchronize(with: hub) }
      for other in [other, new] { #expect(try device.contents() == other.contents()) }
      for device in [device, other, new] { try device.close() }
    }
  }
}
