import Foundation

/// The former models of a store.
///
/// A program can't have a model created after it. If a program doesn't know a store's model, the store's record that it
/// once had the program's model shows that the store is newer, rather than another application's.
extension StoreMetadata {
  /// The maximum number of recorded models.
  static let formerModelLimit = 100

  /// The fingerprints of the store's former models, oldest first, limited to the latest ones.
  private(set) var formerModels: [Fingerprint] {
    get {
      (values[Key.formerModels]?.arrayValue ?? []).compactMap { $0.dataValue.flatMap(Fingerprint.init(bytes:)) }
    }
    set { values[Key.formerModels] = .array(newValue.suffix(Self.formerModelLimit).map { .data($0.bytes) }) }
  }

  /// Whether the store had this model before its present one.
  package func descends(from model: ManagedObjectModel) -> Bool { formerModels.contains(model.fingerprint) }

  /// Records the models through which the store reached its present model, oldest first. If the store returns to an
  /// earlier model, that model and all later ones are no longer former models.
  ///
  /// - Parameter models: None may be newer than `present`; it would be recorded as a former one.
  package mutating func recordLineage(through models: [ManagedObjectModel], to present: ManagedObjectModel) {
    var lineage = formerModels
    for fingerprint in models.map(\.fingerprint) + [present.fingerprint] {
      if let index = lineage.firstIndex(of: fingerprint) { lineage.removeSubrange(index...) }
      lineage.append(fingerprint)
    }
    formerModels = lineage.dropLast()
  }
}
