import Foundation

extension ArchivedFormat {
  /// Returns the text of an archived `NSPredicate`.
  ///
  /// - Throws: ``UnsupportedExpression``, or ``PersistenceError`` if the archive is damaged.
  func predicate(_ object: ArchivedObject) throws -> String {
    let inner = try deeper(object)
    switch object.className ?? "" {
    case "NSTruePredicate": return "TRUEPREDICATE"
    case "NSFalsePredicate": return "FALSEPREDICATE"
    case "NSCompoundPredicate": return try inner.compound(object)
    case "NSComparisonPredicate": return try inner.comparison(object)
    case let name: throw UnsupportedExpression(what: "a predicate of the class \(name)")
    }
  }

  private func compound(_ object: ArchivedObject) throws -> String {
    let parts = try object.elements("NSSubpredicates")
    let texts = try parts.map { part in
      let text = try predicate(part)
      return part.className == "NSCompoundPredicate" && parts.count > 1 ? "(\(text))" : text
    }
    switch (try object.integer("NSCompoundPredicateType"), texts.count) {
    case (0, 1): return "NOT (\(texts[0]))"
    case (1, 0): return "TRUEPREDICATE"
    case (2, 0): return "FALSEPREDICATE"
    case (1, _): return texts.joined(separator: " AND ")
    case (2, _): return texts.joined(separator: " OR ")
    case (let type, let count):
      throw UnsupportedExpression(what: "a compound predicate of type \(type) with \(count) parts")
    }
  }

  private func comparison(_ object: ArchivedObject) throws -> String {
    guard let comparison = try ArchivedComparison(object) else { throw UnsupportedExpression(what: "a comparison") }
    guard let symbol = comparison.symbol else {
      throw UnsupportedExpression(what: "a comparison with the operator \(comparison.type)")
    }
    let modifier: String
    switch comparison.modifier {
    case 0: modifier = ""
    case 1: modifier = "ALL "
    case 2: modifier = "ANY "
    case let other: throw UnsupportedExpression(what: "a comparison with the modifier \(other)")
    }
    var options = ""
    for (bit, letter) in [(1, "c"), (2, "d"), (4, "n"), (8, "l")] where comparison.options & Int64(bit) != 0 {
      options += letter
    }
    if !options.isEmpty { options = "[\(options)]" }
    let left = try expression(comparison.left)
    let right = try expression(comparison.right)
    return "\(modifier)\(left) \(symbol)\(options) \(right)"
  }
}

/// The parts of an archived comparison.
struct ArchivedComparison {
  let left: ArchivedObject
  let right: ArchivedObject
  /// `NSComparisonPredicateOperatorType`.
  let type: Int64
  /// 0 for none, 1 for all, 2 for any.
  let modifier: Int64
  /// `NSComparisonPredicateOptions`.
  let options: Int64

  /// Nil if the object isn't a complete comparison.
  init?(_ object: ArchivedObject) throws {
    guard object.className == "NSComparisonPredicate", let left = try object.member("NSLeftExpression"),
      let right = try object.member("NSRightExpression"), let operation = try object.member("NSPredicateOperator")
    else { return nil }
    self.left = left
    self.right = right
    type = try operation.integer("NSOperatorType", default: -1)
    modifier = try operation.integer("NSModifier")
    options = try operation.integer("NSOptions") | operation.integer("NSFlags")
  }

  /// The operator in the format language.
  var symbol: String? {
    switch type {
    case 0: "<"
    case 1: "<="
    case 2: ">"
    case 3: ">="
    case 4: "=="
    case 5: "!="
    case 6: "MATCHES"
    case 7: "LIKE"
    case 8: "BEGINSWITH"
    case 9: "ENDSWITH"
    case 10: "IN"
    case 99: "CONTAINS"
    case 100: "BETWEEN"
    default: nil
    }
  }
}
