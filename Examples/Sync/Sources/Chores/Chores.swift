public import Foundation
public import Persist
public import PersistMacrosless
public import PersistSync

/// Something that has to be done at home.
public final class Chore: ManagedObject {
  @Attribute public var id = UUID()
  @Attribute(length: 1...200) public var title = "New chore"
  @Attribute public var isDone = false
  /// Whether everybody at home sees the chore, and may change it.
  @Attribute public var isShared = false
  @Relationship(inverse: \Member.chores, optional: false) public var owner: Member?
}

/// Somebody who lives here.
public final class Member: ManagedObject {
  @Attribute public var name = ""
  @Relationship(deleteRule: .cascade) public var chores: RelationshipSet<Chore>
}

/// What devices and the server have in common.
public enum Chores {
  /// Attributes by which all replicas know an object.
  public static let identifiers = ["Chore": "id", "Member": "name"]

  /// Opens a store with a history, which a replica needs.
  public static func open(_ url: URL) throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(Chore.self, Member.self))
    var options = StoreOptions.automaticMigration
    options.tracksHistory = true
    try coordinator.addStore(at: url, options: options)
    return coordinator
  }

  /// What a member's devices get and may change: own chores and shared ones. The owner of a shared chore arrives with
  /// it, because a chore needs one.
  public static func scope(of member: String) throws -> SyncScope {
    let visible = try FetchPredicate("owner.name == %@ OR isShared == YES", member)
    let own = try FetchPredicate("name == %@", member)
    return SyncScope([
      "Chore": .init(reading: visible, writing: visible),
      "Member": .init(reading: own, writing: own),
    ])
  }
}
