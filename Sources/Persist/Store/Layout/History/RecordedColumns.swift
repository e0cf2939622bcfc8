package import Foundation

/// The bits of changed columns in the entries of a history.
///
/// They are those of the program's model. While a store serves two models, programs with the second write the bits of
/// the first model, padded to bytes, and then their own; the length of an entry shows which model wrote it.
package struct RecordedColumns: Sendable {
  /// The columns of the same entity in the other one of two models.
  struct Other: Sendable {
    let columns: ChangedColumns
    /// Whether it is the first model.
    let isFirst: Bool
    /// Its slots by those of the program's model.
    let slots: [Int: Int]
  }

  private let own: ChangedColumns
  private let other: Other?

  package init(_ own: ChangedColumns) { (self.own, other) = (own, nil) }
  init(_ own: ChangedColumns, beside other: Other) { (self.own, self.other) = (own, other) }

  /// The bits for changes of some slots.
  package func bytes(changing changed: some Sequence<Int>) -> Data {
    guard let other, other.isFirst else { return own.bytes(changing: changed) }
    let slots = Array(changed)
    return other.columns.bytes(changing: slots.compactMap { other.slots[$0] }) + own.bytes(changing: slots)
  }

  /// The names of the changed properties; nil if the bits don't determine them.
  ///
  /// - Parameter isOwn: Whether Persist wrote the bits.
  package func names(_ bytes: Data, isOwn: Bool) -> Set<String>? {
    ownBytes(bytes).flatMap { own.names($0, isOwn: isOwn) }
  }

  /// The bits for the program's model alone; nil if the entry has another length.
  package func ownBytes(_ bytes: Data) -> Data? {
    guard let other else { return bytes }
    let (ownCount, otherCount) = (own.byteCount, other.columns.byteCount)
    switch bytes.count {
    case ownCount + otherCount: return Data(other.isFirst ? bytes.suffix(ownCount) : bytes.prefix(ownCount))
    case ownCount where !other.isFirst: return bytes
    case otherCount where other.isFirst:
      guard let changed = other.columns.slots(bytes) else { return nil }
      return own.bytes(changing: other.slots.filter { changed.contains($0.value) }.keys)
    default: return nil
    }
  }
}
