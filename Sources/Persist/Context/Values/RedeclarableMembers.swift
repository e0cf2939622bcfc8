/// Members of managed objects that a subclass may declare anew with other types.
public protocol RedeclarableMembers: AnyObject {}

extension ManagedObject: RedeclarableMembers {}

extension RedeclarableMembers where Self: ManagedObject {
  /// The object's entity: its most specific one, not an ancestor.
  public var entity: Entity { withLayout { $0.entity } }

  /// The object's context; nil if it has none or has left it.
  public var managedObjectContext: ManagedObjectContext? {
    noteRead(.state)
    return table?.context
  }
}
