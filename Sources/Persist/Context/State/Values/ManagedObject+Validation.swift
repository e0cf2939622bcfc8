import Foundation

extension ManagedObject {
  /// Validates the values against the rules of the model and the class.
  ///
  /// - Parameter all: Whether unchanged properties are checked too.
  final func validateProperties(all: Bool) throws {
    let validators = type(of: self).validators
    let hasChecks = withLayout { !$0.checks.isEmpty }
    guard hasChecks || !validators.isEmpty || !looseValues.isEmpty else { return }
    var problems: [any Error] = columnProblems()
    for check in layout.checks {
      if check.isToMany {
        guard all || isChanged(at: check.slot), let relationship = layout.relationshipsBySlot[check.slot] else {
          continue
        }
        problems += check.problems(withCount: memberIDs(of: relationship).count, of: layout.entity.name)
      } else if check.isDerived {
        problems += check.problems(withValueDerivedFrom: DerivedReading(self), of: layout.entity.name)
      } else if all || !looseValues.isEmpty {
        problems += check.problems(with: value(toCheckBy: check), of: layout.entity.name)
      }
    }
    for validator in validators {
      guard let slot = layout.entity.slot(named: validator.key),
        all || isChanged(at: slot) || isChangedTransient(at: slot)
      else { continue }
      do { try validator.check(self, value(forKey: validator.key)) } catch { problems.append(error) }
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
    return .composite([:])
  }

  /// Returns the problems with set values that their columns can't hold.
  fileprivate final func columnProblems() -> [PersistenceError] {
    // The row of a draft has only values that their columns can hold.
    guard !looseValues.isEmpty else { return [] }
    let isValid = withLayout { layout in
      looseValues.allSatisfy { layout.columnChecks[$0].holds($1) }
    }
    if isValid { return [] }
    return looseValues.slots.compactMap { slot in
      guard let value = looseValues[slot] else { return nil }
      return ColumnCheck(layout.properties[slot])?.problem(with: value, of: layout.entity.name)
    }
  }
}

extension RedeclarableMembers where Self: ManagedObject {
  /// Checks whether a property could have a value, according to the rules of the model and the class. Nothing is set.
  ///
  /// The class's rules for a to-many relationship get a ``RelationshipSet`` of the objects that belongs to no object.
  ///
  /// - Parameters:
  ///   - value: For an attribute, a value that ``setValue(_:forKey:)`` accepts; for a to-one relationship, a
  ///     ``ManagedObject`` or nil; for a to-many relationship, a collection of them.
  ///   - name: The name of the property.
  /// - Throws: The errors of ``ManagedObject/validateForInsert()`` for this property;
  ///   ``PersistenceError/Code/unknownProperty``, and ``PersistenceError/Code/typeMismatch`` if the property doesn't
  ///   accept such a value.
  public func validateValue(_ value: Any?, forKey name: String) throws {
    guard let property = layout.entity.property(named: name) else {
      _ = try self.value(forKey: name)
      return
    }
    var problems: [any Error] = []
    var checked = value
    let check = layout.checks.first { $0.slot == property.slot }
    if property.attribute != nil {
      let stored = try self.stored(value, for: property)
      if let column = ColumnCheck(property) {
        problems += column.problem(with: stored, of: layout.entity.name).map { [$0] } ?? []
      }
      problems += check?.problems(with: stored, of: layout.entity.name) ?? []
      checked = dynamicValue(stored, of: property)
    } else if property.isToMany {
      let members = RelationshipSet(try elements(of: value, name))
      problems += check?.problems(withCount: members.count, of: layout.entity.name) ?? []
      checked = members
    } else if property.isToOne {
      let destination = try elements(ofOne: value, name).first
      let stored = destination.map { StoredValue.objectID($0.objectID) } ?? .null
      problems += check?.problems(with: stored, of: layout.entity.name) ?? []
      checked = destination
    }
    for validator in type(of: self).validators where validator.key == name {
      do { try validator.check(self, checked) } catch { problems.append(error) }
    }
    try throwCombined(problems)
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
            + "\(others) \(others == 1 ? "object" : "objects").",
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

  fileprivate final func throwCombined(_ problems: [any Error]) throws {
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
  let check: (ManagedObject, Any?) throws -> Void

  /// - Parameters:
  ///   - key: The name of an attribute or relationship.
  ///   - check: Called with the object and the value, as ``RedeclarableMembers/value(forKey:)`` returns it once it is
  ///     set. If its error is the only problem, the save throws it unchanged. It must not change the object.
  public init(_ key: String, _ check: @escaping (ManagedObject, Any?) throws -> Void) {
    self.key = key
    self.check = check
  }
}
