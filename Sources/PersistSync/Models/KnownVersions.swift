import Foundation
import Persist

/// The models that facts name, and what corresponds to what between them, for all steps of a replica: reading and
/// comparing models takes much longer than most steps.
final class KnownVersions: Sendable {
  /// A comparison of two models.
  struct Comparison: Sendable, Hashable {
    var theirs: ModelTag
    var own: ModelTag
    /// The number of mapping models that take part. It determines them: each version knows those up to its own.
    var mappingCount: Int
    /// The versions that may be in between; empty for a comparison of nothing but the two.
    var others: Set<ModelTag> = []
  }

  private struct State {
    var models: [ModelTag: ManagedObjectModel] = [:]
    var correspondences: [Comparison: Correspondence] = [:]
  }

  private let state = LockProtected(State())

  /// The model of a description; nil if it can't be read.
  func model(_ tag: ModelTag, _ description: Data) -> ManagedObjectModel? {
    if let known = state.withLock({ $0.models[tag] }) { return known }
    let model = try? ReadModels.shared.model(description, digest: Data(SHA256.digest(description)))
    state.withLock { $0.models[tag] = model }
    return model
  }

  /// The result of a comparison, which is made once.
  func correspondence(
    _ comparison: Comparison, _ compare: () throws -> Correspondence
  ) rethrows -> Correspondence {
    if let known = state.withLock({ $0.correspondences[comparison] }) { return known }
    let found = try compare()
    state.withLock { $0.correspondences[comparison] = found }
    return found
  }
}
