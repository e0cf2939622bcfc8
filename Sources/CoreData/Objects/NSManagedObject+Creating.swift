import Foundation
import Persist

extension NSManagedObject: SubclassCreating {}

// An initializer of a protocol extension can be called on any class, as Objective-C's can.
extension SubclassCreating where Self: NSManagedObject {
  /// Creates an object of the entity whose class this is, and inserts it into a context.
  public init(context: NSManagedObjectContext) {
    self.init(creating: { Self.create(context.entity(servedBy: Self.self), in: context) })
  }
}

extension NSManagedObject {
  /// Creates an object of the entity whose class this is, and inserts it into a context. The source pass puts it in the
  /// place of `type.init(context:)`, where the class is known only at run time.
  public final class func managed(context: NSManagedObjectContext) -> Self {
    create(context.entity(servedBy: self), in: context)
  }

  /// Creates an object of an entity and inserts it into a context; without a context, it can be inserted later. The
  /// source pass puts it in the place of `init(entity:insertInto:)`.
  ///
  /// - Returns: An object of the entity's class if that is a subclass of this one, as on Apple's platforms.
  public final class func managed(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) -> Self {
    let type = context?.managedObjectClass(of: entity) ?? entity.managedObjectClass
    return (type as? Self.Type ?? self).create(entity, in: context)
  }
}
