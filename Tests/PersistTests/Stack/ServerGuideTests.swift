import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Runs the code of the article "On servers".
@Suite("The guide to servers")
struct ServerGuideTests {
  private struct SavedNote: Sendable {
    let title: String?

    init(_ note: ManagedObject) { title = note["title"] as? String }
  }

  private struct VersionMismatch: Error {}

  private static func makeModel() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("Note") {
        AttributeDescription("id", .uuid, isOptional: false)
        AttributeDescription("title", .string)
      }
      EntityDescription("Account") { AttributeDescription("total", .int64) }
    }
  }

  /// The parts of a notes server.
  private struct Server {
    let container: PersistentContainer

    private func noSuchNote(_ id: UUID) -> PersistenceError {
      PersistenceError(.objectNotFound, at: .entity("Note"), "There is no note \(id.uuidString).")
    }

    func note(_ id: UUID) async throws -> SavedNote {
      try await container.read { context in
        let notes = try context.fetch(FetchRequest("Note", where: "id == %@", id))
        guard let note = notes.first else { throw noSuchNote(id) }
        return SavedNote(note)
      }
    }

    func inTime<Result: Sendable>(
      _ limit: Duration, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
      let work = Task { try await body() }
      let timer = Task {
        try await Task.sleep(for: limit)
        work.cancel()
      }
      defer { timer.cancel() }
      return try await withTaskCancellationHandler { try await work.value } onCancel: { work.cancel() }
    }
  }

  private func withServer(_ body: (Server, URL) async throws -> Void) async throws {
    try await withTemporaryFolder { folder in
      let (url, model) = (folder.appendingPathComponent("Notes.sqlite"), try Self.makeModel())
      var options = StoreOptions.automaticMigration
      options.pragmas = ["synchronous": "FULL"]     // the commit is on the disk before the save returns
      options.busyTimeout = .seconds(2)
      let container = try PersistentContainer(at: url, model: model, options: options)
      try await body(Server(container: container), folder)
      let coordinator = container.persistentStoreCoordinator
      for store in coordinator.persistentStores { try coordinator.remove(store) }
      #expect(!FileManager.default.fileExists(atPath: url.path + "-wal"))
    }
  }

  @Test("Every line of the article's code is in these tests")
  func everyLine() throws {
    // The program before this heading is a target of the example server, which the tests of code blocks compare.
    let (lines, shown) = try ArticleCode.missing(
      from: #filePath, inArticle: "Sources/Persist/Persist.docc/OnServers.md",
      below: "### One container, a context for each request")
    #expect(lines == [] && shown > 30)
  }

  @Test("A note is found by its public identifier, changed by its version, and copied while the store is in use")
  func notes() async throws {
    try await withServer { server, folder in
      let (container, number) = (server.container, UUID())
      let id = try await container.save { context in
        let note = try context.create("Note")
        (note["id"], note["title"]) = (number, "Tea")
        try context.save()
        return note.objectID
      }
      try await #expect(server.note(number).title == "Tea")
      let error = await #expect(throws: PersistenceError.self) { try await server.note(UUID()) }
      #expect(error?.code == .objectNotFound)

      for (expectedVersion, title) in [(Int64(1), "Green tea"), (2, "Black tea")] {
        let version = try await container.save(retrying: 3) { context in
          let note = try context.existingObject(with: id)
          guard note.version == expectedVersion else { throw VersionMismatch() }
          note["title"] = title
          try context.save()
          return note.version
        }
        #expect(version == expectedVersion + 1)
      }

      let copy = folder.appendingPathComponent("Copy.sqlite")
      try await container.performBackgroundTask { context in
        let coordinator = context.persistentStoreCoordinator
        for store in coordinator.persistentStores { try coordinator.backUp(store, to: copy) }
      }
      let restored = try PersistentContainer(at: copy, model: Self.makeModel())
      try await #expect(Server(container: restored).note(number).title == "Black tea")
    }
  }

  @Test("A closure that encounters another process's changes runs again, with the store's new contents")
  func retrying() async throws {
    try await withServer { server, folder in
      let (container, amount) = (server.container, 1)
      let url = folder.appendingPathComponent("Notes.sqlite")
      let id = try await container.save { context in
        let account = try context.create("Account")
        account["total"] = 1
        try context.save()
        return account.objectID
      }
      let runs = LockProtected(0)
      let total = try await container.save(retrying: 3) { context in
        let account = try context.existingObject(with: id)
        let total = (account["total"] as? Int ?? 0) + amount
        account["total"] = total
        if runs.withLock({ $0 += 1; return $0 }) == 1 {
          try BuiltProgram.run("SQLRunner", url.path, "UPDATE ZACCOUNT SET ZTOTAL = 10, Z_OPT = Z_OPT + 1")
        }
        return total
      }
      #expect(total == 11 && runs.withLock { $0 } == 2)
    }
  }

  @Test("A deadline ends a wait and discards queued work; completed work is returned")
  func deadline() async throws {
    try await withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("Notes.sqlite")
      // Otherwise a busy machine might be later than the store's own limit.
      let options = StoreOptions(busyTimeout: .seconds(600))
      let container = try PersistentContainer(at: url, model: Self.makeModel(), options: options)
      let server = Server(container: container)
      let holder = try SQLiteConnection(url, mode: .readWrite)
      try holder.execute(.beginWriting)
      for _ in 0..<2 {
        await #expect(throws: CancellationError.self) {
          try await server.inTime(.milliseconds(50)) {
            try await container.save { context in _ = try context.create("Account") }
          }
        }
      }
      try holder.execute(.rollback)
      holder.close()
      let count = try await server.inTime(.seconds(60)) {
        try await container.read { context in try context.count(for: FetchRequest("Account")) }
      }
      #expect(count == 0)
    }
  }
}
