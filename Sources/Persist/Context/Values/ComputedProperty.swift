/// A property that a class computes, for access by key.
///
/// Without Objective-C a class can't be asked for a property by its name. A class lists what key-value access,
/// predicates in memory and sort orders in memory are to find: transient attributes of the model that it computes, and
/// properties that the model doesn't have.
///
/// ```swift
/// final class Person: ManagedObject {
///   var displayName: String { "\(self["name"] as? String ?? "") (\(self["nickname"] as? String ?? ""))" }
///
///   override class var computedProperties: [ComputedProperty] {
///     [ComputedProperty("displayName") { (person: Person) in person.displayName }]
///   }
/// }
///
/// person["displayName"]                                  // Ann (buddy)
/// ```
public struct ComputedProperty {
  public let key: String
  let value: (ManagedObject) -> Any?

  /// - Parameters:
  ///   - key: the name of a transient attribute, or one that the entity has no property of.
  ///   - compute: gives the value; it isn't to ask the object for the same key.
  public init<Owner: ManagedObject, Value>(_ key: String, _ compute: @escaping (Owner) -> Value?) {
    self.key = key
    value = { object in (object as? Owner).flatMap(compute) }
  }
}

extension ManagedObject {
  /// The value that the class computes for a name; nil for stored properties, which no computed one hides.
  ///
  /// - Parameter slot: the slot of the entity's property of that name; nil where it has none.
  final func computedProperty(named name: String, at slot: Int?) -> ComputedProperty? {
    if let slot, layout.kinds[slot] != .transient { return nil }
    return Swift.type(of: self).computedProperties.first { $0.key == name }
  }
}
