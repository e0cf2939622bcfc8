import Foundation
import Persist

/// The models of the descriptions that the process has read last.
///
/// The first change sets and the snapshots of all replicas contain the same few descriptions, and reading one takes as
/// long as applying thousands of facts.
final class ReadModels: Sendable {
  static let shared = ReadModels()
  static let maximumCount = 32

  private struct State {
    var models: [Data: ManagedObjectModel] = [:]
    /// The digests of the descriptions, the oldest first.
    var order: [Data] = []
  }

  private let state = LockProtected(State())

  /// The model of a description, which is read unless it was among the last ones.
  ///
  /// - Parameters:
  ///   - description: The description in JSON.
  ///   - digest: Its SHA-256 digest.
  /// - Throws: If it describes no valid model.
  func model(_ description: Data, digest: Data) throws -> ManagedObjectModel {
    if let known = state.withLock({ $0.models[digest] }) { return known }
    let model = try ManagedObjectModel(ModelDescription(json: description))
    state.withLock { state in
      guard state.models.updateValue(model, forKey: digest) == nil else { return }
      state.order.append(digest)
      if state.order.count > Self.maximumCount { state.models[state.order.removeFirst()] = nil }
    }
    return model
  }
}
