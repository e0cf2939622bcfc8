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
struct LayoutSeal: Sendable, Hashable {
  /// Increased whenever Persist predicts or requires something else of a store, so that older seals don't count.
  private static let version: UInt8 = 2
  /// The key in the table of Persist's record of the model.
  static let key = "layoutSeal"

  /// The state of a store for which it has a valid seal.
  struct State: Sendable {
    let mark: StoreMark
    let numbers: EntityNumbers
  }

  /// The content of the record's table.
  let bytes: Data

  /// - Parameter modelDigest: The digest of the model whose text the store records.
  init(of model: ManagedObjectModel, recordedAs modelDigest: Data, _ mark: StoreMark, _ numbers: EntityNumbers) {
    var message = Message(bytes: [Self.version])
    message.add(mark.schemaVersion)
    message.add(mark.identifier)
    message.add(mark.propertyList)
    message.add(modelDigest)
    for row in numbers.rows {
      message.add(Int64(row.number))
      message.add(row.name)
    }
    for number in numbers.byIndex { message.add(Int64(number)) }
    for entity in model.entities { message.add(entity.fingerprint.bytes) }
    for identifier in model.versionIdentifiers { message.add(identifier) }
    for text in model.indexTexts { message.add(text) }
    bytes = Data(AccidentDigest.digest(message.bytes))
  }

  /// The bytes that are digested. Each text and each `Data` is preceded by its length.
  private struct Message {
    var bytes: [UInt8]

    mutating func add(_ number: Int64) { withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) } }

    mutating func add(_ text: String) {
      add(Int64(text.utf8.count))
      bytes.append(contentsOf: text.utf8)
    }

    mutating func add(_ data: Data) {
      add(Int64(data.count))
      data.withUnsafeBytes { bytes.append(contentsOf: $0) }
    }
  }
}

extension ManagedObjectModel {
  /// Whether a store of the model can have a seal. Triggers and full-text indexes are compared with their definitions
  /// whenever a store is opened.
  var isSealable: Bool {
    !entities.contains { entity in
      entity.description.attributes.contains { $0.isDerived || $0.isFullTextSearched }
    }
  }

  /// The declared indexes, which fingerprints don't cover.
  fileprivate var indexTexts: [String] {
    var texts: [String] = []
    for entity in entities {
      let description = entity.description
      for attribute in description.attributes where attribute.isIndexed {
        texts.append("\(entity.name) \(attribute.name)")
      }
      for properties in description.compoundIndexes {
        texts.append("\(entity.name) \(properties.joined(separator: " "))")
      }
      for index in description.indexes {
        texts.append("\(entity.name) \(index.name)")
        for element in index.elements {
          // An index over an expression has no column in a store.
          guard case .property(let name) = element.subject else { continue }
          texts.append("\(name) \(element.isAscending)")
        }
      }
    }
    return texts
  }
}
