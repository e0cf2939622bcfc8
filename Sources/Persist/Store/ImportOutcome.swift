package import Foundation

/// The outcome of an import.
package struct ImportOutcome: Sendable {
  /// The number of inserted rows.
  package var count = 0
  /// Relationships of imported rows that are one-sided or that lead to a missing row without an inverse: imported as
  /// they are. At most ``ImportOutcome/warningLimit`` are listed.
  package var warnings: [StoreProblem] = []
  /// The number of such relationships.
  package var warningCount = 0

  package init(count: Int = 0, warnings: [StoreProblem] = [], warningCount: Int = 0) {
    self.count = count
    self.warnings = warnings
    self.warningCount = warningCount
  }

  /// The required properties whose missing values the caller restores afterward, as `Entity.property`.
  package var returning: Set<String> = []

  static let warningLimit = 20
}

extension ImportOutcome {
  /// The problems that exist in stores of real programs, and that lose nothing.
  private static let tolerated: Set<StoreProblem.Kind> = [.oneSidedRelationship, .danglingReference]

  /// Adds a problem of an imported row to the warnings.
  ///
  /// - Throws: An error for a problem that isn't tolerated.
  package mutating func add(_ problem: StoreProblem, at url: URL?) throws {
    if problem.kind == .missingValue, let entity = problem.entity, let property = problem.property,
      returning.contains("\(entity).\(property)")
    {
      return
    }
    guard Self.tolerated.contains(problem.kind) else { throw problem.refusal(at: url) }
    warningCount += 1
    if warnings.count < Self.warningLimit { warnings.append(problem) }
  }
}

extension StoreProblem {
  fileprivate func refusal(at url: URL?) -> PersistenceError {
    let place = PersistenceError.Place(entity: entity, property: property, row: pk, store: url)
    return switch kind {
    case .missingValue:
      PersistenceError(.validationMissingRequired, at: place, detail, fix: "Add the value to the object.")
    case .duplicateValue:
      PersistenceError(.constraintConflict, at: place, detail, fix: "Change one of the objects, or omit it.")
    default:
      PersistenceError(
        .invalidRequest, at: place, detail,
        fix: "Import both objects together, or remove the reference. 'persist check --repair' corrects a store that "
          + "contains such references.")
    }
  }
}

extension ImportedRelationship {
  /// The error for an owner whose members don't agree with the other end.
  @inline(never)
  package func disagreement(_ owner: Int64, _ message: String, at url: URL?) -> PersistenceError {
    PersistenceError(
      .invalidRequest, at: PersistenceError.Place(entity: entity, property: name, row: owner, store: url), message,
      fix: "Correct one of the two objects, so that both ends of the relationship agree.")
  }
}
