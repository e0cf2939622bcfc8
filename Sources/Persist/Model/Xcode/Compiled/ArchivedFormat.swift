import Foundation

/// An archived expression or predicate that can't be expressed in the format language.
package struct UnsupportedExpression: Error {
  package let what: String
}

/// Converts archived `NSExpression` objects to text in the format language.
///
/// Classes and keys are those found in archives: a key path is the function `valueForKeyPath:` of its operand;
/// arithmetic and the functions of the language are messages to the class `_NSPredicateUtilities`, everything else is
/// `FUNCTION(…)`.
package struct ArchivedFormat {
  /// The maximum nesting depth of expressions and predicates.
  static let depthLimit = 64

  private let depth: Int

  package init() { self.init(depth: 0) }
  private init(depth: Int) { self.depth = depth }

  /// Returns the converter for the next nesting level.
  func deeper(_ object: ArchivedObject) throws -> ArchivedFormat {
    try object.archive.spend(1)
    guard depth < Self.depthLimit else {
      throw PersistenceError(
        .limitExceeded, at: object.place(), "An expression is nested more than \(Self.depthLimit) levels deep.")
    }
    return ArchivedFormat(depth: depth + 1)
  }

  /// Returns the text of an expression in an archive, as found in mapping models.
  ///
  /// - Parameter place: the source of the bytes, for errors.
  static func expression(fromArchive data: Data, place: PersistenceError.Place) throws -> String {
    let root = try KeyedArchive(data: data, place: place).root()
    do {
      return try ArchivedFormat().expression(root)
    } catch let error as UnsupportedExpression {
      throw PersistenceError(
        .malformedFile, at: root.place(),
        "The archive contains \(error.what), which the predicate language can't express.")
    }
  }

  /// Returns the text of an expression.
  ///
  /// - Throws: ``UnsupportedExpression``, or ``PersistenceError`` if the archive is damaged.
  package func expression(_ object: ArchivedObject) throws -> String {
    let inner = try deeper(object)
    switch object.className ?? "" {
    case "NSSelfExpression": return "SELF"
    case "NSAnyKeyExpression": return "ANYKEY"
    case "NSConstantValueExpression": return try inner.constant(object)
    case "NSVariableExpression": return "$" + (try object.requiredText("NSVariable"))
    case "NSVariableAssignmentExpression":
      guard let value = try object.member("NSSubexpression") ?? object.member("NSExpression") else {
        throw UnsupportedExpression(what: "an assignment")
      }
      let variable = try object.text("NSAssignmentVariable") ?? object.requiredText("NSVariable")
      return "$\(variable) := \(try inner.expression(value))"
    case "NSKeyPathSpecifierExpression": return Self.keyPath(try object.requiredText("NSKeyPath"))
    case "NSKeyPathExpression", "NSFunctionExpression": return try inner.function(object)
    case "NSAggregateExpression":
      guard let elements = try object.member("NSCollection") else { return "{}" }
      if let list = try elements.elements { return "{\(try list.map(inner.expression).joined(separator: ", "))}" }
      return try inner.expression(elements)
    case "NSSetExpression", "NSUnionSetExpression", "NSIntersectSetExpression", "NSMinusSetExpression":
      return try inner.setExpression(object)
    case "NSTernaryExpression": return try inner.ternary(object)
    case "NSSubqueryExpression": return try inner.subquery(object)
    case "NSFetchRequestExpression": return try inner.fetch(object)
    case "NSSymbolicExpression": return try object.text("NSToken") ?? object.requiredText("NSSymbol")
    case "": return try Self.constantText(object, inner)
    case let name: throw UnsupportedExpression(what: "an expression of the class \(name)")
    }
  }

  /// Returns a key path in the form for format strings: reserved words are escaped.
  static func keyPath(_ path: String) -> String {
    path.split(separator: ".", omittingEmptySubsequences: false)
      .map { reservedWords.contains($0.uppercased()) ? "#\($0)" : String($0) }
      .joined(separator: ".")
  }

  /// Returns a string in quotation marks.
  static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  private static let reservedWords: Set<String> = [
    "AND", "OR", "IN", "NOT", "ALL", "ANY", "SOME", "NONE", "LIKE", "CASEINSENSITIVE", "CI", "MATCHES", "CONTAINS",
    "BEGINSWITH", "ENDSWITH", "BETWEEN", "NULL", "NIL", "SELF", "TRUE", "YES", "FALSE", "NO", "FIRST", "LAST", "SIZE",
    "ANYKEY", "SUBQUERY", "FETCH", "CAST", "TRUEPREDICATE", "FALSEPREDICATE", "UNION", "INTERSECT", "MINUS", "TERNARY",
    "FUNCTION",
  ]
}

extension ArchivedFormat {
  private func constant(_ object: ArchivedObject) throws -> String {
    if let name = try object.text("NSConstantValueClassName") { return name }
    guard let value = try object.member("NSConstantValue") else { return "nil" }
    return try Self.constantText(value, self)
  }

  private static func constantText(_ value: ArchivedObject, _ format: ArchivedFormat) throws -> String {
    if let elements = try value.elements {
      let inner = try format.deeper(value)
      return "{\(try elements.map { try constantText($0, inner) }.joined(separator: ", "))}"
    }
    switch try value.storedValue {
    case .null?: return "nil"
    case .boolean(let value)?: return value ? "YES" : "NO"
    case .integer(let value)?: return String(value)
    case .double(let value)?: return "\(value)"
    case .decimal(let value)?: return value.description
    case .string(let value)?: return quoted(value)
    case .date(let value)?: return "CAST(\(value.timeIntervalSinceReferenceDate), \"NSDate\")"
    case .uuid(let value)?: return "CAST(\"\(value.uuidString)\", \"NSUUID\")"
    case .uri(let value)?: return "CAST(\(quoted(value)), \"NSURL\")"
    case .data, .objectID, .composite, nil: break
    }
    // Constants may contain expressions, for example as the elements of a list.
    if value.className?.hasSuffix("Expression") == true { return try format.expression(value) }
    throw UnsupportedExpression(what: "a constant of the class \(value.className ?? "NSData")")
  }

  private func function(_ object: ArchivedObject) throws -> String {
    let selector = try object.requiredText("NSSelectorName")
    let arguments = try object.elements("NSArguments")
    let operand = try object.member("NSOperand")
    let operandText = try operand.map(expression)
    if ["valueForKeyPath:", "valueForKey:"].contains(selector), arguments.count == 1, let argument = arguments.first,
      argument.className == "NSKeyPathSpecifierExpression"
    {
      let path = try expression(argument)
      return operandText.map { $0 == "SELF" ? path : "\($0).\(path)" } ?? path
    }
    let texts = try arguments.map(expression)
    if let operandText, !Self.languageOperands.contains(operandText) {
      return "FUNCTION(\(([operandText, Self.quoted(selector)] + texts).joined(separator: ", ")))"
    }
    if texts.count == 2, let arithmetic = Self.arithmetic[selector] {
      return zip(arguments, texts).map { Self.isArithmetic($0) ? "(\($1))" : $1 }.joined(separator: arithmetic)
    }
    switch (selector, texts.count) {
    case ("objectFrom:withIndex:", 2): return "\(texts[0])[\(texts[1])]"
    case ("castObject:toType:", 2): return "CAST(\(texts[0]), \(texts[1]))"
    default: return "\(selector)(\(texts.joined(separator: ", ")))"
    }
  }

  /// The receivers of the language's own functions: their class, as a name or a string, or nil.
  private static let languageOperands: Set<String> = ["_NSPredicateUtilities", "\"_NSPredicateUtilities\"", "nil"]

  private static let arithmetic = [
    "add:to:": " + ", "from:subtract:": " - ", "multiply:by:": " * ", "divide:by:": " / ", "raise:toPower:": " ** ",
  ]

  private static func isArithmetic(_ object: ArchivedObject) -> Bool {
    guard let selector = try? object.text("NSSelectorName") else { return false }
    return arithmetic[selector] != nil
  }

  private func setExpression(_ object: ArchivedObject) throws -> String {
    guard let left = try object.member("NSLeftExpression"), let right = try object.member("NSRightExpression") else {
      throw UnsupportedExpression(what: "a set expression without two sides")
    }
    let word: String
    switch try object.integer("NSExpressionType") {
    case 5: word = "UNION"
    case 6: word = "INTERSECT"
    case 7: word = "MINUS"
    case let type: throw UnsupportedExpression(what: "a set expression of type \(type)")
    }
    return "\(try expression(left)) \(word) \(try expression(right))"
  }

  private func ternary(_ object: ArchivedObject) throws -> String {
    guard let condition = try object.member("NSPredicate"), let first = try object.member("NSTrueExpression"),
      let second = try object.member("NSFalseExpression")
    else { throw UnsupportedExpression(what: "a conditional expression") }
    return "TERNARY(\(try predicate(condition)), \(try expression(first)), \(try expression(second)))"
  }

  private func subquery(_ object: ArchivedObject) throws -> String {
    guard let collection = try object.member("NSExpression") ?? object.member("NSCollection"),
      let condition = try object.member("NSPredicate"),
      let variable = try object.member("NSVariable") ?? object.member("NSVariableExpression")
    else { throw UnsupportedExpression(what: "a subquery") }
    let name = try variable.text.map { "$\($0)" } ?? expression(variable)
    return "SUBQUERY(\(try expression(collection)), \(name), \(try predicate(condition)))"
  }

  private func fetch(_ object: ArchivedObject) throws -> String {
    guard let request = try object.member("NSFRExpression"), let context = try object.member("NSMOCExpression") else {
      throw UnsupportedExpression(what: "a fetch expression")
    }
    let countsOnly = try object.flag("NSCountOnlyFlag") ? "YES" : "NO"
    return "FETCH(\(try expression(request)), \(try expression(context)), \(countsOnly))"
  }
}
