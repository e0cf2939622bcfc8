import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// The stores of these tests: notes with a text that is searched for, a large value and a history.
enum Notes {
  static let texts = ["SECRETTEXT", "SECRETPICTURE", "ZNOTE", "Z_METADATA", "SQLite format"]

  static let key: StoreEncryption.KeyProvider = { .raw(TestKey.bytes(of: "first")) }
  static let otherKey: StoreEncryption.KeyProvider = { .raw(TestKey.bytes(of: "second")) }

  static let v1 = try? ManagedObjectModel(version: "1") {
    EntityDescription("Note") {
      AttributeDescription("title", .string)
      AttributeDescription("picture", .binary, allowsExternalStorage: true)
    }
  }
  static let v2 = try? ManagedObjectModel(version: "2") {
    EntityDescription("Note") {
      AttributeDescription("name", .string, renamingIdentifier: "title")
      AttributeDescription("rank", .int64, isOptional: false, default: .integer(3))
      AttributeDescription("picture", .binary, allowsExternalStorage: true)
    }
  }

  static func options(
    _ key: StoreEncryption.KeyProvider? = key, _ options: StoreOptions = StoreOptions()
  ) -> StoreOptions {
    var options = options
    options.key = key
    return options
  }

  static func make(
    _ url: URL, _ options: StoreOptions = options(), count: Int = 20, picture size: Int = 150_000
  ) throws {
    let coordinator = PersistentStoreCoordinator(model: try #require(v1))
    var options = options
    options.historyKeeps = .oldValues
    let store = try coordinator.addStore(at: url, options: options)
    let context = ManagedObjectContext(coordinator)
    for number in 0..<count {
      let note = try context.create("Note")
      note["title"] = "SECRETTEXT\(number)"
      note["picture"] = Data("SECRETPICTURE".utf8) + Data(repeating: 7, count: size)
    }
    try context.save()
    try coordinator.remove(store)
  }

  static func migrate(_ url: URL, _ options: StoreOptions) throws {
    let coordinator = PersistentStoreCoordinator(model: try #require(v2))
    try coordinator.remove(coordinator.addStore(at: url, options: options))
  }

  /// The titles, after reading every picture.
  static func titles(
    _ url: URL, _ options: StoreOptions = options(), of model: ManagedObjectModel? = v1
  ) throws -> [String] {
    var options = options
    options.createsIfMissing = false
    let coordinator = PersistentStoreCoordinator(model: try #require(model))
    let store = try coordinator.addStore(at: url, options: options)
    let name = model?.entitiesByName["Note"]?.property(named: "name") == nil ? "title" : "name"
    let context = ManagedObjectContext(coordinator)
    let titles = try context.fetch(FetchRequest("Note")).map { note in
      let picture = try #require(note["picture"] as? Data)
      #expect(picture.starts(with: Data("SECRETPICTURE".utf8)))
      return try #require(note[name] as? String)
    }
    try coordinator.remove(store)
    return titles.sorted()
  }

  static func expectAll(_ url: URL, _ options: StoreOptions, of model: ManagedObjectModel? = v1) throws {
    #expect(try titles(url, options, of: model) == names())
  }

  static func names(_ count: Int = 20) -> [String] { (0..<count).map { "SECRETTEXT\($0)" }.sorted() }
}
