import Foundation
import PersistTestSupport
import PersistTools
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Stores without their logs", .aboutFiles("logs of files"))
struct LostLogTests {
  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("Item") {
        AttributeDescription("name", .string)
      }
    }
  }

  /// A copy of the file of a store that is in use.
  private func withCopy(savingRows count: Int, _ body: (URL, ManagedObjectModel) throws -> Void) throws {
    let model = try Self.model()
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: model)
      let store = try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      for number in 0..<count { try context.create("Item")["name"] = "item \(number)" }
      try context.save()
      let copy = url.deletingLastPathComponent().appendingPathComponent("copy.sqlite")
      try FileManager.default.copyItem(at: url, to: copy)
      try body(copy, model)
      try coordinator.remove(store)
    }
  }

  @Test("A file that was copied without its log is never taken for a new store", arguments: [0, 300])
  func emptyFile(count: Int) throws {
    try withCopy(savingRows: count) { url, model in
      let before = try Data(contentsOf: url)
      let registry = ModelRegistry(versions: [ModelVersion(name: "1", model: model)])
      let openings: [(URL) throws -> Void] = [
        { try PersistentStoreCoordinator(model: model).addStore(at: $0) },
        { try PersistentStoreCoordinator(model: model).addStore(at: $0, options: .automaticMigration) },
        { try PersistentStoreCoordinator(model: model).addStore(at: $0, options: StoreOptions(isReadOnly: true)) },
        { _ = try PersistentStoreCoordinator.metadata(at: $0) },
        { _ = try MigrationPlan(storeAt: $0, registry: registry) },
      ]
      for open in openings {
        let error = #expect(throws: PersistenceError.self) { try open(url) }
        #expect(error?.code == .storeDamaged)
        #expect(error?.message.contains("copy.sqlite-wal") == true)
      }
      var problems: [StoreProblem] = []
      try StoreCheck.check(storeAt: url) { problems.append($0) }
      #expect(problems.map(\.kind) == [.missingLog])
      try #expect(Data(contentsOf: url) == before)
    }
  }

  @Test("A damaged file in WAL mode without a log is suspected of having lost it")
  func damagedFile() throws {
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: try Self.model())
      let store = try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      for number in 0..<3000 { try context.create("Item")["name"] = String(repeating: "item \(number) ", count: 20) }
      try context.save()
      try coordinator.remove(store)
      let file = try FileHandle(forUpdating: url)
      try file.truncate(atOffset: file.seekToEnd() / 8192 * 4096)
      try file.close()
      var problems: [StoreProblem] = []
      try StoreCheck.check(storeAt: url) { problems.append($0) }
      #expect(problems.contains { $0.kind == .damagedDatabase })
      #expect(problems.last?.kind == .missingLog)
    }
  }

  @Test("A creation that failed can be tried again")
  func failedCreation() throws {
    try withTemporaryStore { url in
      let connection = try SQLiteConnection(url, mode: .create)
      connection.close()
      #expect(LostLog.error(storeAt: url) == nil)
      try PersistentStoreCoordinator(model: Self.model()).addStore(at: url)
    }
  }
}
