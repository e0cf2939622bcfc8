/// A rule of a class's own for one property, beside the model's.
///
/// ```swift
/// final class Employee: ManagedObject {
///   override class var validators: [PropertyValidator] {
///     [
///       PropertyValidator("salary") { _, value in
///         if let salary = value as? Int, salary > 1_000_000 { throw TooRich(salary) }
///       }
///     ]
///   }
/// }
/// ```
public struct PropertyValidator {
  public let key: String
  let check: (ManagedObject, Any?) throws -> Void

  /// - Parameters:
  ///   - key: the name of an attribute or relationship.
  ///   - check: is given the object and the value, as ``ManagedObject/value(forKey:)`` gives it; what it throws comes
  ///     out of the save as it is, where it is all that is wrong. It isn't to change the object.
  public init(_ key: String, _ check: @escaping (ManagedObject, Any?) throws -> Void) {
    self.key = key
    self.check = check
  }
}
