/// A class's validation rule for one property, in addition to the model's.
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
  /// The name of the attribute or relationship that the rule checks.
  public let key: String
  /// Checks a value that the object could have.
  let check: (ManagedObject, Any?) throws -> Void
  /// Checks the value that the object has.
  let checkCurrent: (ManagedObject) throws -> Void
}
