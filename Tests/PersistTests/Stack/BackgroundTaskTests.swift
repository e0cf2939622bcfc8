import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Background tasks of a container")
struct BackgroundTaskTests {
  private struct Refusal: Error {}

  private func withContainer(_ body: (PersistentContainer) async throws -> Void) async throws {
    try await withTemporaryFolder { folder in
      try await body(
        PersistentContainer(
          at: folder.appendingPathComponent("Store.sqlite"), model: ManagedObjectModel(SampleModels.people)))
    }
  }

  @Test("Objects saved by the closure are stored, and its result is returned")
  func saving() async throws {
    try await withContainer { container in
      let id = try await container.performBackgroundTask { context in
        let ann = try context.make("Person", ["name": "Ann"])
        try context.save()
        return ann.objectID
      }
      let reader = container.newContext()
      #expect(try reader.existingObject(with: id)["name"] as? String == "Ann")
    }
  }

  @Test("Unsaved changes of the closure are discarded, and its error is rethrown unchanged")
  func throwing() async throws {
    try await withContainer { container in
      await #expect(throws: Refusal.self) {
        try await container.performBackgroundTask { context in
          try context.make("Person", ["name": "Ann"])
          throw Refusal()
        }
      }
      try #expect(container.newContext().count(for: FetchRequest("Person")) == 0)
    }
  }

  @Test("More closures than the machine has processors may wait at once, also for each other")
  func blocking() async throws {
    try await withContainer { container in
      let count = ProcessInfo.processInfo.activeProcessorCount + 4
      let (arrived, all) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<count {
          group.addTask {
            try await container.performBackgroundTask { _ in
              arrived.signal()
              all.wait()
            }
          }
        }
        group.addTask {
          try await container.performBackgroundTask { _ in
            for _ in 0..<count { arrived.wait() }
            for _ in 0..<count { all.signal() }
          }
        }
        try await group.waitForAll()
      }
    }
  }

  @Test("A canceled task doesn't begin its closure")
  func cancelled() async throws {
    try await withContainer { container in
      let task = Task {
        while !Task.isCancelled { await Task.yield() }
        try await container.performBackgroundTask { _ in Issue.record("began") }
      }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
  }
}
