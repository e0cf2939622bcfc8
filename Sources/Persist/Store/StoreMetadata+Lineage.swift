import Foundation

/// Which models a store had before its present one.
///
/// A program can't have a model that was made after it. Where a store's model is unknown to it, the store's own word
/// that it once had the program's model tells that the store is newer, and not another application's.
extension StoreMetadata {
  /// How many models are remembered.
  static let formerModelLimit = 100

  /// The fingerprints of the models that the store had, oldest first; of many, the latest ones.
  private(set) var formerModels: [Fingerprint] {
    get {
      (values[Key.formerModels]?.arrayValue ?? []).compactMap { $0.dataValue.flatMap(Fingerprint.init(bytes:)) }
    }
    set { values[Key.formerModels] = .array(newValue.suffix(Self.formerModelLimit).map { .data($0.bytes) }) }
  }

  /// Whether the store had a model before the one that it has.
  func descends(from model: ManagedObjectModel) -> Bool { formerModels.contains(model.fingerprint) }

  /// Records that the store came to a model through others, oldest first. A model that it goes back to is a former one
  /// no more, nor is what came after it.
  ///
  /// - Parameter models: none that is newer than `present`; it would count as one that came before.
  mutating func recordLineage(through models: [ManagedObjectModel], to present: ManagedObjectModel) {
    var lineage = formerModels
    for fingerprint in models.map(\.fingerprint) + [present.fingerprint] {
      if let index = lineage.firstIndex(of: fingerprint) { lineage.removeSubrange(index...) }
      lineage.append(fingerprint)
    }
    formerModels = lineage.dropLast()
  }
}
