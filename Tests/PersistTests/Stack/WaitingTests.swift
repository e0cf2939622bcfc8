import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Waiting for a store")
struct WaitingTests {
  /// A container over a file, and a connection that represents another process.
  private final class Scene {
    let folder: URL
    let container: PersistentContainer
    let other: SQLiteConnection

    init(busyTimeout: Duration = .seconds(1800)) throws {
      folder = FileManager.default.temporaryDirectory.appendingPathComponent("Persist-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let url = folder.appendingPathComponent("Store.sqlite")
      container = try PersistentContainer(
        at: url, model: ManagedObjectModel(SampleModels.people), options: StoreOptions(busyTimeout: busyTimeout))
      other = try SQLiteConnection(url, mode: .readWrite)
    }

    func end() {
      other.close()
      try? FileManager.default.removeItem(at: folder)
    }
  }

  private func count(_ container: PersistentContainer) throws -> Int {
    try container.newContext().count(for: FetchRequest("Person"))
  }

  @MainActor private func namesInView(_ container: PersistentContainer) throws -> [String] {
    try container.viewContext.names("Person")
  }

  /// Expects an error of a kind.
  private func expect(
    _ code: PersistenceError.Code, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void
  ) async {
    do {
      try await body()
      Issue.record("Nothing was thrown.")
    } catch let error as PersistenceError {
      #expect(error.code == code)
    } catch {
      Issue.record(error)
    }
  }

  @Test("Closures that wait for another process's lock leave threads to Swift's tasks")
  func tasksGoOn() async throws {
    let scene = try Scene()
    defer { scene.end() }
    let (container, other) = (scene.container, scene.other)
    try other.execute(.beginWriting)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<64 {
        group.addTask {
          let save: @Sendable (ManagedObjectContext) throws -> Void = { context in
            try context.make("Person", ["name": "\(number)"])
            try context.save()
          }
          switch number % 3 {
          case 0: try await container.performBackgroundTask(save)
          case 1: try await container.write(save)
          default: try await Keeper(container).add("\(number)")
          }
        }
      }
      // The lock is released by a task: if the closures occupied the threads of tasks, they would wait forever.
      for _ in 0..<20 { try await Task.sleep(for: .milliseconds(5)) }
      let seen = try await container.read { try $0.count(for: FetchRequest("Person")) }
      #expect(seen == 0)
      try other.execute(.commit)
      try await group.waitForAll()
    }
    try #expect(count(container) == 64)
  }

  @Test("Long reads leave threads to tasks and writers")
  func readersDontStop() async throws {
    let scene = try Scene()
    defer { scene.end() }
    let container = scene.container
    let gate = LockProtected(false)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<StoreThreads.readingLanes {
        group.addTask {
          try await container.read { _ in while !gate.withLock({ $0 }) { Thread.sleep(forTimeInterval: 0.001) } }
        }
      }
      try await container.save { _ = try $0.make("Person", ["name": "Ann"]) }
      let ninth = Task { try await container.read { try $0.count(for: FetchRequest("Person")) } }
      for _ in 0..<5 { try await Task.sleep(for: .milliseconds(2)) }
      gate.withLock { $0 = true }
      try await #expect(ninth.value == 1)
      try await group.waitForAll()
    }
  }

  @Test("Closures that write run one after another, in the order of the calls")
  func writingLane() async throws {
    let scene = try Scene()
    defer { scene.end() }
    let container = scene.container
    let running = LockProtected(0)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<20 {
        group.addTask {
          try await container.save { context in
            let others = running.withLock { now in
              now += 1
              return now - 1
            }
            #expect(others == 0)
            try context.make("Person", ["name": "\(number)"])
            running.withLock { $0 -= 1 }
          }
        }
      }
      try await group.waitForAll()
    }
    try #expect(count(container) == 20)
  }

  @Test("A save waits for its own process and for others no longer than busyTimeout in total")
  func wholeWait() async throws {
    let scene = try Scene(busyTimeout: .seconds(2))
    defer { scene.end() }
    let (container, other) = (scene.container, scene.other)
    try other.execute(.beginWriting)
    let waits = LockProtected<[Duration]>([])
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          await expect(.storeBusy) {
            try await container.performBackgroundTask { context in
              try context.make("Person")
              // Measured here, because the tasks of other tests may delay this one.
              let started = ContinuousClock.now
              defer { waits.withLock { $0.append(.now - started) } }
              try context.save()
            }
          }
        }
      }
    }
    // One after another, the last of them would take 16 s.
    #expect(waits.withLock { $0.count } == 8 && waits.withLock { $0.max() ?? .zero } < .seconds(14))
    try other.execute(.rollback)
    try #expect(count(container) == 0)
  }

  @Test("Canceling a task ends its wait for another process, and work that hadn't begun isn't saved")
  func cancelling() async throws {
    let scene = try Scene()
    defer { scene.end() }
    let (container, other) = (scene.container, scene.other)
    try other.execute(.beginWriting)
    let begun = LockProtected(0)
    let tasks = (0..<4).map { number in
      Task {
        try await container.save { context in
          begun.withLock { $0 += 1 }
          try context.make("Person", ["name": "\(number)"])
        }
      }
    }
    while begun.withLock({ $0 }) == 0 { try await Task.sleep(for: .milliseconds(1)) }
    let started = ContinuousClock.now
    for task in tasks { task.cancel() }
    for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
    #expect(ContinuousClock.now - started < .seconds(900))
    #expect(begun.withLock { $0 } == 1)
    try other.execute(.rollback)
    try #expect(count(container) == 0)
  }

  @Test("A plain save in a canceled task doesn't wait, and keeps its changes")
  func plainSave() async throws {
    let scene = try Scene()
    defer { scene.end() }
    let (container, other) = (scene.container, scene.other)
    try other.execute(.beginWriting)
    let task = Task {
      let context = container.newContext()
      try context.make("Person", ["name": "Ann"])
      while !Task.isCancelled { await Task.yield() }
      #expect(throws: CancellationError.self) { try context.save() }
      #expect(context.hasChanges)
    }
    task.cancel()
    try await task.value
    try other.execute(.rollback)
  }

  @Test("An awaited save doesn't block its actor while it waits, and saves changes made in the meantime")
  @MainActor
  func awaitedSave() async throws {
    let scene = try Scene()
    defer { scene.end() }
    let (container, other) = (scene.container, scene.other)
    let view = container.viewContext
    try view.make("Person", ["name": "Ann"])
    try other.execute(.beginWriting)
    let save = Task { @MainActor in try await view.save(within: .seconds(1800)) }
    for _ in 0..<10 { try await Task.sleep(for: .milliseconds(2)) }
    #expect(view.hasChanges)
    try view.make("Person", ["name": "Ben"])
    try other.execute(.commit)
    try await save.value
    #expect(!view.hasChanges)
    #expect(try container.newContext().names("Person") == ["Ann", "Ben"])
    // The right to write was released.
    try await container.save { _ = try $0.make("Person", ["name": "Cid"]) }
    try other.execute(.beginWriting)
    try other.execute(.rollback)
  }

  @Test("An awaited save that waits too long, is canceled or fails writes nothing and keeps all changes")
  @MainActor
  func awaitedSaveFails() async throws {
    let scene = try Scene()
    defer { scene.end() }
    let (container, other) = (scene.container, scene.other)
    let view = container.viewContext
    try view.make("Person", ["name": "Ann"])
    try other.execute(.beginWriting)
    await expect(.storeBusy) { try await view.save(within: .milliseconds(30)) }
    let cancelled = Task { @MainActor in try await view.save(within: .seconds(1800)) }
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    try other.execute(.rollback)
    #expect(view.hasChanges)
    try await view.save(within: .seconds(1800))
    try #expect(count(container) == 1)
  }

  @Test("An awaited save of an in-memory store works like a plain one")
  @MainActor
  func awaitedSaveInMemory() async throws {
    let container = try PersistentContainer(inMemory: ManagedObjectModel(SampleModels.people))
    try container.viewContext.make("Person", ["name": "Ann"])
    try await container.viewContext.save(within: .seconds(300))
    try #expect(container.newContext().names("Person") == ["Ann"])
  }

  @Test("An awaited save gives up a right to write that its actor waits for, and asks again", .timeLimit(.minutes(10)))
  @MainActor
  func awaitedSaveYields() async throws {
    let scene = try Scene()
    defer { scene.end() }
    for container in [scene.container, try PersistentContainer(inMemory: ManagedObjectModel(SampleModels.people))] {
      let view = container.viewContext
      try view.make("Person", ["name": "Ann"])
      let save = Task { @MainActor in try await view.save(within: .seconds(600)) }
      await Task.yield()
      // Meanwhile the right is granted, unless the machine is busy.
      blockThread()
      let context = container.newContext()
      _ = try context.names("Person")
      try context.make("Person", ["name": "Ben"])
      try context.save()
      try await save.value
      #expect(try container.newContext().names("Person") == ["Ann", "Ben"])
    }
  }

  private func blockThread() { Thread.sleep(forTimeInterval: 0.1) }

  @Test("Saving in a block doesn't need the main actor if its context isn't used")
  func noMainActor() async throws {
    let scene = try Scene()
    defer { scene.end() }
    let container = scene.container
    #expect(!container.usesViewContext)
    try await container.save { _ = try $0.make("Person", ["name": "Ann"]) }
    #expect(!container.usesViewContext)
    try await #expect(namesInView(container) == ["Ann"])
    #expect(container.usesViewContext)
  }

  @Test("A block that encounters a conflict runs again with a new context, as often as requested")
  func retrying() async throws {
    let scene = try Scene()
    defer { scene.end() }
    let container = scene.container
    try await container.save { _ = try $0.make("Person", ["name": "Ann", "salary": 0]) }
    let attempts = LockProtected(0)
    let raise: @Sendable (ManagedObjectContext) throws -> Void = { context in
      let ann = try context.named("Person", "Ann")
      let salary = ann["salary"] as? Int ?? 0
      if attempts.withLock({ $0 += 1; return $0 }) <= 2 {
        let rival = container.newContext()
        try rival.named("Person", "Ann")["salary"] = 100 + salary
        try rival.save()
      }
      ann["salary"] = salary + 1
    }
    await expect(.mergeConflict) { try await container.save(raise) }
    try await container.save(retrying: 2, raise)
    #expect(attempts.withLock { $0 } == 3)
    try #expect(container.newContext().named("Person", "Ann")["salary"] as? Int == 201)
  }
}

/// The equivalent of an application's actor.
private actor Keeper: ContextActor {
  let contextExecutor: ContextExecutor

  init(_ container: PersistentContainer) { contextExecutor = ContextExecutor(container) }

  func add(_ name: String) throws {
    try context.make("Person", ["name": name])
    try context.save()
  }
}
