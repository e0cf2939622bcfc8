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
    let place = PersistError.Place.property(entity, name)
    if value.isNull {
      guard isRequired else { return [] }
      return [
        PersistError(
          .validationMissingRequired, at: place, "\(entity).\(name) is required and has no value.",
          fix: "Set it before saving.")
      ]
    }
    guard let validation else { return [] }
    var problems: [PersistError] = []
    if let minimum = validation.minimum, Self.isAscending(value, minimum) == true {
      let code: PersistError.Code = if case .date = value { .validationDateTooSoon } else { .validationNumberTooSmall }
      problems.append(PersistError(code, at: place, "\(name) is \(text(value)), below its minimum \(text(minimum))."))
    }
    if let maximum = validation.maximum, Self.isAscending(maximum, value) == true {
      let code: PersistError.Code = if case .date = value { .validationDateTooLate } else { .validationNumberTooLarge }
      problems.append(PersistError(code, at: place, "\(name) is \(text(value)), above its maximum \(text(maximum))."))
    }
    if case .string(let string) = value { problems += self.problems(with: string, validation, at: place) }
    problems += rules.compactMap { problem(with: value, $0, at: place) }
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
  ) -> [PersistError] {
    var problems: [PersistError] = []
    if let minimum = validation.minimumLength, string.count < minimum {
      problems.append(
        PersistError(
          .validationStringTooShort, at: place, "\(name) has \(string.count) characters, fewer than \(minimum)."))
    }
    if let maximum = validation.maximumLength, string.count > maximum {
      problems.append(
        PersistError(
          .validationStringTooLong, at: place, "\(name) has \(string.count) characters, more than \(maximum)."))
    }
    guard let pattern else { return problems }
    do {
      if try pattern.matches(string) { return problems }
      problems.append(
        PersistError(
          .validationStringPattern, at: place,
          "\(name) is '\(string.prefix(80))', which doesn't match '\(validation.pattern ?? "")'."))
    } catch {
      problems.append(
        PersistError(.validationStringPattern, at: place, (error as? PersistError)?.message ?? "\(error)"))
    }
    return problems
  }

  /// What is wrong with the number of objects of a to-many relationship.
  func problems(withCount count: Int, of entity: String) -> [PersistError] {
    let place = PersistError.Place.property(entity, name)
    if count < minimumCount {
      return [
        PersistError(
          .validationTooFewObjects, at: place, "\(name) has \(count) objects, fewer than \(minimumCount).")
      ]
    }
    if maximumCount > 0, count > maximumCount {
      return [
        PersistError(
          .validationTooManyObjects, at: place, "\(name) has \(count) objects, more than \(maximumCount).")
      ]
    }
    return []
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
