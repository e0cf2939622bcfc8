package import Foundation

/// The meaning of the columns of a history that depends on the model, as recorded in the store's metadata.
///
/// A migration can change the order of an entity's columns and which values of deleted objects are kept. Comparing the
/// record with the current model preserves the meaning of earlier entries, except for information that can no longer be
/// interpreted, which is discarded.
package struct HistoryDescription: Sendable, Equatable {
  /// The digest of the model's parts below.
  package let digest: Data
  /// For each entity, a digest of the properties that the bits of changed columns represent.
  package let columns: [String: Data]
  /// For each entity with such attributes, the attributes whose values are kept, in the order of the columns.
  let preserved: [String: [String]]

  // The digest covers all other parts.
  package static func == (left: HistoryDescription, right: HistoryDescription) -> Bool {
    left.digest.hasSameBytes(as: right.digest)
  }

  package init(_ map: TableMap) {
    let entities = map.model.entities
    columns = Dictionary(
      uniqueKeysWithValues: entities.map { ($0.name, Self.digest(of: ChangedColumns(of: $0, in: map).order)) })
    preserved = Dictionary(
      uniqueKeysWithValues: entities.map { ($0.name, PreservedAttribute.all(of: $0, in: map).map(\.name)) }
    ).filter { !$0.value.isEmpty }
    var text = columns.sorted(on: \.key).reduce(into: Data()) { $0 += Data($1.key.utf8) + $1.value }
    for (name, attributes) in preserved.sorted(on: \.key) {
      text += Data("\n\(name)\n\(attributes.joined(separator: "\n"))".utf8)
    }
    digest = Data(SHA256.digest(text))
  }

  /// Nil if the list isn't a description.
  package init?(_ list: PropertyList?) {
    guard let values = list?.dictionaryValue, let digest = values["digest"]?.dataValue,
      let columns = values["columns"]?.dictionaryValue, let preserved = values["preserved"]?.dictionaryValue
    else { return nil }
    self.digest = digest
    self.columns = columns.compactMapValues(\.dataValue)
    self.preserved = preserved.compactMapValues { $0.arrayValue?.compactMap(\.stringValue) }
  }

  package var propertyList: PropertyList {
    .dictionary([
      "digest": .data(digest), "columns": .dictionary(columns.mapValues(PropertyList.data)),
      "preserved": .dictionary(preserved.mapValues { .array($0.map(PropertyList.string)) }),
    ])
  }

  /// The digest of the properties that the bits of changed columns represent, in their order.
  static func digest(of order: [String]) -> Data {
    Data(SHA256.digest(order.joined(separator: "\n").utf8).prefix(8))
  }
}
