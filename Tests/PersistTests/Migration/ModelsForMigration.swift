@testable import Persist

/// A model of plain entities.
func model(_ entities: EntityDescription...) throws -> ManagedObjectModel {
  try ManagedObjectModel(ModelDescription(entities: entities))
}

/// The operations between two models, one line each.
func differences(_ old: ManagedObjectModel, _ new: ManagedObjectModel) throws -> [String] {
  // The law of every comparison: a model against itself differs in nothing.
  for model in [old, new] {
    let same = try ModelComparison(from: model, to: model).operations
    guard same.isEmpty else { return ["a model differs from itself: \(same)"] }
  }
  return try ModelComparison(from: old, to: new).operations.map(\.description)
}
