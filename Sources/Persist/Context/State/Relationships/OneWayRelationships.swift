/// A context's knowledge of unsaved changes of relationships without an inverse: nothing leads from a member or a
/// destination back to the objects that refer to it.
final class OneWayRelationships {
  /// The owners to which members of to-many relationships were last added since the last save.
  private var owners: [OneWayMember: ManagedObjectID] = Dictionary()
  /// The owners that were read without stored members which unsaved changes had added to other owners.
  private var ownersWithoutTaken: Set<ManagedObjectID> = []
  /// The holders of new objects that the program deletes one by one: kept until the next save, so that not all changed
  /// objects are examined for each.
  private var keptHolders: OneWayHolders?
  /// A number that changes whenever a relationship gets a destination or a member.
  private(set) var revision = 0

  /// Whether members were added since the last save.
  var hasAdded: Bool { !owners.isEmpty }

  /// The owner to which a member was last added.
  func owner(of member: OneWayMember) -> ManagedObjectID? { owners[member] }

  func add(_ member: OneWayMember, to owner: ManagedObjectID) { owners[member] = owner }

  /// Registers the added members again, after objects have received other identifiers.
  func replaceAdded(by owners: [OneWayMember: ManagedObjectID]) { self.owners = owners }

  /// Records that an object refers to another one.
  func record(_ destination: ManagedObject, of source: ManagedObject) {
    revision &+= 1
    keptHolders?.record(source, relatedTo: destination)
  }

  /// The kept holders of a context.
  func holders(in context: ManagedObjectContext) -> OneWayHolders {
    if let keptHolders { return keptHolders }
    let holders = OneWayHolders(in: context)
    keptHolders = holders
    return holders
  }

  /// Records that an owner was read without members that others had taken.
  func recordWithoutTaken(_ owner: ManagedObjectID) { ownersWithoutTaken.insert(owner) }

  /// Returns and forgets the owners that were read without members that others had taken.
  func takeOwnersWithoutTaken() -> Set<ManagedObjectID> {
    defer { ownersWithoutTaken = [] }
    return ownersWithoutTaken
  }

  /// Forgets the changes, after they were saved or discarded.
  ///
  /// - Parameter keepingTaken: Whether owners must still reread members that others had taken.
  func forgetChanges(keepingTaken: Bool = false) {
    (owners, keptHolders) = (Dictionary(), nil)
    if !keepingTaken { ownersWithoutTaken = [] }
  }
}
