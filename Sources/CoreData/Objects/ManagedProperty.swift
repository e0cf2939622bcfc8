import Persist

/// A property of a class that isn't in its model, accessible by key as `@objc` properties are on Apple's platforms.
public struct ManagedProperty {
  let key: String
  fileprivate let get: (NSManagedObject) -> Any?
  private let set: ((NSManagedObject, ManagedInput) -> Void)?

  /// - Parameters:
  ///   - key: The property's name. It is not a persistent property of the class's entity.
  ///   - get: Returns the value.
  ///   - set: Sets the value; nil for a property that can't be set.
  public init<Object: NSManagedObject, Value>(
    _ key: String, _ get: @escaping (Object) -> Value, set: ((Object, ManagedInput) -> Void)? = nil
  ) {
    self.key = key
    self.get = { object in
      guard let object = object as? Object else { return nil }
      let value: Any = get(object)
      return (value as? any OptionalManagedValue)?.wrapped ?? (value is any OptionalManagedValue ? nil : value)
    }
    self.set = set.map { set in
      { object, value in (object as? Object).map { set($0, value) } }
    }
  }

  func value(of object: NSManagedObject) -> Any? { FoundationValue.any(get(object)) }

  /// Sets the value; false if it can't be set.
  func setValue(_ value: Any?, of object: NSManagedObject) -> Bool {
    guard let set else { return false }
    set(object, ManagedInput(value: value, key: key, object: object))
    return true
  }
}

/// A value that is set by key, as the type that the class declares.
public struct ManagedInput {
  let value: Any?
  let key: String
  let object: NSManagedObject

  /// Returns the value as a type.
  ///
  /// Stops the program if the value can't be converted, as a wrong type does on Apple's platforms.
  public func value<Value>(as type: Value.Type = Value.self) -> Value {
    ManagedValue.value(value, of: key, in: object)
  }
}

/// The properties of classes by key, read once for each class.
enum ManagedProperties {
  // Unchecked: closures of classes' own properties, which are called with the objects of any context.
  private struct Properties: @unchecked Sendable {
    let byKey: [String: ManagedProperty]
    let computed: [ComputedProperty]
  }

  private static let known = Locked<[ObjectIdentifier: Properties]>([:])

  private static func properties(of type: NSManagedObject.Type) -> Properties {
    let id = ObjectIdentifier(type)
    if let properties = known.withLock({ $0[id] }) { return properties }
    let declared = type.managedProperties
    let properties = Properties(
      byKey: Dictionary(declared.map { ($0.key, $0) }, uniquingKeysWith: { $1 }),
      computed: declared.reversed().map { property in
        ComputedProperty(property.key) { (object: NSManagedObject) in property.get(object) }
      })
    known.withLock { $0[id] = properties }
    return properties
  }

  static func property(_ key: String, of object: NSManagedObject) -> ManagedProperty? {
    properties(of: type(of: object)).byKey[key]
  }

  static func computed(of type: NSManagedObject.Type) -> [ComputedProperty] { properties(of: type).computed }
}
