public import Foundation
public import Persist

/// A store that several programs write, whose every state satisfies the same laws: see ``problems(in:)``.
public enum SharedLedger {
  public static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel(
      ModelDescription(entities: [
        EntityDescription(
          "Writer", attributes: [.init("name", .string), .init("serial", .int64, default: .integer(0))],
          relationships: [.init("receipts", toMany: "Receipt", inverse: "writer", deleteRule: .cascade)]),
        EntityDescription(
          "Receipt", attributes: [.init("serial", .int64)],
          relationships: [.init("writer", to: "Writer", inverse: "receipts", isOptional: false)]),
        EntityDescription(
          "Owner", attributes: [.init("count", .int64, default: .integer(0))],
          relationships: [.init("accounts", toMany: "Account", inverse: "owner", deleteRule: .cascade)]),
        EntityDescription(
          "Account",
          attributes: [
            .init("balance", .int64, default: .integer(0)), .init("stamp", .int64, default: .integer(0)),
            .init("photo", .binary, allowsExternalStorage: true),
          ],
          relationships: [
            .init("owner", to: "Owner", inverse: "accounts", isOptional: false),
            .init("partner", to: "Account", inverse: "partner"),
            .init("tags", toMany: "Tag", inverse: "accounts"),
          ]),
        EntityDescription("Tag", relationships: [.init("accounts", toMany: "Account", inverse: "tags")]),
      ]))
  }

  /// Opens the store, which all programs may do at once.
  public static func open(_ url: URL) throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(model: try model())
    try coordinator.addStore(at: url, options: StoreOptions(busyTimeout: .seconds(120)))
    return coordinator
  }

  /// The photo that belongs to a stamp; every second one is in a file of its own.
  public static func photo(_ stamp: Int) -> Data {
    Data(repeating: UInt8(truncatingIfNeeded: stamp), count: stamp.isMultiple(of: 2) ? 300_000 : 100)
  }

  /// The faults in the state that a context shows: money that came from nowhere, counts that aren't those of the
  /// members, relationships that only one end has, and saves that are there in part.
  ///
  /// After one fetch, it only follows relationships, so that a context that merges automatically shows one state.
  public static func problems(in context: ManagedObjectContext) throws -> [String] {
    var problems: [String] = []
    var total = 0
    for owner in try context.fetch(FetchRequest("Owner")) {
      let accounts = try owner.mutableSetValue(forKey: "accounts")
      if owner.integer("count") != accounts.count {
        problems.append("\(owner.objectID) counts \(owner.integer("count")) of \(accounts.count) accounts")
      }
      for account in accounts {
        total += account.integer("balance")
        problems += try account.oneSidedRelationships(owner: owner)
      }
    }
    if total != 0 { problems.append("the sum of all balances is \(total)") }
    return problems
  }

  /// The faults of the receipts: each save of a writer leaves one, with the writer's next serial number.
  public static func receiptProblems(in context: ManagedObjectContext) throws -> [String] {
    try context.fetch(FetchRequest("Writer")).compactMap { writer in
      let receipts = try writer.mutableSetValue(forKey: "receipts").map { $0.integer("serial") }.sorted()
      guard receipts != (0..<writer.integer("serial")).map({ $0 + 1 }) else { return nil }
      return "\(writer["name"] ?? "") has made \(writer.integer("serial")) saves and has \(receipts.count) receipts"
    }
  }

  /// The accounts whose photo isn't that of their stamp.
  public static func photoProblems(in context: ManagedObjectContext) throws -> [String] {
    try context.fetch(FetchRequest("Account")).compactMap { account in
      let (stamp, found) = (account.integer("stamp"), account["photo"] as? Data)
      return found == (stamp == 0 ? nil : photo(stamp)) ? nil : "\(account.objectID) has the photo of another stamp"
    }
  }

  /// Everything that a context shows besides photos, by identifier.
  public static func contents(_ context: ManagedObjectContext) throws -> [String: String] {
    var contents: [String: String] = [:]
    for owner in try context.fetch(FetchRequest("Owner")) {
      contents[owner.objectID.description] = "\(owner.integer("count"))"
      for account in try owner.mutableSetValue(forKey: "accounts") {
        let ends = try ["owner", "partner", "tags"].map { name in
          try account.objectIDs(forRelationshipNamed: name).map(\.description).sorted().joined(separator: " ")
        }
        contents[account.objectID.description] = "\(account.integer("balance")) \(account.integer("stamp")) \(ends)"
      }
    }
    return contents
  }
}

extension ManagedObject {
  final func integer(_ name: String) -> Int { self[name] as? Int ?? 0 }

  fileprivate func oneSidedRelationships(owner: ManagedObject) throws -> [String] {
    var problems: [String] = []
    if self["owner"] as? ManagedObject !== owner {
      problems.append("\(objectID) has another owner than \(owner.objectID)")
    }
    if let partner = self["partner"] as? ManagedObject, partner["partner"] as? ManagedObject !== self {
      problems.append("\(objectID) isn't the partner of its partner \(partner.objectID)")
    }
    for tag in try mutableSetValue(forKey: "tags") where try !tag.mutableSetValue(forKey: "accounts").contains(self) {
      problems.append("\(objectID) isn't among the accounts of its tag \(tag.objectID)")
    }
    return problems
  }
}
