import Foundation
import Persist
import PersistTestSupport
import Testing

@testable import PersistSync

/// Objects that a copy of a file deletes before its first synchronization.
@Suite("Synchronization: deletions before the first one")
struct SeedDeletionTests {
  /// The time from which on the file has a history.
  enum History: CaseIterable {
    case fromTheBeginning, beforeCopies, inCopies
  }

  @Test(
    "A deletion before the first synchronization holds if the histories prove that the copies had the same object",
    arguments: History.allCases, [false, true])
  func single(_ history: History, preservesIdentifier: Bool) async throws {
    try await withTemporaryFolder { folder in
      var files = try SeedFiles(folder, preservesIdentifier: preservesIdentifier)
      let seed = try files.newSeed(history)
      for name in ["a", "b", "c"] { try files.create(name == "a" ? "Note" : "Page", name, in: seed) }
      if history == .beforeCopies { try files.turnHistoryOn(seed) }
      let (one, two) = (try files.copy(seed), try files.copy(seed))
      for copy in [one, two] { try files.turnHistoryOn(copy) }
      try files.delete("a", in: one)
      try files.delete("b", in: one)
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      for file in [two, one, two] { try await files.device(file).replica.synchronize(with: hub) }
      // Two copies without a history may have created different objects under one key.
      var left = history == .inCopies ? ["a", "b", "c"] : ["c"]
      if preservesIdentifier { left.removeAll { $0 == "b" } }
      for file in [one, two] {
        #expect(try files.labels(file) == left)
        #expect(try files.device(file).outdatedRows().isEmpty)
      }
      // A later copy of the seed gets the same.
      let late = try files.copy(seed)
      try files.turnHistoryOn(late)
      for file in [late, one, late] { try await files.device(file).replica.synchronize(with: hub) }
      for file in [one, late] { #expect(try files.labels(file) == left) }
      try files.close()
    }
  }

  @Test("An object that a peer has added is never taken for one that was deleted before")
  func ownObjects() async throws {
    try await withTemporaryFolder { folder in
      var files = try SeedFiles(folder, preservesIdentifier: true)
      let seed = try files.newSeed(.inCopies)
      try files.create("Page", "shared", in: seed)
      let (one, two) = (try files.copy(seed), try files.copy(seed))
      // Both get the same key, while there is no history.
      for (file, name) in [(one, "one"), (two, "two")] {
        try files.create("Page", name, in: file)
        try files.turnHistoryOn(file)
        // And again, with a history.
        try files.create("Page", "\(name) later", in: file)
        try files.create("Note", "\(name) note", in: file)
      }
      for name in ["one", "one later", "one note"] { try files.delete(name, in: one) }
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      for file in [one, two, one, two] { try await files.device(file).replica.synchronize(with: hub) }
      for file in [one, two] { #expect(try files.labels(file) == ["shared", "two", "two later", "two note"]) }
      try files.close()
    }
  }

  @Test("An object that is created again with the same identifying value isn't deleted")
  func again() async throws {
    try await withTemporaryFolder { folder in
      var files = try SeedFiles(folder, preservesIdentifier: true)
      let seed = try files.newSeed(.fromTheBeginning)
      try files.create("Page", "page", in: seed)
      let (one, two) = (try files.copy(seed), try files.copy(seed))
      for file in [one, two] { try files.turnHistoryOn(file) }
      try files.delete("page", in: one)
      try files.create("Page", "page", in: one)
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      for file in [two, one, two, one] { try await files.device(file).replica.synchronize(with: hub) }
      for file in [one, two] { #expect(try files.labels(file) == ["page"]) }
      try files.close()
    }
  }

  @Test("A deletion while the first synchronization is interrupted holds")
  func interrupted() async throws {
    try await withTemporaryFolder { folder in
      var files = try SeedFiles(folder, preservesIdentifier: false)
      let seed = try files.newSeed(.fromTheBeginning)
      for number in 0..<4500 { try files.add(number % 2 == 0 ? "Note" : "Page", "\(number)", to: seed) }
      try files.save(seed)
      let (one, two) = (try files.copy(seed), try files.copy(seed))
      for file in [one, two] { try files.turnHistoryOn(file) }
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      try await files.device(two).replica.synchronize(with: hub)
      var history: CapturePass.BirthHistory?
      var deleted = 0
      repeat {
        for name in ["\(deleted)", "\(deleted + 1)", "\(4499 - deleted)", "\(4498 - deleted)"] {
          try files.delete(name, in: one)
        }
        deleted += 2
        history = nil
      } while try files.device(one).replica.work.bearNext(&history) != nil
      #expect(deleted >= 10)
      for file in [one, two] { try await files.device(file).replica.synchronize(with: hub) }
      for file in [one, two] { #expect(try files.labels(file).count == 4500 - 2 * deleted) }
      try files.close()
    }
  }

  @Test(
    "Copies of a file agree, keep everything that nobody has deleted, and nothing that was deleted with proof",
    .law("sync-seeds", short: 30, long: 10_000))
  func law() async throws {
    await forEachSeed { seed in
      do {
        try await withTemporaryFolder { folder in
          var random = SeededRandom(seed: seed)
          var files = try SeedFiles(folder, preservesIdentifier: random.next() % 2 == 0)
          try await files.run(History.allCases[Int(random.next() % 3)], &random)
        }
      } catch {
        Issue.record(error)
      }
    }
  }
}

/// A file and its copies, which have objects with labels.
private struct SeedFiles {
  private let folder: URL
  private let model: ManagedObjectModel
  /// Devices with a history, by the number of the file.
  private(set) var devices: [Int: Device] = [:]
  private var count = 0
  private var contexts: [Int: ManagedObjectContext] = [:]
  private let preservesIdentifier: Bool
  /// The first transaction of each file's history.
  private var beginnings: [Int: Int] = [:]
  /// The objects of each file by label, with what the histories know of them.
  private var objects: [Int: [String: Object]] = [:]
  private var deleted: [String: [Deletion]] = [:]

  /// What a file knows of an object.
  private struct Object {
    var isPage: Bool
    /// Whether its history has the creation.
    var hasCreation: Bool
  }

  private struct Deletion {
    var object: Object
    var file: Int
    var hasHistory: Bool
  }

  private static let identifiers = ["Page": "label"]

  init(_ folder: URL, preservesIdentifier: Bool) throws {
    (self.folder, self.preservesIdentifier) = (folder, preservesIdentifier)
    var label = AttributeDescription("label", .string)
    label.preservesValueOnDeletion = preservesIdentifier
    model = try ManagedObjectModel(
      ModelDescription(
        entities: ["Note", "Page"].map {
          EntityDescription($0, attributes: [label, .init("color", .string), .init("size", .int64)])
        }))
  }

  private func url(_ file: Int) -> URL { folder.appendingPathComponent("\(file).sqlite") }

  mutating func newSeed(_ history: SeedDeletionTests.History) throws -> Int {
    let file = count
    count += 1
    if history == .fromTheBeginning { try turnHistoryOn(file) }
    return file
  }

  /// Opens a file with a history, and saves a transaction.
  mutating func turnHistoryOn(_ file: Int) throws {
    if devices[file] != nil { return }
    let name = "history \(file)"
    devices[file] = try Device(url(file), model, identifiedBy: Self.identifiers)
    if beginnings[file] == nil {
      beginnings[file] = file
      try create("Note", name, in: file)
      // It isn't one of the objects.
      try delete(name, in: file)
      deleted[name] = nil
    }
  }

  func device(_ file: Int) throws -> Device { try #require(devices[file]) }

  mutating func close() throws {
    for device in devices.values { try device.close() }
    devices = [:]
  }

  /// Copies a file, which may have a history.
  mutating func copy(_ file: Int) throws -> Int {
    try devices[file]?.close()
    let new = count
    count += 1
    for suffix in ["", "-wal"] {
      let (from, to) = (url(file).path + suffix, url(new).path + suffix)
      if FileManager.default.fileExists(atPath: from) { try FileManager.default.copyItem(atPath: from, toPath: to) }
    }
    try devices[file]?.reopen()
    (objects[new], beginnings[new]) = (objects[file], beginnings[file])
    return new
  }

  // MARK: Objects

  private mutating func change(_ file: Int, _ body: (ManagedObjectContext) throws -> Void) throws {
    if let device = devices[file] {
      let context = ManagedObjectContext(device.coordinator)
      try body(context)
      return try context.save()
    }
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.addStore(at: url(file))
    let context = ManagedObjectContext(coordinator)
    try body(context)
    try context.save()
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  mutating func create(_ entity: String, _ label: String, in file: Int) throws {
    try change(file) { try $0.create(entity)["label"] = label }
    objects[file, default: [:]][label] = Object(isPage: entity == "Page", hasCreation: devices[file] != nil)
  }

  /// Adds an object that ``save(_:)`` saves.
  mutating func add(_ entity: String, _ label: String, to file: Int) throws {
    guard let device = devices[file] else { return }
    let context = contexts[file] ?? ManagedObjectContext(device.coordinator)
    contexts[file] = context
    try context.create(entity)["label"] = label
    objects[file, default: [:]][label] = Object(isPage: entity == "Page", hasCreation: true)
  }

  mutating func save(_ file: Int) throws { try contexts.removeValue(forKey: file)?.save() }

  mutating func delete(_ label: String, in file: Int) throws {
    try change(file) { context in
      for entity in ["Note", "Page"] {
        let found = try context.fetch(FetchRequest<ManagedObject>(entity, where: "label == %@", label))
        for object in found { context.delete(object) }
      }
    }
    if let object = objects[file]?.removeValue(forKey: label) {
      deleted[label, default: []].append(Deletion(object: object, file: file, hasHistory: devices[file] != nil))
    }
  }

  func labels(_ file: Int) throws -> [String] {
    guard let device = devices[file] else { return [] }
    let context = ManagedObjectContext(device.coordinator)
    return try ["Note", "Page"].flatMap { entity in
      try context.fetch(FetchRequest<ManagedObject>(entity)).compactMap { $0["label"] as? String }
    }.sorted()
  }

  // MARK: Law

  /// Makes a file, copies of it and of these, changes all of them, and synchronizes them.
  mutating func run(_ history: SeedDeletionTests.History, _ random: inout SeededRandom) async throws {
    func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
    var files = [try newSeed(history)]
    var created = 0
    for step in 0..<RunExtent(&random).steps(upTo: 40, &random) {
      let file = files[number(files.count)]
      let labels = (objects[file] ?? [:]).keys.sorted()
      switch number(10) {
      case 0...2:
        created += 1
        // Objects without an identifying value that copies create without a history aren't told apart.
        let isAlone = files.count == 1 || devices[file] != nil
        try create(isAlone && number(2) == 0 ? "Note" : "Page", "o\(created)", in: file)
      case 3, 4:
        guard !labels.isEmpty else { continue }
        let label = labels[number(labels.count)]
        let color = "c\(step)"
        try change(file) { context in
          for entity in ["Note", "Page"] {
            for object in try context.fetch(FetchRequest<ManagedObject>(entity, where: "label == %@", label)) {
              object["color"] = color
            }
          }
        }
      case 5, 6: if !labels.isEmpty { try delete(labels[number(labels.count)], in: file) }
      case 7, 8: if files.count < 4, created > 1 { files.append(try copy(file)) }
      default: if history != .inCopies || files.count > 1 { try turnHistoryOn(file) }
      }
    }
    for file in files { try turnHistoryOn(file) }
    let owned = files.map { objects[$0] ?? [:] }
    let hub = FolderHub(folder.appendingPathComponent("hub"))
    for _ in 0..<3 {
      for file in files.shuffled(using: &random) { try await devices[file]?.replica.synchronize(with: hub) }
    }
    for file in files { try await devices[file]?.replica.synchronize(with: hub) }
    let contents = try devices[files[0]]?.contents()
    let present = Set(try labels(files[0]))
    for file in files {
      if try devices[file]?.contents() != contents { Issue.record("The files differ.") }
      if try devices[file]?.outdatedRows().isEmpty == false { Issue.record("Rows are outdated.") }
    }
    for label in Set(owned.flatMap(\.keys)).union(deleted.keys) {
      let deletions = deleted[label] ?? []
      let holders = files.indices.filter { owned[$0][label] != nil }
      if deletions.isEmpty && !present.contains(label) { Issue.record("\(label) is missing.") }
      guard present.contains(label) else { continue }
      if holders.isEmpty { Issue.record("\(label) was deleted everywhere, and came back.") }
      let isProved = deletions.contains { deletion in
        guard deletion.hasHistory else { return false }
        return deletion.object.hasCreation
          || holders.allSatisfy { beginnings[files[$0]] == beginnings[deletion.file] }
          || deletion.object.isPage && preservesIdentifier
      }
      if isProved { Issue.record("\(label) came back.") }
    }
    try close()
  }
}
