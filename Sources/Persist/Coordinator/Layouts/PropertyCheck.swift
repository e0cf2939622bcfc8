import Foundation

/// The validation rules of one property, compiled for checking values.
///
/// Rules aren't applied to an optional attribute without a value.
final class PropertyCheck: Sendable {
  let slot: Int
  let name: String
  let isRequired: Bool
  let isToMany: Bool
  /// The expression of a derived attribute; nil for any other property.
  private let derivation: Result<FetchExpression, any Error>?
  private let validation: AttributeValidation?
  /// The limits of the validation as values of the attribute's type.
  private let limits: (minimum: StoredValue?, maximum: StoredValue?)
  private let isFloat: Bool
  /// A pattern that can't be used fails for every string.
  private let pattern: Result<RegularExpressionMatcher, any Error>?
  private let rules: [Rule]
  private let minimumCount: Int
  private let maximumCount: Int
  /// Whether a to-many relationship may be empty regardless of its minimum count, which binds only required
  /// relationships.
  private let mayBeEmpty: Bool

  /// A rule in the predicate language. A rule that can't be parsed fails for every value, with the parsing error.
  private struct Rule: Sendable {
    let rule: AttributeValidation.Rule
    let predicate: Result<FetchPredicate, any Error>

    init(_ rule: AttributeValidation.Rule) {
      self.rule = rule
      predicate = Result { try FetchPredicate(rule.predicate) }
    }
  }

  /// Returns nil for a property without rules.
  init?(_ property: Property) {
    switch property.kind {
    case .attribute(let attribute):
      let rules = attribute.validation
      validation = rules.isEmpty ? nil : rules
      isRequired = !attribute.isOptional
      if !isRequired && validation == nil { return nil }
      derivation = attribute.derivation.map { text in Result { try FetchExpression(text) } }
      isToMany = false
      // A float that is set to 0.7 is less than the double 0.7. Core Data's compiled limits are floats, too.
      isFloat = attribute.type == .float
      let (minimum, maximum) = (rules.minimum, rules.maximum)
      limits = isFloat ? (minimum?.roundedToFloat, maximum?.roundedToFloat) : (minimum, maximum)
      pattern = rules.pattern.map { text in Result { try RegularExpressionMatcher(text, options: []) } }
      self.rules = rules.rules.map(Rule.init)
      (minimumCount, maximumCount, mayBeEmpty) = (0, 0, true)
    case .relationship(let relationship):
      derivation = nil
      isRequired = !relationship.isOptional && !relationship.isToMany
      isToMany = relationship.isToMany
      validation = nil
      isFloat = false
      limits = (nil, nil)
      pattern = nil
      rules = []
      minimumCount = relationship.minimumCount
      maximumCount = relationship.maximumCount
      mayBeEmpty = relationship.isOptional
      if !isRequired && (!isToMany || (minimumCount == 0 && maximumCount == 0)) { return nil }
    case .fetchedProperty: return nil
    }
    (slot, name) = (property.slot, property.name)
  }

  var isDerived: Bool { derivation != nil }

  /// Returns the problems with the future value of a derived attribute, which the store computes in the save being
  /// validated.
  func problems(withValueDerivedFrom object: any KeyedObject, of entity: String) -> [PersistenceError] {
    guard let derivation else { return [] }
    do {
      guard case .value(let value) = try derivation.get().value(for: object) else { return [] }
      return problems(with: value, of: entity)
    } catch {
      let reason = (error as? PersistenceError)?.message ?? "\(error)"
      return [
        PersistenceError(
          .validationRule, at: .property(entity, name), "The value of the derived \(name) can't be computed: \(reason)",
          fix: "Change the derivation in the model.")
      ]
    }
  }

  /// Returns the problems with a value of an attribute or to-one relationship.
  func problems(with value: StoredValue, of entity: String) -> [PersistenceError] {
    brokenRules(with: value, of: entity).map { problem, rule in
      problem.withFailure(ValidationFailure(key: name, value: value, predicate: rule))
    }
  }

  private func brokenRules(with value: StoredValue, of entity: String) -> [(PersistenceError, rule: String?)] {
    var place: PersistenceError.Place { .property(entity, name) }
    if value.isNull {
      guard isRequired else { return [] }
      let error = PersistenceError(
        .validationMissingRequired, at: place, "\(entity).\(name) is required and has no value.",
        fix: "Set it before saving.")
      return [(error, "SELF != nil")]
    }
    guard let validation else { return [] }
    var problems: [(PersistenceError, rule: String?)] = []
    let number = isFloat ? value.roundedToFloat : value
    if let limit = limits.minimum, let minimum = validation.minimum, number.order(to: limit) == .less {
      let code: PersistenceError.Code =
        if case .date = value { .validationDateTooSoon } else { .validationNumberTooSmall }
      let error = PersistenceError(code, at: place, "\(name) is \(value), below its minimum \(minimum).")
      problems.append((error, "SELF >= \(FetchExpression.constant(minimum))"))
    }
    if let limit = limits.maximum, let maximum = validation.maximum, limit.order(to: number) == .less {
      let code: PersistenceError.Code =
        if case .date = value { .validationDateTooLate } else { .validationNumberTooLarge }
      let error = PersistenceError(code, at: place, "\(name) is \(value), above its maximum \(maximum).")
      problems.append((error, "SELF <= \(FetchExpression.constant(maximum))"))
    }
    if case .string(let string) = value { problems += self.problems(with: string, validation, at: place) }
    problems += rules.compactMap { rule in
      problem(with: value, rule, at: place).map { ($0, rule.rule.predicate) }
    }
    return problems
  }

  private func problem(with value: StoredValue, _ rule: Rule, at place: PersistenceError.Place) -> PersistenceError? {
    do {
      if try rule.predicate.get().evaluate(with: value) { return nil }
      let broken = "\(name) is \(value), which violates the rule '\(ValueWords.format(rule.rule.predicate))'."
      return PersistenceError(
        .validationRule, at: place, rule.rule.warning ?? broken,
        fix: rule.rule.warning == nil ? nil : "The rule is '\(ValueWords.format(rule.rule.predicate))'.")
    } catch {
      let reason = (error as? PersistenceError)?.message ?? "\(error)"
      return PersistenceError(
        .validationRule, at: place,
        "The rule '\(ValueWords.format(rule.rule.predicate))' can't be evaluated for \(name): \(reason)",
        fix: "Change the rule in the model.")
    }
  }

  private func problems(
    with string: String, _ validation: AttributeValidation, at place: PersistenceError.Place
  ) -> [(PersistenceError, rule: String?)] {
    var problems: [(PersistenceError, rule: String?)] = []
    let length = string.utf16.count
    if let minimum = validation.minimumLength, length < minimum {
      let error = PersistenceError(
        .validationStringTooShort, at: place, "\(name) has a length of \(length) UTF-16 units, less than \(minimum).")
      problems.append((error, "length >= \(minimum)"))
    }
    if let maximum = validation.maximumLength, length > maximum {
      let error = PersistenceError(
        .validationStringTooLong, at: place, "\(name) has a length of \(length) UTF-16 units, more than \(maximum).")
      problems.append((error, "length <= \(maximum)"))
    }
    guard let pattern else { return problems }
    let rule = "SELF MATCHES \(FetchExpression.constant(.string(validation.pattern ?? "")))"
    do {
      if try pattern.get().matches(string) { return problems }
      let wanted = ValueWords.text(validation.pattern ?? "")
      let said = "\(name) is \(ValueWords.text(string)), which doesn't match \(wanted)."
      problems.append((PersistenceError(.validationStringPattern, at: place, said), rule))
    } catch {
      let said = (error as? PersistenceError)?.message ?? "\(error)"
      problems.append((PersistenceError(.validationStringPattern, at: place, said), rule))
    }
    return problems
  }

  /// Returns the problems with the number of objects in a to-many relationship.
  func problems(withCount count: Int, of entity: String) -> [PersistenceError] {
    var place: PersistenceError.Place { .property(entity, name) }
    if count < minimumCount, count > 0 || !mayBeEmpty {
      let said = "\(name) has \(Measure.count(count, "object")), fewer than \(minimumCount)."
      return [problem(withCount: count, .validationTooFewObjects, at: place, said)]
    }
    if maximumCount > 0, count > maximumCount {
      let said = "\(name) has \(Measure.count(count, "object")), more than \(maximumCount)."
      return [problem(withCount: count, .validationTooManyObjects, at: place, said)]
    }
    return []
  }

  private func problem(
    withCount count: Int, _ code: PersistenceError.Code, at place: PersistenceError.Place, _ message: String
  ) -> PersistenceError {
    PersistenceError(code, at: place, message)
      .withFailure(ValidationFailure(key: name, value: .integer(Int64(count))))
  }
}

extension StoredValue {
  /// A number rounded to the nearest float.
  fileprivate var roundedToFloat: StoredValue {
    switch self {
    case .integer(let value): .double(Double(Float(value)))
    case .double(let value): .double(Double(Float(value)))
    case .decimal(let value): Double(value.description).map { StoredValue.double(Double(Float($0))) } ?? self
    default: self
    }
  }
}
