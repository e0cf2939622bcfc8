public import Foundation

extension FetchPredicate {
  /// Parses a predicate in NSPredicate's format language with arguments of any type, as in code written for Core Data.
  ///
  /// ```swift
  /// try FetchPredicate(format: "name IN %@ AND due < %@", argumentArray: [names, NSDate()])
  /// ```
  ///
  /// - Parameters:
  ///   - format: A predicate in the format language.
  ///   - arguments: The types of ``FetchArgument``, Foundation classes with the same values, and arrays and sets of
  ///     them; nil for none.
  /// - Throws: ``PersistenceError/Code/typeMismatch``, with the argument's position, if an argument can't be compared
  ///   with anything, and the errors of ``init(_:arguments:)``.
  public init(format: String, argumentArray arguments: [Any]?) throws {
    let expressions = try (arguments ?? []).enumerated().map { place, argument in
      if let expression = FetchExpression(anyArgument: argument) { return expression }
      throw PersistenceError(
        .typeMismatch, "Argument \(place + 1) of '\(format)' is of type \(type(of: argument)), which no property has.",
        fix: "Use a number, a string, a date, data, a UUID, a URL, an object or an array of them.")
    }
    self = try FormatParser.predicate(format, arguments: expressions)
  }
}

extension FetchExpression {
  /// The constant for a value; nil if no property can have a value of its type.
  fileprivate init?(anyArgument value: Any) {
    switch GivenValue(value) {
    case .value(let value)?: self = .constant(value)
    case .float(let value)?: self = value.fetchExpression
    case nil:
      // Foundation's collections are arguments by means of this initializer.
      if let members = Self.members(of: value) {
        var expressions: [FetchExpression] = []
        for member in members {
          guard let expression = FetchExpression(anyArgument: member) else { return nil }
          expressions.append(expression)
        }
        self = .aggregate(expressions)
      } else if let argument = value as? any FetchArgument {
        self = argument.fetchExpression
      } else {
        return nil
      }
    }
  }

  private static func members(of value: Any) -> [Any]? {
    switch value {
    case let list as NSArray: Array(list)
    case let set as NSSet: set.allObjects
    case let set as NSOrderedSet: set.array
    case let list as [Any]: list
    case let set as Set<AnyHashable>: set.map(\.base)
    default: nil
    }
  }
}

extension FetchArgument where Self: NSObject {
  /// The value that the object contains, as ``FetchPredicate/init(format:argumentArray:)`` takes it.
  ///
  /// - Precondition: The members of a collection are arguments.
  public var fetchExpression: FetchExpression {
    guard let expression = FetchExpression(anyArgument: self) else {
      preconditionFailure("A member of this \(type(of: self)) has a type that no property has.")
    }
    return expression
  }
}

extension NSNumber: FetchArgument {}
extension NSString: FetchArgument {}
extension NSDate: FetchArgument {}
extension NSData: FetchArgument {}
extension NSUUID: FetchArgument {}
extension NSURL: FetchArgument {}
extension NSNull: FetchArgument {}
extension NSArray: FetchArgument {}
extension NSSet: FetchArgument {}
extension NSOrderedSet: FetchArgument {}
