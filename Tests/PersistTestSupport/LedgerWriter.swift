public import Foundation
import Persist

/// Writes a ``SharedLedger`` at random, as one of several programs that may be killed at any moment.
///
/// A journal beside the store has the number of each save that succeeded. The next program of the same name expects
/// these saves in the store, and at most one more: the one that was killed before it could be noted.
public struct LedgerWriter {
  struct Lost: Error, CustomStringConvertible {
    let name: String
    let noted: Int
    let stored: Int
    var description: String { "\(name) had noted \(noted) saves, and the store has \(stored)." }
  }

  private let coordinator: PersistentStoreCoordinator
  private let name: String
  private let journal: FileHandle
  private var context: ManagedObjectContext
  private var random: SeededRandom

  public init(_ store: URL, name: String, seed: UInt64, journal file: URL) throws {
    coordinator = try SharedLedger.open(store)
    context = ManagedObjectContext(coordinator)
    self.name = name
    random = SeededRandom(seed: seed)
    let noted = try Self.noted(in: file)
    journal = try FileHandle(forWritingTo: file)
    try journal.seekToEnd()
    let stored = try account().integer("serial")
    guard stored == noted || stored == noted + 1 else { throw Lost(name: name, noted: noted, stored: stored) }
    // This program may be killed before it can note its own first save.
    if stored > noted { try note(stored) }
  }

  /// The number of the last save noted in a journal.
  public static func noted(in file: URL) throws -> Int {
    try String(contentsOf: file, encoding: .utf8).split(separator: "\n").last.flatMap { Int($0) } ?? 0
  }

  /// Makes one change and saves it, unless it meets the change of another program.
  public mutating func write() throws {
    // Contexts live for some saves, and know what others have changed meanwhile only at times.
    switch number(8) {
    case 0: context = ManagedObjectContext(coordinator)
    case 1...3: context.refreshAllObjects()
    default: break
    }
    let writer = try account()
    let serial = writer.integer("serial") + 1
    writer["serial"] = serial
    let receipt = ManagedObject(entity: "Receipt", context: context)
    receipt["serial"] = serial
    receipt["writer"] = writer
    do {
      try change()
      try context.save()
    } catch let error as PersistenceError where [.mergeConflict, .objectNotFound].contains(error.code) {
      context.rollback()
      return context.refreshAllObjects()
    }
    try note(serial)
  }

  private func note(_ serial: Int) throws { try journal.write(contentsOf: Data("\(serial)\n".utf8)) }

  private func account() throws -> ManagedObject {
    guard let writer = try context.fetch(FetchRequest("Writer", where: "name == %@", name)).first else {
      throw Lost(name: name, noted: 0, stored: -1)
    }
    return writer
  }

  // MARK: Changes

  private mutating func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

  private mutating func any(_ entity: String, notOf owner: ManagedObject? = nil) throws -> ManagedObject? {
    try context.fetch(FetchRequest(entity)).filter { owner == nil || $0["owner"] as? ManagedObject !== owner }
      .randomElement(using: &random)
  }

  private mutating func change() throws {
    switch number(16) {
    case 0: _ = ManagedObject(entity: "Owner", context: context)
    case 1...4: try open()
    case 5...7: try transfer()
    case 8: try move()
    case 9: try close()
    case 10: try closeAll()
    case 11: try marry()
    case 12...13: try tag()
    default: try photograph()
    }
  }

  private mutating func open() throws {
    guard let owner = try any("Owner"), owner.integer("count") < 30 else { return }
    let account = ManagedObject(entity: "Account", context: context)
    account["owner"] = owner
    owner["count"] = owner.integer("count") + 1
  }

  private mutating func transfer() throws {
    guard let from = try any("Account"), let to = try any("Account"), from !== to else { return }
    pay(number(100), from, to)
  }

  private func pay(_ amount: Int, _ from: ManagedObject, _ to: ManagedObject) {
    from["balance"] = from.integer("balance") - amount
    to["balance"] = to.integer("balance") + amount
  }

  private mutating func move() throws {
    guard let account = try any("Account"), let old = account["owner"] as? ManagedObject, let new = try any("Owner"),
      old !== new
    else { return }
    account["owner"] = new
    old["count"] = old.integer("count") - 1
    new["count"] = new.integer("count") + 1
  }

  private mutating func close() throws {
    guard let account = try any("Account"), let other = try any("Account"), account !== other,
      let owner = account["owner"] as? ManagedObject
    else { return }
    pay(account.integer("balance"), account, other)
    owner["count"] = owner.integer("count") - 1
    context.delete(account)
  }

  private mutating func closeAll() throws {
    let owners = try context.fetch(FetchRequest("Owner"))
    guard owners.count > 4, let owner = owners.randomElement(using: &random),
      let heir = try any("Account", notOf: owner)
    else { return }
    for account in try owner.mutableSetValue(forKey: "accounts") { pay(account.integer("balance"), account, heir) }
    context.delete(owner)
  }

  private mutating func marry() throws {
    guard let one = try any("Account"), let other = try any("Account"), one !== other else { return }
    one["partner"] = number(4) == 0 ? nil : other
  }

  private mutating func tag() throws {
    guard let account = try any("Account") else { return }
    let tags = try account.mutableSetValue(forKey: "tags")
    switch number(6) {
    case 0: tags.insert(ManagedObject(entity: "Tag", context: context))
    case 1: tags.removeAll()
    case 2: if let tag = try any("Tag"), try context.count(for: FetchRequest("Tag")) > 6 { context.delete(tag) }
    default: if let tag = try any("Tag") { tags.insert(tag) }
    }
  }

  private mutating func photograph() throws {
    guard let account = try any("Account") else { return }
    let stamp = account.integer("stamp") + 1 + number(2)
    account["stamp"] = stamp
    account["photo"] = SharedLedger.photo(stamp)
  }
}
