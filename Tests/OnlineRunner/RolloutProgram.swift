import Foundation
import Persist
import PersistTestSupport

/// A program of a rollout: a thread that writes, and one that reads.
///
/// Whenever the store doesn't serve the program's model, the program tries again. The folder has its journal, `NAME`,
/// and files by which it is controlled: `stop` and `stop NAME` end it; `pause` contains a number, which it writes to
/// `paused NAME` once it writes nothing more, until the file is gone.
final class RolloutProgram {
  private let url: URL
  private let version: RolloutShop.Version
  private let name: String
  private let folder: URL
  private let journal: RolloutJournal
  private var numbers: SeededRandom
  /// The entries of this program, apart from those for which nobody knows the outcome of a write.
  private var entries: [String: RolloutEntry] = [:]
  private var lastNumber = 0

  init(_ url: URL, _ version: RolloutShop.Version, name: String, seed: UInt64, folder: URL) throws {
    (self.url, self.version, self.name, self.folder) = (url, version, name, folder)
    numbers = SeededRandom(seed: seed)
    let file = folder.appendingPathComponent(name)
    journal = try RolloutJournal(file)
    var record = RolloutRecord()
    try record.add(file)
    for (code, forms) in record.entries {
      lastNumber = max(lastNumber, code.split(separator: "/").last.flatMap { Int($0) } ?? 0)
      guard forms.count == 1, let form = forms.first ?? nil else { continue }
      let parts = form.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 4 else { continue }
      entries[code] = RolloutEntry(
        name: parts[0], count: parts[1], category: parts[2], tags: parts[3].split(separator: ",").map(String.init))
    }
  }

  // MARK: Control

  private static func exists(_ name: String, in folder: URL) -> Bool {
    FileManager.default.fileExists(atPath: folder.appendingPathComponent(name).path)
  }

  private static func isStopped(_ name: String, in folder: URL) -> Bool {
    exists("stop", in: folder) || exists("stop \(name)", in: folder)
  }

  private var isPaused: Bool { Self.exists("pause", in: folder) }

  private func rest() throws {
    while isPaused, !Self.isStopped(name, in: folder) {
      let number = try? Data(contentsOf: folder.appendingPathComponent("pause"))
      try number?.write(to: folder.appendingPathComponent("paused \(name)"), options: .atomic)
      Thread.sleep(forTimeInterval: 0.01)
    }
  }

  func run() throws {
    let reader = Reader(url: url, version: version, name: name, folder: folder)
    reader.start()
    while !Self.isStopped(name, in: folder) {
      try rest()
      try Self.attempting {
        let coordinator = try RolloutShop.open(url, version)
        defer { for store in coordinator.persistentStores { try? coordinator.remove(store) } }
        try write(ManagedObjectContext(coordinator))
      }
    }
  }

  /// The errors of a store that doesn't serve the model now, and of servers that come and go.
  private static let expected: Set<PersistenceError.Code> = [
    .incompatibleModel, .storeBusy, .storeOpenFailed, .newerStore, .saveFailed, .serverFailed, .connectionLost,
  ]

  /// Runs `body` until an error that is part of a rollout, or to its end.
  fileprivate static func attempting(_ body: () throws -> Void) throws {
    do { try body() } catch let error as PersistenceError where expected.contains(error.code) {
      Thread.sleep(forTimeInterval: 0.1)
    }
  }

  // MARK: Writing

  /// Writes until the end, a pause, or an error.
  private func write(_ context: ManagedObjectContext) throws {
    while !isPaused, !Self.isStopped(name, in: folder) {
      try writeOnce(context)
      Thread.sleep(forTimeInterval: 0.002)
    }
  }

  private func property(_ property: RolloutShop.Property) -> String { RolloutShop.name(property, in: version) }

  private func find(_ entity: String, _ attribute: String, _ value: String, _ context: ManagedObjectContext) throws
    -> ManagedObject?
  {
    try context.fetch(FetchRequest(entity, where: "\(attribute) == %@", value)).first
  }

  private func writeOnce(_ context: ManagedObjectContext) throws {
    context.refreshAllObjects()
    let known = entries.keys.sorted().randomElement(using: &numbers)
    let choice = Int.random(in: 0..<10, using: &numbers)
    guard choice > 0 else { return try count(context) }
    guard let code = known, choice > 3 || entries.count > 60 else {
      lastNumber += 1
      let code = "\(name)/\(lastNumber)"
      let entry = RolloutEntry(
        name: "new \(lastNumber)", count: "\(lastNumber)", category: anyCategory(),
        tags: Array(RolloutShop.tags.shuffled(using: &numbers).prefix(2)))
      return try save(code, entry, context) {
        let object = ManagedObject(entity: "Entry", context: context)
        object["code"] = code
        try apply(entry, to: object, context)
      }
    }
    guard let former = entries[code], let object = try own(code, former, context) else { return }
    if choice == 9 || entries.count > 60 {
      return try save(code, nil, context) { context.delete(object) }
    }
    var entry = former
    let number = Int.random(in: 1...999, using: &numbers)
    switch choice {
    case 4, 5: entry.name = "name \(number)"
    case 6: entry.count = "\(number)"
    case 7: entry.category = anyCategory()
    default: entry.tags = Array(RolloutShop.tags.shuffled(using: &numbers).prefix(number % 3))
    }
    try save(code, entry, context) { try apply(entry, to: object, context) }
  }

  private func anyCategory() -> String { RolloutShop.categories.randomElement(using: &numbers) ?? "" }

  /// An entry of this program, as it was written last.
  private func own(_ code: String, _ former: RolloutEntry, _ context: ManagedObjectContext) throws -> ManagedObject? {
    var found: String?
    // An error while reading a value is thrown by the next fetch.
    for _ in 0..<2 {
      context.refreshAllObjects()
      guard let object = try find("Entry", "code", code, context) else { continue }
      found = RolloutShop.text(of: object, version)
      if found == former.text { return object }
    }
    throw Lost(text: "\(code) is \(found ?? "missing"), not \(former.text)", version: version)
  }

  private func apply(_ entry: RolloutEntry, to object: ManagedObject, _ context: ManagedObjectContext) throws {
    object[property(.name)] = entry.name
    if version == .first {
      object[property(.count)] = Int(entry.count)
      object["colour"] = "red"
    } else {
      object[property(.count)] = Decimal(string: entry.count)
    }
    object[property(.category)] = try find("Category", "label", entry.category, context)
    object[property(.tags)] = RelationshipSet(try entry.tags.compactMap { try find("Tag", "label", $0, context) })
  }

  /// - Parameters:
  ///   - entry: The form to save; nil to delete it.
  ///   - change: Makes the change in the context.
  private func save(
    _ code: String, _ entry: RolloutEntry?, _ context: ManagedObjectContext, _ change: () throws -> Void
  ) throws {
    try change()
    try journal.begin(code, entry?.text)
    switch try save(context) {
    case .saved: entries[code] = entry
    case .unknown: entries[code] = nil
    case .failed: break
    }
  }

  private func count(_ context: ManagedObjectContext) throws {
    let label = RolloutShop.counters.randomElement(using: &numbers) ?? ""
    guard let counter = try find("Counter", "label", label, context) else {
      throw Lost(text: "\(label) is missing", version: version)
    }
    counter[property(.total)] = (counter[property(.total)] as? Int ?? 0) + 1
    try journal.beginCounting(label)
    _ = try save(context)
  }

  /// - Returns: The outcome, which is in the journal.
  private func save(_ context: ManagedObjectContext) throws -> RolloutJournal.Outcome {
    let begun = RolloutJournal.Moment()
    do {
      try context.save()
      try journal.end(.saved, begun: begun)
      return .saved
    } catch let error as PersistenceError {
      let outcome: RolloutJournal.Outcome = error.code == .saveFailed ? .unknown : .failed
      try journal.end(outcome, begun: begun)
      context.rollback()
      // Another program was first.
      if [.mergeConflict, .objectNotFound].contains(error.code) || Self.expected.contains(error.code) { return outcome }
      throw error
    }
  }

  private struct Lost: Error, CustomStringConvertible {
    let text: String
    let version: RolloutShop.Version
    var description: String { "For version \(version), \(text)." }
  }

  // MARK: Reading

  /// Reads in a thread of its own until the end.
  private struct Reader: Sendable {
    let url: URL
    let version: RolloutShop.Version
    let name: String
    let folder: URL

    func start() {
      Thread.detachNewThread {
        do { try run() } catch {
          FileHandle.standardError.write(Data("\(name), reading: \(error)\n".utf8))
          exit(1)
        }
      }
    }

    private func run() throws {
      let journal = try RolloutJournal(folder.appendingPathComponent("\(name), reads"))
      while !RolloutProgram.isStopped(name, in: folder) {
        try RolloutProgram.attempting {
          let coordinator = try RolloutShop.open(url, version)
          defer { for store in coordinator.persistentStores { try? coordinator.remove(store) } }
          while !RolloutProgram.isStopped(name, in: folder) {
            let context = ManagedObjectContext(coordinator)
            var request = FetchRequest("Entry")
            request.fetchLimit = 20
            let begun = RolloutJournal.Moment()
            for entry in try context.fetch(request) { _ = RolloutShop.text(of: entry, version) }
            try journal.noteRead(begun: begun)
            Thread.sleep(forTimeInterval: 0.005)
          }
        }
      }
    }
  }
}
