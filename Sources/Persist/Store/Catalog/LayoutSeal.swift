import Foundation

/// Evidence in a store that it has exactly the tables, columns and indexes that the rules predict for a model, so that
/// opening it reads neither its schema nor its description of the model.
///
/// The seal is a digest of everything that this depends on:
///
/// - the engine's schema version, which changes with every change to a table, an index or a trigger, whoever makes it;
/// - the metadata, which identify the store and its model;
/// - the entity numbers, and the digest of the recorded model;
/// - the parts of the model that determine a store's layout.
///
/// If any of these has changed, the digest differs, and the store is opened as if it had no seal.
///
/// A program that edits the schema's table directly and doesn't change the schema version, of which SQLite warns,
/// leaves the seal intact. Statements that need what it removed then fail with SQLite's error.
///
/// - SeeAlso: <https://sqlite.org/pragma.html#pragma_writable_schema>
struct LayoutSeal: Sendable, Equatable {
  /// Increased whenever Persist predicts or requires something else of a store, so that older seals don't count.
  private static let version: Int64 = 3
  /// The key in the table of Persist's record of the model.
  static let key = "layoutSeal"

  /// The state of a store for which it has a valid seal.
  struct State: Sendable {
    let mark: StoreMark
    let numbers: EntityNumbers
  }

  /// The content of the record's table.
  let bytes: Data

  static func == (left: LayoutSeal, right: LayoutSeal) -> Bool { left.bytes.hasSameBytes(as: right.bytes) }

  /// - Parameter modelDigest: The digest of the model whose text the store records.
  init(of model: ManagedObjectModel, recordedAs modelDigest: Data, _ mark: StoreMark, _ numbers: EntityNumbers) {
    var digest = AccidentDigest()
    digest.combine(Self.version)
    digest.combine(mark.schemaVersion)
    digest.combine(mark.identifier)
    digest.combine(mark.propertyList)
    digest.combine(modelDigest)
    for row in numbers.rows {
      digest.combine(Int64(row.number))
      digest.combine(row.name)
    }
    for number in numbers.byIndex { digest.combine(Int64(number)) }
    for entity in model.entities { digest.combine(entity.fingerprint.words) }
    for identifier in model.versionIdentifiers { digest.combine(identifier) }
    for entity in model.entities where entity.declaresIndexes { digest.combineIndexes(of: entity) }
    bytes = Data(digest.bytes)
  }
}

extension ManagedObjectModel {
  /// Whether a store of the model can have a seal. Triggers and full-text indexes are compared with their definitions
  /// whenever a store is opened.
  var isSealable: Bool { !requiresTriggers }
}

extension AccidentDigest {
  /// Combines the bytes of a fingerprint as data.
  fileprivate mutating func combine(_ words: Fingerprint.Words) {
    combine(Int64(32))
    combine(Int64(bitPattern: words.first))
    combine(Int64(bitPattern: words.second))
    combine(Int64(bitPattern: words.third))
    combine(Int64(bitPattern: words.fourth))
  }

  /// Combines an entity's declared indexes, which its fingerprint doesn't cover.
  fileprivate mutating func combineIndexes(of entity: Entity) {
    let description = entity.description
    combine(entity.name)
    for attribute in description.attributes where attribute.isIndexed { combine(attribute.name) }
    for properties in description.compoundIndexes {
      combine(Int64(properties.count))
      for property in properties { combine(property) }
    }
    for index in description.indexes {
      combine(index.name)
      for element in index.elements {
        // An index over an expression has no column in a store.
        guard case .property(let name) = element.subject else { continue }
        combine(name)
        combine(element.isAscending ? 1 : 0)
      }
    }
  }
}
