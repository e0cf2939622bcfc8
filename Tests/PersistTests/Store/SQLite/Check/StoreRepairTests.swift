import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel
@testable import PersistTools

@Suite("Repairing stores", .aboutFiles("repair of files"))
struct StoreRepairTests {
  private static func shop() throws -> ManagedObjectModel {
    try model(
      EntityDescription(
        "Item",
        attributes: [.init("name", .string), .init("photo", .binary, allowsExternalStorage: true)],
        relationships: [
          .init("shelf", to: "Shelf", inverse: "items"), .init("tags", toMany: "Tag", inverse: "items"),
        ]),
      EntityDescription("Shelf", relationships: [.init("items", toMany: "Item", inverse: "shelf")]),
      EntityDescription("Rack", parent: "Shelf"),
      EntityDescription("Tag", relationships: [.init("items", toMany: "Item", inverse: "tags")]))
  }

  private static let photo = Data(repeating: 7, count: TableMap.largestInlineValue + 1)

  /// Three items on a rack, with a tag and a photo each.
  private func fill(_ url: URL, _ model: ManagedObjectModel) throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.addStore(at: url)
    let context = ManagedObjectContext(coordinator)
    let rack = try context.create("Rack")
    for number in 0..<3 {
      let item = try context.create("Item")
      item["name"] = "item \(number)"
      item["photo"] = Self.photo
      item["shelf"] = rack
      try item.setValue([context.create("Tag")], forKey: "tags")
    }
    try context.save()
    return coordinator
  }

  private func problems(_ url: URL) throws -> [StoreProblem.Kind] {
    var found: [StoreProblem.Kind] = []
    try StoreCheck.check(storeAt: url) { found.append($0.kind) }
    return found
  }

  @discardableResult
  private func addFile(_ name: String, besideStoreAt url: URL) throws -> URL {
    let file = ExternalDataFolder(storeAt: url).url.appendingPathComponent(name)
    try Self.photo.write(to: file)
    return file
  }

  @Test(
    "Problems with only one possible repair are repaired, and everything readable stays unchanged",
    .aboutFilesOfLargeValues)
  func repair() throws {
    let model = try Self.shop()
    try withTemporaryStore { url in
      let coordinator = try fill(url, model)
      for store in coordinator.persistentStores { try coordinator.remove(store) }
      let orphan = try addFile(UUID().uuidString, besideStoreAt: url)
      let stranger = try addFile("README", besideStoreAt: url)
      let partial = URL(fileURLWithPath: "\(url.path).copy\(UnfinishedCopy.suffix)\(UUID().uuidString)")
      try Data([1]).write(to: partial)
      let join = try #require(
        MadeStore.rows("SELECT name FROM sqlite_master WHERE name LIKE 'Z\\_%TAGS' ESCAPE '\\'", at: url).first?.first)
      let columns = try MadeStore.rows("SELECT name FROM pragma_table_info('\(join)')", at: url).map { $0[0] }
      let companion = try #require(
        MadeStore.rows("SELECT name FROM pragma_table_info('ZITEM') WHERE name LIKE 'Z%\\_SHELF' ESCAPE '\\'", at: url)
          .first?.first)
      try MadeStore.run(
        "UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Item'",
        "UPDATE ZITEM SET ZSHELF = 99 WHERE Z_PK = 1", "UPDATE ZITEM SET \(companion) = 1 WHERE Z_PK = 2",
        "INSERT INTO \(join) (\(columns[0]), \(columns[1])) VALUES (77, 88)", at: url)
      let before = try Set(problems(url).map(\.name))
      #expect(
        before.isSuperset(of: [
          "keyCounter", "danglingRelationship", "wrongEntityNumber", "orphanFile", "unfinishedWork",
        ]))
      let mended = try StoreRepair.repair(storeAt: url)
      #expect(mended.map(\.count).reduce(0, +) == 6)
      #expect(!FileManager.default.fileExists(atPath: partial.path))
      #expect(!FileManager.default.fileExists(atPath: orphan.path))
      #expect(FileManager.default.fileExists(atPath: stranger.path))
      try FileManager.default.removeItem(at: stranger)
      try #expect(problems(url) == [])
      try #expect(StoreRepair.repair(storeAt: url) == [])

      let reopened = PersistentStoreCoordinator(model: model)
      try reopened.addStore(at: url)
      let context = ManagedObjectContext(reopened)
      let items = try context.fetch(FetchRequest<ManagedObject>("Item", sortedBy: "name"))
      #expect(items.map { $0["photo"] as? Data } == [Self.photo, Self.photo, Self.photo])
      #expect(items.map { ($0["shelf"] as? ManagedObject)?.entity.name } == [nil, "Rack", "Rack"])
      #expect(try items.map { try $0.related("tags").count } == [1, 1, 1])
    }
  }

  @Test(
    "Files of large values that a context still reads in an earlier state are kept until it has let go of that",
    .aboutFilesOfLargeValues)
  func heldState() throws {
    let model = try Self.shop()
    try withTemporaryStore { url in
      let coordinator = try fill(url, model)
      let (reader, writer) = (ManagedObjectContext(coordinator), ManagedObjectContext(coordinator))
      try reader.setQueryGeneration(from: .current)
      let items = try reader.fetch(FetchRequest("Item"))
      for item in try writer.fetch(FetchRequest("Item")) { item["photo"] = nil }
      try writer.save()
      let orphan = try addFile(UUID().uuidString, besideStoreAt: url)
      #expect(try StoreRepair.repair(storeAt: url) == [])
      #expect(items.map { $0["photo"] as? Data } == [Self.photo, Self.photo, Self.photo])
      reader.reset()
      #expect(try StoreRepair.repair(storeAt: url).map(\.count) == [1])
      #expect(!FileManager.default.fileExists(atPath: orphan.path))
    }
  }

  @Test(
    "While a migration exchanges the store's content, no file is deleted, since rows will name those it added",
    .aboutFilesOfLargeValues)
  func migrating() throws {
    let model = try Self.shop()
    try withTemporaryStore { url in
      let coordinator = try fill(url, model)
      for store in coordinator.persistentStores { try coordinator.remove(store) }
      let added = try addFile(UUID().uuidString, besideStoreAt: url)
      let folder = try WorkingFolder(besideStoreAt: url)
      try #expect(StoreRepair.repair(storeAt: url) == [])
      #expect(FileManager.default.fileExists(atPath: added.path))
      folder.remove()
      try #expect(StoreRepair.repair(storeAt: url).map(\.kind) == [.orphanFile])
    }
  }

  @Test(
    "After a crash, the first save deletes files that no row names and unfinished copies; otherwise none does",
    .aboutFilesOfLargeValues)
  func sweep() throws {
    let model = try Self.shop()
    try withTemporaryFolder { folder in
      let (alive, killed) = (folder.appendingPathComponent("a.sqlite"), folder.appendingPathComponent("b.sqlite"))
      let coordinator = try fill(alive, model)
      // The files of an open store are those that a killed process leaves.
      for suffix in ["", "-wal"] {
        try FileManager.default.copyItem(atPath: alive.path + suffix, toPath: killed.path + suffix)
      }
      let (from, to) = (ExternalDataFolder(storeAt: alive).url, ExternalDataFolder(storeAt: killed).url)
      try FileManager.default.createDirectory(
        at: to.deletingLastPathComponent(), withIntermediateDirectories: true)
      try FileManager.default.copyItem(at: from, to: to)
      for store in coordinator.persistentStores { try coordinator.remove(store) }

      func save(_ url: URL) throws {
        let coordinator = PersistentStoreCoordinator(model: model)
        let store = try coordinator.addStore(at: url)
        let context = ManagedObjectContext(coordinator)
        try context.create("Tag")
        try context.save()
        try coordinator.remove(store)
      }
      for (url, isSwept) in [(killed, true), (alive, false)] {
        let orphan = try addFile(UUID().uuidString, besideStoreAt: url)
        let partial = URL(fileURLWithPath: "\(url.path).copy\(UnfinishedCopy.suffix)\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: partial, withIntermediateDirectories: true)
        try save(url)
        for left in [orphan, partial] {
          #expect(FileManager.default.fileExists(atPath: left.path) != isSwept)
          try? FileManager.default.removeItem(at: left)
        }
        try #expect(problems(url) == [])
      }
    }
  }
}
