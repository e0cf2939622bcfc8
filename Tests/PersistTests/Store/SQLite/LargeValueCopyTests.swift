import Foundation
import PersistTestSupport
import PersistTools
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Large values of copies", .aboutFilesOfLargeValues)
struct LargeValueCopyTests {
  private let model: ManagedObjectModel

  init() throws {
    model = try ManagedObjectModel(
      ModelDescription(entities: [
        EntityDescription(
          "Item",
          attributes: [
            AttributeDescription("number", .int64), AttributeDescription("photo", .binary, allowsExternalStorage: true),
          ])
      ]))
  }

  private static func photo(_ number: Int) -> Data { Data(repeating: UInt8(number), count: 300_000) }

  /// Creates a closed store with an item for each number, all of which have large values.
  private func make(_ url: URL, _ numbers: [Int]) throws {
    let coordinator = PersistentStoreCoordinator(model: model)
    let store = try coordinator.addStore(at: url)
    let context = ManagedObjectContext(coordinator)
    for number in numbers { try context.make("Item", ["number": number, "photo": Self.photo(number)]) }
    try context.save()
    try coordinator.remove(store)
  }

  /// Checks that a store has the items with these numbers, all of their values, and nothing else.
  private func expect(_ numbers: [Int], at url: URL) throws {
    let coordinator = PersistentStoreCoordinator(model: model)
    let store = try coordinator.addStore(at: url)
    let context = ManagedObjectContext(coordinator)
    let items = try context.fetch(FetchRequest("Item", sortedBy: "number"))
    #expect(items.compactMap { $0["number"] as? Int } == numbers)
    #expect(items.compactMap { $0["photo"] as? Data } == numbers.map(Self.photo))
    try coordinator.remove(store)
    try StoreCheck.check(storeAt: url) { Issue.record(Comment(rawValue: $0.detail)) }
  }

  private func withPair(_ body: (_ store: URL, _ other: URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      try body(folder.appendingPathComponent("Store.sqlite"), folder.appendingPathComponent("Other.sqlite"))
    }
  }

  /// A failure in the middle of copying: a folder takes the place of the last value.
  private func block(_ name: String, in folder: ExternalDataFolder) throws -> URL {
    let place = folder.url.appendingPathComponent(name)
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    return place
  }

  @Test("A backup has the whole value even if a killed one has left a part of it, or an empty space, under its name")
  func damaged() throws {
    try withPair { store, copy in
      try make(store, [1, 2])
      let (values, left) = (ExternalDataFolder(storeAt: store), ExternalDataFolder(storeAt: copy))
      let names = values.names()
      #expect(names.count == 2)
      try left.make()
      try values.data(named: names[0]).prefix(1000).write(to: left.url.appendingPathComponent(names[0]))
      try Data(count: 300_000).write(to: left.url.appendingPathComponent(names[1]))
      try StoreBackup.copy(storeAt: store, to: copy)
      try expect([1, 2], at: copy)
    }
  }

  @Test("A longer file under a value's name, and a foreign file, remain as they are")
  func kept() throws {
    try withPair { store, copy in
      try make(store, [1])
      let (values, left) = (ExternalDataFolder(storeAt: store), ExternalDataFolder(storeAt: copy))
      let name = try #require(values.names().first)
      try Data("theirs".utf8).write(to: values.url.appendingPathComponent("notes.txt"))
      try left.make()
      try Data(count: 400_000).write(to: left.url.appendingPathComponent(name))
      try Data("ours".utf8).write(to: left.url.appendingPathComponent("notes.txt"))
      try StoreBackup.copy(storeAt: store, to: copy)
      try #expect(left.data(named: name).count == 400_000)
      try #expect(left.data(named: "notes.txt") == Data("ours".utf8))
    }
  }

  @Test("A failed backup deletes the values that it has copied, and can be repeated")
  func failedBackup() throws {
    try withPair { store, copy in
      try make(store, [1, 2, 3])
      let left = ExternalDataFolder(storeAt: copy)
      let last = try #require(ExternalDataFolder(storeAt: store).names().last)
      let obstacle = try block(last, in: left)
      #expect(persistError { try StoreBackup.copy(storeAt: store, to: copy) }?.code == .fileAccess)
      #expect(FileState(copy) == nil && left.names() == [last])
      #expect(UnfinishedFiles(store: store).copies == [])
      try FileManager.default.removeItem(at: obstacle)
      try StoreBackup.copy(storeAt: store, to: copy)
      try expect([1, 2, 3], at: copy)
    }
  }

  @Test("A failed replacement deletes the values that it has added, and leaves the store's")
  func failedReplacement() throws {
    try withPair { store, other in
      try make(store, [1, 2])
      try make(other, [3, 4, 5])
      let values = ExternalDataFolder(storeAt: store)
      let (before, last) = (values.names(), try #require(ExternalDataFolder(storeAt: other).names().last))
      let obstacle = try block(last, in: values)
      let coordinator = PersistentStoreCoordinator(model: model)
      let error = persistError { try coordinator.replacePersistentStore(at: store, withPersistentStoreFrom: other) }
      #expect(error?.code == .fileAccess)
      try FileManager.default.removeItem(at: obstacle)
      #expect(values.names() == before)
      try expect([1, 2], at: store)
      try coordinator.replacePersistentStore(at: store, withPersistentStoreFrom: other)
      try expect([3, 4, 5], at: store)
    }
  }
}
