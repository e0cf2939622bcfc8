import Foundation
import Persist

/// A reference to a value that a validation method checks and may replace.
///
/// On Apple's platforms it is a pointer of Objective-C's.
public struct AutoreleasingUnsafeMutablePointer<Pointee> {
  private final class Storage {
    var value: Pointee
    let target: UnsafeMutablePointer<Pointee>?

    init(_ value: Pointee, _ target: UnsafeMutablePointer<Pointee>?) { (self.value, self.target) = (value, target) }
  }

  private let storage: Storage

  /// Refers to a copy of a value.
  public init(_ value: Pointee) { storage = Storage(value, nil) }

  /// Refers to a variable, as in `AutoreleasingUnsafeMutablePointer(&value)`. It must exist as long as the reference is
  /// used.
  public init(_ target: UnsafeMutablePointer<Pointee>) { storage = Storage(target.pointee, target) }

  /// The value.
  public var pointee: Pointee {
    get { storage.value }
    nonmutating set {
      storage.value = newValue
      storage.target?.pointee = newValue
    }
  }
}

/// A class's validation method for one property.
public struct ManagedValidator {
  let key: String
  let check: (NSManagedObject, AutoreleasingUnsafeMutablePointer<AnyObject?>) throws -> Void

  /// - Parameters:
  ///   - key: The name of an attribute or relationship. Entities without it aren't affected.
  ///   - check: The method, which may replace the value.
  public init<Object: NSManagedObject>(
    _ key: String, _ check: @escaping (Object, AutoreleasingUnsafeMutablePointer<AnyObject?>) throws -> Void
  ) {
    self.key = key
    self.check = { object, pointer in
      if let object = object as? Object { try check(object, pointer) }
    }
  }

  /// Throws the error of the method's call that preceded the model's rules.
  var validator: PropertyValidator {
    PropertyValidator(key) { object, _ in
      if let error = ValidationOutcomes.error(of: key, in: object) { throw error }
    }
  }
}

/// The errors of validation methods while the model's rules are checked, by object and property.
///
/// Validation methods are called before the rules of the model, which then check the values that replaced others.
enum ValidationOutcomes {
  private static let errors = Locked<[ObjectIdentifier: [String: [any Error]]]>([:])

  static func error(of key: String, in object: ManagedObject) -> (any Error)? {
    // A property with several validating methods may have several errors; each validator reports one of them.
    errors.withLock { errors in
      guard var waiting = errors[ObjectIdentifier(object)]?[key], !waiting.isEmpty else { return nil }
      defer { errors[ObjectIdentifier(object)]?[key] = waiting }
      return waiting.removeFirst()
    }
  }

  /// Calls the validation methods, and then a body that checks the model's rules.
  static func checking(
    _ object: NSManagedObject, _ outcomes: () -> [String: [any Error]], _ body: () throws -> Void
  ) throws {
    let outcomes = outcomes()
    guard !outcomes.isEmpty else { return try body() }
    let id = ObjectIdentifier(object)
    let former = errors.withLock { errors in
      defer { errors[id] = outcomes }
      return errors[id]
    }
    defer { errors.withLock { $0[id] = former } }
    try body()
  }
}

extension NSManagedObject {
  /// Calls the validation methods for the object's values, or for the changed ones, and sets those that they replace.
  ///
  /// - Returns: The errors by property.
  final func outcomes(all: Bool) -> [String: [any Error]] {
    let validators = type(of: self).managedValidators
    guard !validators.isEmpty else { return [:] }
    let changed = all ? nil : Set(plain.changedValues().keys)
    var errors: [String: [any Error]] = [:]
    for validator in validators where changed?.contains(validator.key) != false {
      guard let property = plain.entity.property(named: validator.key) else { continue }
      let isOrdered = property.relationship?.isOrdered == true
      let value = FoundationValue.any(FoundationValue.collection(plain[validator.key], isOrdered: isOrdered))
      let given = NSObject.converted(value) ?? value as AnyObject?
      let pointer = AutoreleasingUnsafeMutablePointer<AnyObject?>(given)
      do { try validator.check(self, pointer) } catch {
        errors[validator.key, default: []].append(error)
        continue
      }
      if pointer.pointee !== given { setManagedAny(pointer.pointee, validator.key) }
    }
    return errors
  }

  /// Calls the validation methods of one property with a value that the object could have.
  final func outcomes(
    of key: String, _ value: AutoreleasingUnsafeMutablePointer<AnyObject?>
  ) -> [String: [any Error]] {
    var errors: [any Error] = []
    for validator in type(of: self).managedValidators where validator.key == key {
      do { try validator.check(self, value) } catch { errors.append(error) }
    }
    return errors.isEmpty ? [:] : [key: errors]
  }

  /// Checks whether a property could have a value, by the class's validation methods and the model's rules. A
  /// validation method may replace the value.
  ///
  /// - Throws: An error in the domain `NSCocoaErrorDomain` for a broken rule; the class's own errors.
  public final func validateValue(_ value: inout AnyObject?, forKey key: String) throws {
    let pointer = AutoreleasingUnsafeMutablePointer<AnyObject?>(value)
    defer { value = pointer.pointee }
    try validateValue(pointer, forKey: key)
  }
}
