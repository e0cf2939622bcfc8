/// The classes of the objects that a fetch finds, collected while the objects are in use anyway.
struct ObjectClasses {
  /// Few: one for each entity of a hierarchy that has a class.
  private var classes: [ManagedObject.Type] = []
  /// Most objects have the class of the previous one.
  private var last: ManagedObject.Type?

  @inline(__always)
  mutating func insert(of object: ManagedObject) {
    let type = type(of: object)
    if type != last { insert(type) }
  }

  @inline(never)
  private mutating func insert(_ type: ManagedObject.Type) {
    last = type
    if !contains(type) { classes.append(type) }
  }

  func contains(_ type: ManagedObject.Type) -> Bool { classes.contains { $0 == type } }

  /// Whether each class is a type or a subclass of it.
  func areAll<Object>(_ type: Object.Type) -> Bool { classes.allSatisfy { $0 is Object.Type } }
}
