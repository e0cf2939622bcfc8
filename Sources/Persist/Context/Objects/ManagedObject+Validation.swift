import Foundation

extension ManagedObject {
  /// Puts the values to the rules of the model.
  ///
  /// - Parameter all: whether to-many relationships that weren't changed are counted too.
  final func validateProperties(all: Bool) throws {
    guard !layout.checks.isEmpty else { return }
    var problems: [PersistError] = []
    for check in layout.checks {
      if check.isToMany {
        guard all || isChanged(at: check.slot), let relationship = layout.relationshipsBySlot[check.slot] else {
          continue
        }
        problems += check.problems(withCount: memberIDs(of: relationship).count, of: layout.entity.name)
      } else if all || !pending.isEmpty {
        problems += check.problems(with: presentValue(at: check.slot), of: layout.entity.name)
      }
    }
    try throwCombined(problems)
  }

  /// Finds the relationships whose delete rule denies the deletion: those that lead to objects which stay.
  final func validateDeletion() throws {
    var problems: [PersistError] = []
    for relationship in layout.relationships where relationship.deleteRule == .deny {
      guard let context = table?.context else { continue }
      let others =
        relationship.isToMany
        ? memberIDs(of: relationship).filter { context.registeredObject(for: $0)?.change != .deleted }.count
        : toOne(at: relationship.slot).map { $0.change == .deleted ? 0 : 1 } ?? 0
      guard others > 0 else { continue }
      problems.append(
        PersistError(
          .validationDeleteDenied, at: .property(layout.entity.name, relationship.name),
          "\(layout.entity.name) can't be deleted while '\(relationship.name)' has objects; it has \(others).",
          fix: "Delete them too, or take them out of the relationship."))
    }
    try throwCombined(problems)
  }

  private final func throwCombined(_ problems: [PersistError]) throws {
    guard !problems.isEmpty else { return }
    let problems = problems.map { problem in
      var problem = problem
      if table?.store != nil { problem.place.row = key }
      return problem
    }
    throw PersistError.combining(
      problems, as: .validationMultiple, "\(layout.entity.name) breaks \(problems.count) rules.")
  }
}
