import Foundation

/// The rules of one property, ready to be put to values.
///
/// An optional attribute without a value isn't put to its rules.
struct PropertyCheck: Sendable {
  let slot: Int
  let name: String
  let isRequired: Bool
  let isToMany: Bool
  private let validation: AttributeValidation?
  private let pattern: RegularExpressionMatcher?
  private let rules: [Rule]
  private let minimumCount: Int
  private let maximumCount: Int

  /// A rule in the predicate language; one that can't be read is broken by every value, and says so.
  private struct Rule: Sendable {
    let rule: AttributeValidation.Rule
    let predicate: Result<FetchPredicate, any Error>

    init(_ rule: AttributeValidation.Rule) {
      self.rule = rule
      predicate = Result { try FetchPredicate(rule.predicate) }
    }
  }

  /// Nil for a property that has no rules.
  init?(_ property: Property) {
    slot = property.slot
    name = property.name
    switch property.kind {
    case .attribute(let attribute):
      // A derived attribute has its value only after the save that computes it.
      isRequired = !attribute.isOptional && !attribute.isDerived
      isToMany = false
      validation = attribute.validation.isEmpty ? nil : attribute.validation
      // That patterns are regular expressions was checked when the model was made.
      pattern = attribute.validation.pattern.flatMap { try? RegularExpressionMatcher($0, options: []) }
      rules = attribute.validation.rules.map(Rule.init)
      (minimumCount, maximumCount) = (0, 0)
      if !isRequired && validation == nil { return nil }
    case .relationship(let relationship):
      isRequired = !relationship.isOptional && !relationship.isToMany
      isToMany = relationship.isToMany
      validation = nil
      pattern = nil
      rules = []
      minimumCount =
        relationship.isToMany && !relationship.isOptional
        ? max(1, relationship.minimumCount) : relationship.minimumCount
      maximumCount = relationship.maximumCount
      if !isRequired && (!isToMany || (minimumCount == 0 && maximumCount == 0)) { return nil }
    case .fetchedProperty: return nil
    }
  }

  /// What is wrong with a value of an attribute or a to-one relationship.
  func problems(with value: StoredValue, of entity: String) -> [PersistError] {
    brokenRules(with: value, of: entity).map { problem, rule in
      problem.withFailure(ValidationFailure(key: name, value: value, predicate: rule))
    }
  }

  private func brokenRules(with value: StoredValue, of entity: String) -> [(PersistError, rule: String?)] {
    let place = PersistError.Place.property(entity, name)
    if value.isNull {
      guard isRequired else { return [] }
      let error = PersistError(
        .validationMissingRequired, at: place, "\(entity).\(name) is required and has no value.",
        fix: "Set it before saving.")
      return [(error, "SELF != nil")]
    }
    guard let validation else { return [] }
    var problems: [(PersistError, rule: String?)] = []
    if let minimum = validation.minimum, Self.isAscending(value, minimum) == true {
      let code: PersistError.Code = if case .date = value { .validationDateTooSoon } else { .validationNumberTooSmall }
      let error = PersistError(code, at: place, "\(name) is \(text(value)), below its minimum \(text(minimum)).")
      problems.append((error, "SELF >= \(text(minimum))"))
    }
    if let maximum = validation.maximum, Self.isAscending(maximum, value) == true {
      let code: PersistError.Code = if case .date = value { .validationDateTooLate } else { .validationNumberTooLarge }
      let error = PersistError(code, at: place, "\(name) is \(text(value)), above its maximum \(text(maximum)).")
      problems.append((error, "SELF <= \(text(maximum))"))
    }
    if case .string(let string) = value { problems += self.problems(with: string, validation, at: place) }
    problems += rules.compactMap { rule in
      problem(with: value, rule, at: place).map { ($0, rule.rule.predicate) }
    }
    return problems
  }

  private func problem(with value: StoredValue, _ rule: Rule, at place: PersistError.Place) -> PersistError? {
    do {
      if try rule.predicate.get().evaluate(with: value) { return nil }
      let broken = "\(name) is \(text(value)), which breaks the rule '\(rule.rule.predicate)'."
      return PersistError(
        .validationRule, at: place, rule.rule.warning ?? broken,
        fix: rule.rule.warning == nil ? nil : "The rule is '\(rule.rule.predicate)'.")
    } catch {
      let reason = (error as? PersistError)?.message ?? "\(error)"
      return PersistError(
        .validationRule, at: place, "The rule '\(rule.rule.predicate)' can't be put to \(name): \(reason)",
        fix: "Change the rule in the model.")
    }
  }

  private func problems(
    with string: String, _ validation: AttributeValidation, at place: PersistError.Place
  ) -> [(PersistError, rule: String?)] {
    var problems: [(PersistError, rule: String?)] = []
    if let minimum = validation.minimumLength, string.count < minimum {
      let error = PersistError(
        .validationStringTooShort, at: place, "\(name) has \(string.count) characters, fewer than \(minimum).")
      problems.append((error, "length >= \(minimum)"))
    }
    if let maximum = validation.maximumLength, string.count > maximum {
      let error = PersistError(
        .validationStringTooLong, at: place, "\(name) has \(string.count) characters, more than \(maximum).")
      problems.append((error, "length <= \(maximum)"))
    }
    guard let pattern else { return problems }
    let rule = "SELF MATCHES '\(validation.pattern ?? "")'"
    do {
      if try pattern.matches(string) { return problems }
      let said = "\(name) is '\(string.prefix(80))', which doesn't match '\(validation.pattern ?? "")'."
      problems.append((PersistError(.validationStringPattern, at: place, said), rule))
    } catch {
      let said = (error as? PersistError)?.message ?? "\(error)"
      problems.append((PersistError(.validationStringPattern, at: place, said), rule))
    }
    return problems
  }

  /// What is wrong with the number of objects of a to-many relationship.
  func problems(withCount count: Int, of entity: String) -> [PersistError] {
    let place = PersistError.Place.property(entity, name)
    if count < minimumCount {
      let said = "\(name) has \(count) objects, fewer than \(minimumCount)."
      return [problem(withCount: count, .validationTooFewObjects, at: place, said)]
    }
    if maximumCount > 0, count > maximumCount {
      let said = "\(name) has \(count) objects, more than \(maximumCount)."
      return [problem(withCount: count, .validationTooManyObjects, at: place, said)]
    }
    return []
  }

  private func problem(
    withCount count: Int, _ code: PersistError.Code, at place: PersistError.Place, _ message: String
  ) -> PersistError {
    PersistError(code, at: place, message)
      .withFailure(ValidationFailure(key: name, value: .integer(Int64(count))))
  }

  private func text(_ value: StoredValue) -> String {
    switch value {
    case .integer(let value): "\(value)"
    case .double(let value): "\(value)"
    case .decimal(let value): "\(value)"
    case .date(let value): "\(value)"
    case .string(let value): "'\(value.prefix(80))'"
    default: "\(value)"
    }
  }

  /// Whether `left` is less than `right`; nil where the two can't be compared.
  private static func isAscending(_ left: StoredValue, _ right: StoredValue) -> Bool? {
    switch (left, right) {
    case (.integer(let left), .integer(let right)): left < right
    case (.date(let left), .date(let right)): left < right
    case (.string(let left), .string(let right)): left < right
    case (.decimal, _), (_, .decimal): decimal(left).flatMap { left in decimal(right).map { left < $0 } }
    default: double(left).flatMap { left in double(right).map { left < $0 } }
    }
  }

  private static func decimal(_ value: StoredValue) -> Decimal? {
    switch value {
    case .decimal(let value): value
    case .integer(let value): Decimal(value)
    case .double(let value): Decimal(value)
    default: nil
    }
  }

  private static func double(_ value: StoredValue) -> Double? {
    switch value {
    case .double(let value): value
    case .integer(let value): Double(value)
    default: nil
    }
  }
}
