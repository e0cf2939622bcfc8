import Foundation
import Persist

/// Reads objects from lines of JSON in the form of `persist dump --json`.
///
/// Attributes that a line lacks have their defaults; a to-many relationship that it lacks has the members whose inverse
/// leads to the object.
struct ObjectLineReader: ImportReader {
  private var bytes: ByteReader
  private var line: [UInt8] = []
  private var lineNumber = 0
  private let entities: ImportedEntities

  var position: Int { bytes.position }
  var source: ImportSlice.Source { ImportSlice.Source(file: bytes.url, line: lineNumber) }

  init(_ url: URL, entities: ImportedEntities) throws {
    bytes = try ByteReader(url)
    self.entities = entities
  }

  mutating func next() throws -> (entity: ImportedEntity, draft: ImportedEntity.Draft)? {
    while try bytes.readLine(into: &line) {
      lineNumber += 1
      guard !line.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) else { continue }
      do {
        return try object(JSONItemReader.item(in: line))
      } catch let error as JSONItemReader.Malformed {
        throw PersistenceError(
          .malformedFile, at: PersistenceError.Place(file: bytes.url, line: lineNumber, column: error.index + 1),
          "This isn't JSON: \(error.words)", fix: "Each line has to be one object, as 'persist dump --json' writes it.")
      } catch let error as UnusableInput {
        throw PersistenceError(
          error.code,
          at: PersistenceError.Place(property: error.property, file: bytes.url, line: lineNumber), error.words,
          fix: error.fix)
      }
    }
    return nil
  }

  private func object(_ item: JSONItem) throws -> (ImportedEntity, ImportedEntity.Draft) {
    var fields = try item.members("The line")
    guard case .string(let name)? = fields.removeValue(forKey: "entity") else {
      throw UnusableInput("The object has no 'entity'.", code: .malformedFile)
    }
    let entity = try entities.entity(named: name)
    var draft = entity.draft
    if let key = fields.removeValue(forKey: "pk") { draft.key = try self.key(key) }
    for (name, value) in try part("attributes", &fields) {
      let (slot, attribute, elements) = try entity.attribute(name)
      draft.values[slot] = try value.value(of: attribute, elements, path: [attribute.name])
    }
    for (name, value) in try part("relationships", &fields) {
      let (slot, relationship) = try entity.relationship(name)
      if relationship.isToMany {
        guard case .array(let items) = value else {
          throw UnusableInput("'\(name)' needs a list of objects, not \(value.kind).", property: name)
        }
        draft.members.append(
          ImportSlice.Members(
            slot: slot, keys: try items.map { try target($0, of: entity, by: relationship).primaryKey ?? 0 }))
      } else if case .null = value {
        continue
      } else {
        draft.values[slot] = .objectID(try target(value, of: entity, by: relationship))
      }
    }
    if let name = fields.keys.min() {
      throw UnusableInput(
        "The object has an unknown part '\(name)'.", code: .malformedFile,
        fix: "Its parts are entity, pk, attributes and relationships.")
    }
    return (entity, draft)
  }

  private func part(_ name: String, _ fields: inout [String: JSONItem]) throws -> [String: JSONItem] {
    try fields.removeValue(forKey: name)?.members("'\(name)'") ?? [:]
  }

  private func key(_ item: JSONItem) throws -> Int64 {
    guard case .number(let text) = item, let key = Int64(text), key > 0 else {
      throw UnusableInput("'pk' has to be a whole number above 0.", code: .malformedFile)
    }
    return key
  }

  private func target(
    _ item: JSONItem, of entity: ImportedEntity, by relationship: RelationshipDescription
  ) throws -> ManagedObjectID {
    var fields = try item.members("An object of '\(relationship.name)'")
    guard case .string(let name)? = fields.removeValue(forKey: "entity"), let key = fields.removeValue(forKey: "pk"),
      fields.isEmpty
    else {
      throw UnusableInput(
        "An object of '\(relationship.name)' needs 'entity' and 'pk', and nothing else.", code: .malformedFile,
        property: relationship.name)
    }
    return try entity.target(name, self.key(key), of: relationship)
  }
}
