import Foundation
import Persist

/// A reference to a value that a validation method checks.
///
/// On Apple's platforms it is a pointer of Objective-C's.
public struct AutoreleasingUnsafeMutablePointer<Pointee> {
  fileprivate final class Storage {
    var value: Pointee

    init(_ value: Pointee) { self.value = value }
  }

  fileprivate let storage: Storage

  /// Refers to a copy of a value, as `&value` does in a call on Apple's platforms.
  public init(_ value: Pointee) { storage = Storage(value) }

  /// The value.
  public var pointee: Pointee {
    get { storage.value }
    nonmutating set { storage.value = newValue }
  }
}

/// A class's validation method for one property.
public struct ManagedValidator {
  let validator: PropertyValidator

  /// - Parameters:
  ///   - key: The name of an attribute or relationship. Entities without it aren't affected.
  ///   - check: The method. It can't replace the value, as it can on Apple's platforms: that is an error.
  public init<Object: NSManagedObject>(
    _ key: String, _ check: @escaping (Object, AutoreleasingUnsafeMutablePointer<AnyObject?>) throws -> Void
  ) {
    validator = PropertyValidator(key) { object, value in
      guard let object = object as? Object else { return }
      let isOrdered = object.plain.entity.property(named: key)?.relationship?.isOrdered == true
      let given = NSObject.converted(FoundationValue.any(FoundationValue.collection(value, isOrdered: isOrdered)))
      let pointer = AutoreleasingUnsafeMutablePointer<AnyObject?>(given)
      try check(object, pointer)
      guard pointer.pointee !== given else { return }
      throw PersistenceError(
        .validationRule, at: .property(object.plain.entity.name, key),
        "The validation of '\(key)' replaced its value, which isn't possible while an object is being saved.",
        fix: "Set another value in willSave() or in the property's setter.")
    }
  }
}
