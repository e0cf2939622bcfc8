import Foundation
import PersistTestSupport
import Testing

@testable import Persist

/// Whether anything that a store leaves can be read without its key.
enum EncryptedFiles {
  /// Readable content: a text in one of its forms, or a part of a page that isn't encrypted.
  static func findings(in folder: URL, texts: [String]) throws -> [String] {
    let files = FileManager.default
    guard let contents = files.enumerator(at: folder, includingPropertiesForKeys: nil) else { return [] }
    var findings: [String] = []
    for case let file as URL in contents where FileState(file)?.isRegular == true {
      // Another process may have deleted it meanwhile.
      guard let data = try? Data(contentsOf: file) else { continue }
      let name = file.lastPathComponent
      for text in texts {
        for encoding in [String.Encoding.utf8, .utf16LittleEndian, .utf16BigEndian] {
          if let bytes = text.data(using: encoding), data.range(of: bytes) != nil {
            findings.append("\(name) contains '\(text)' as \(encoding)")
          }
        }
      }
      // Without values, or with pages at places that depend on the moments of flushes.
      if name.hasSuffix("-shm") || name.hasSuffix("-journal") || name.hasSuffix(".json") { continue }
      findings += unencryptedPages(of: data, name: name)
    }
    return findings
  }

  /// The pages of a database or a log whose bytes aren't evenly distributed, as those of texts, numbers,
  /// compressed texts with their headers, and of pages with free space aren't.
  private static func unencryptedPages(of data: Data, name: String) -> [String] {
    let size = 4096
    let (start, step) = name.hasSuffix("-wal") ? (32 + 24, size + 24) : (0, size)
    return stride(from: start, to: data.count - size + 1, by: step).compactMap { place in
      var counts = [Int](repeating: 0, count: 256)
      for byte in data[place..<place + size] { counts[Int(byte)] += 1 }
      if counts[0] == size { return nil }
      let deviation = counts.reduce(0.0) { $0 + pow(Double($1) - 16, 2) } / 16
      return deviation > 450 ? "\(name) isn't encrypted at byte \(place)" : nil
    }
  }
}

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
