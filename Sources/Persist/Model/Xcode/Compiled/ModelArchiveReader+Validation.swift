extension ModelArchiveReader {
  /// Reads the predicates that validate an attribute's values.
  ///
  /// Limits set in the model editor are compiled to predicates with an error number as their warning, such as 1620 for
  /// a minimum; they are converted back to limits. All others become rules.
  func readValidation(of object: ArchivedObject, into attribute: inout AttributeDescription) throws {
    let predicates = try object.elements("NSValidationPredicates")
    let warnings = try object.elements("NSValidationWarnings")
    for (index, predicate) in predicates.enumerated() {
      let warning = index < warnings.count ? try summary(warnings[index]) : nil
      let isStandard = warning.map { Int($0) != nil } ?? true
      if isStandard, try readLimit(predicate, into: &attribute) { continue }
      do {
        let text = try ArchivedFormat().predicate(predicate)
        attribute.validation.rules.append(.init(predicate: text, warning: warning))
      } catch let error as UnsupportedExpression {
        attribute.unknown["NSValidationPredicates[\(index)]"] = error.what
      }
    }
  }

  /// Converts a comparison to a limit if it has the form of one that isn't set yet.
  private func readLimit(_ predicate: ArchivedObject, into attribute: inout AttributeDescription) throws -> Bool {
    guard let comparison = try ArchivedComparison(predicate), comparison.modifier == 0, comparison.options == 0,
      comparison.right.className == "NSConstantValueExpression",
      let constant = try comparison.right.member("NSConstantValue")?.storedValue
    else { return false }
    let type = attribute.type
    let left: String
    do { left = try ArchivedFormat().expression(comparison.left) } catch is UnsupportedExpression { return false }
    switch (left, comparison.type) {
    case ("SELF", 3) where attribute.validation.minimum == nil: attribute.validation.minimum = limit(constant, of: type)
    case ("SELF", 1) where attribute.validation.maximum == nil: attribute.validation.maximum = limit(constant, of: type)
    case ("SELF", 6) where attribute.validation.pattern == nil:
      guard case .string(let pattern) = constant else { return false }
      attribute.validation.pattern = pattern
    case ("length", 3) where attribute.validation.minimumLength == nil:
      attribute.validation.minimumLength = length(constant)
      return attribute.validation.minimumLength != nil
    case ("length", 1) where attribute.validation.maximumLength == nil:
      attribute.validation.maximumLength = length(constant)
      return attribute.validation.maximumLength != nil
    default: return false
    }
    return switch comparison.type {
    case 3: attribute.validation.minimum != nil
    case 1: attribute.validation.maximum != nil
    default: true
    }
  }

  private func limit(_ value: StoredValue, of type: AttributeType) -> StoredValue? {
    switch type {
    case .int16, .int32, .int64, .decimal, .double, .float, .date: value.converted(to: type)
    case .boolean: value.converted(to: .int64)
    default: nil
    }
  }

  private func length(_ value: StoredValue) -> Int? {
    guard case .integer(let number)? = value.converted(to: .int64) else { return nil }
    return Int(exactly: number)
  }
}
