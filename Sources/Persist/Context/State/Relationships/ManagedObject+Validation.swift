import Foundation

extension ManagedObject {
  /// Validates the values against the rules of the model and the class.
  ///
  /// - Parameter all: Whether unchanged properties are checked too.
  final func validateProperties(all: Bool) throws {
    let validators = type(of: self).validators
    let hasChecks = withLayout { !$0.checks.isEmpty }
    if !hasChecks, validators.isEmpty, columnsHoldLooseValues { return }
    var problems: [any Error] = columnProblems()
    for check in layout.checks {
      if check.isToMany {
        guard all || isChanged(at: check.slot), let relationship = layout.relationshipsBySlot[check.slot] else {
          continue
        }
        problems += check.problems(withCount: memberCount(of: relationship), of: layout.entity.name)
      } else if check.isDerived {
        problems += check.problems(withValueDerivedFrom: DerivedReading(self), of: layout.entity.name)
      } else if all || hasLooseValues {
        problems += check.problems(with: value(toCheckBy: check), of: layout.entity.name)
      }
    }
    for validator in validators {
      guard let slot = layout.entity.slot(named: validator.key),
        all || isChanged(at: slot) || isChangedTransient(at: slot)
      else { continue }
      do { try validator.checkCurrent(self) } catch { problems.append(error) }
    }
    try throwCombined(problems)
  }

  /// Returns the value of an attribute or to-one relationship. A required composite attribute that has no parts in the
  /// row isn't missing if all of them are optional: it was saved like this.
  fileprivate final func value(toCheckBy check: PropertyCheck) -> StoredValue {
    let value = presentValue(at: check.slot)
    guard layout.kinds[check.slot] == .composite, check.isRequired, value.isNull, snapshot != nil,
      looseValues[check.slot] == nil, layout.properties[check.slot].allowsNoElements
    else { return value }
    return .composite(Dictionary())
  }

  /// Whether the columns can hold all set values. The row of a draft has only such values.
  fileprivate final var columnsHoldLooseValues: Bool {
    !hasLooseValues || withLayout { layout in looseValues.allSatisfy { layout.columnChecks[$0].holds($1) } }
  }

  /// Returns the problems with set values that their columns can't hold.
  fileprivate final func columnProblems() -> [PersistenceError] {
    if columnsHoldLooseValues { return [] }
    return looseValues.slots.compactMap { slot in
      guard let value = looseValues[slot] else { return nil }
      return ColumnCheck(layout.properties[slot])?.problem(with: value, of: layout.entity.name)
    }
  }
}

extension ManagedObject {
  /// Finds relationships whose delete rule denies the deletion because they have objects that remain.
  final func validateDeletion() throws {
    guard layout.mayDenyDeletion else { return }
    var problems: [any Error] = []
    for relationship in layout.relationships where relationship.deleteRule == .deny {
      guard let context = table?.context else { continue }
      let others =
        relationship.isToMany
        ? memberIDs(of: relationship).filter { id in
          context.registeredObject(for: id).map { !$0.isDeleted && !$0.hasLeft(self, relationship) } ?? true
        }.count
        : destination(at: relationship.slot).map { $0.isDeleted ? 0 : 1 } ?? 0
      guard others > 0 else { continue }
      problems.append(
        PersistenceError(
          .validationDeleteDenied, at: .property(layout.entity.name, relationship.name),
          "\(layout.entity.name) can't be deleted: '\(relationship.name)' has the delete rule Deny and still has "
            + "\(Measure.count(others, "object")).",
          fix: "Delete them too, or remove them from the relationship."
        ).withFailure(ValidationFailure(key: relationship.name, value: .integer(Int64(others)))))
    }
    try throwCombined(problems)
  }

  /// Whether an unsaved change gives the object another owner than one that the store has for it.
  fileprivate final func hasLeft(_ owner: ManagedObject, _ relationship: RelationshipLayout) -> Bool {
    guard let own = back(of: relationship), isChanged(at: own.slot) else { return false }
    return !leads(to: owner, back: relationship)
  }

  final func throwCombined(_ problems: [any Error]) throws {
    guard !problems.isEmpty else { return }
    let problems = problems.map { problem -> any Error in
      guard var error = problem as? PersistenceError else { return problem }
      if table?.store != nil { error.place.row = objectID.primaryKey }
      if var failure = error.validationFailure {
        failure.objectID = objectID
        error = error.withFailure(failure)
      }
      return error
    }
    throw ManagedObject.combined(problems, "\(layout.entity.name) breaks \(problems.count) rules.")
  }

  /// Combines validation errors: returns a single one unchanged, or one error that lists them all.
  static func combined(_ problems: [any Error], _ message: @autoclosure () -> String) -> any Error {
    if problems.count == 1, let only = problems.first { return only }
    let all = problems.flatMap { problem -> [PersistenceError] in
      guard let error = problem as? PersistenceError else { return [PersistenceError(ownError: problem)] }
      return error.errors.isEmpty ? [error] : error.errors
    }
    return PersistenceError(.validationMultiple, message(), errors: all)
  }
}
