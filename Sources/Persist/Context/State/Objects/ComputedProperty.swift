/// A property that a class computes, for access by key.
///
/// Without Objective-C, a property of a class can't be looked up by name. A class lists the properties to be accessible
/// by key-value access, predicates in memory and sort orders in memory: transient attributes of the model that it
/// computes, and properties that aren't in the model.
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
  /// The key under which the value is accessible.
  public let key: String
  let value: (ManagedObject) -> Any?

  /// - Parameters:
  ///   - key: The name of a transient attribute, or a name that isn't a property of the entity.
  ///   - compute: Returns the value; it must not access the same key of the object.
  public init<Owner: ManagedObject, Value>(_ key: String, _ compute: @escaping (Owner) -> Value?) {
    self.key = key
    value = { object in (object as? Owner).flatMap(compute) }
  }
}

extension ManagedObject {
  /// Returns the class's computed property with a name; nil for stored properties, which computed ones can't hide.
  ///
  /// - Parameter slot: The slot of the entity's property with that name; nil if there is none.
  final func computedProperty(named name: String, at slot: Int?) -> ComputedProperty? {
    if let slot, layout.kinds[slot] != .transient { return nil }
    return Swift.type(of: self).computedProperties.first { $0.key == name }
  }
}
