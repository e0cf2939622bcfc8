import Foundation
import Persist
import PersistInspection

/// Reads the objects of one entity from comma-separated values, whose first line names the properties.
///
/// The column `pk` contains the keys, or `_pk` if a property is named so; without it, the objects get new ones. A cell
/// without anything in it is null.
struct ObjectTableReader: ImportReader {
  private enum Column {
    case key
    case attribute(slot: Int, AttributeDescription, [Property.Element])
    case relationship(slot: Int, RelationshipDescription)
  }

  private var records: CSVReader
  private let entity: ImportedEntity
  private let keyColumn: String
  private var columns: [Column] = []

  var position: Int { records.position }
  var source: ImportSlice.Source { ImportSlice.Source(file: records.url, line: records.line) }

  init(_ url: URL, entity name: String, entities: ImportedEntities) throws {
    records = try CSVReader(url)
    do {
      entity = try entities.entity(named: name)
    } catch let error as UnusableInput {
      throw PersistenceError(
        error.code, at: .file(url), error.words,
        fix: "Name the file for its entity, or name the entity with --entity. " + (error.fix ?? ""))
    }
    keyColumn = DumpedProperties(entity.entity).keyColumn
    guard let header = try records.next() else {
      throw PersistenceError(
        .malformedFile, at: .file(url), "The file is empty.", fix: "Its first line has to name the columns.")
    }
    var seen: Set<String> = []
    columns = try header.map { cell in
      guard let cell, seen.insert(cell).inserted else {
        throw PersistenceError(
          .malformedFile, at: .file(url, line: records.line),
          cell.map { "The column \(ValueWords.text($0)) occurs twice." } ?? "A column has no name.")
      }
      return try located { try column(cell) }
    }
  }

  private func column(_ name: String) throws -> Column {
    if name == keyColumn { return .key }
    if entity.isRelationship(name) {
      let (slot, relationship) = try entity.relationship(name)
      return .relationship(slot: slot, relationship)
    }
    let (slot, attribute, elements) = try entity.attribute(name)
    return .attribute(slot: slot, attribute, elements)
  }

  mutating func next() throws -> (entity: ImportedEntity, draft: ImportedEntity.Draft)? {
    guard let record = try records.next() else { return nil }
    return try located {
      guard record.count == columns.count else {
        throw UnusableInput(
          "The line has \(record.count) cells, but there are \(columns.count) columns.", code: .malformedFile)
      }
      var draft = entity.draft
      for (column, cell) in zip(columns, record) { try read(cell, column, into: &draft) }
      return (entity, draft)
    }
  }

  private func located<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as UnusableInput {
      throw PersistenceError(
        error.code,
        at: PersistenceError.Place(
          entity: entity.entity.name, property: error.property, file: records.url, line: records.line),
        error.words, fix: error.fix)
    }
  }

  private func read(_ cell: CSVReader.Cell, _ column: Column, into draft: inout ImportedEntity.Draft) throws {
    switch column {
    case .key:
      guard let cell else { return }
      guard let key = Int64(cell), key > 0 else {
        throw UnusableInput("\(ValueWords.text(cell)) isn't a key: a whole number above 0.", code: .malformedFile)
      }
      draft.key = key
    case .attribute(let slot, let attribute, let elements):
      draft.values[slot] = try cell.map { try value($0, of: attribute, elements: elements) }
    case .relationship(let slot, let relationship):
      let targets = try cell.map { try self.targets($0, relationship) } ?? []
      if relationship.isToMany {
        draft.members.append(ImportSlice.Members(slot: slot, keys: targets.compactMap(\.primaryKey)))
      } else if let target = targets.first {
        guard targets.count == 1 else {
          throw UnusableInput("'\(relationship.name)' leads to one object only.", property: relationship.name)
        }
        draft.values[slot] = .objectID(target)
      }
    }
  }

  private func value(
    _ cell: String, of attribute: AttributeDescription, elements: [Property.Element]
  ) throws -> StoredValue {
    if attribute.type == .composite {
      do {
        return try JSONItemReader.item(in: Array(cell.utf8)).value(of: attribute, elements, path: [attribute.name])
      } catch let error as JSONItemReader.Malformed {
        throw UnusableInput("This isn't JSON: \(error.words)", code: .malformedFile, property: attribute.name)
      }
    }
    if attribute.type == .date, let date = DateText.date(iso8601: cell) { return .date(date) }
    guard let value = attribute.converted(cell) else { throw attribute.mismatch(ValueWords.text(cell)) }
    return value
  }

  /// The objects of a relationship: `Author/3`, several separated by spaces.
  private func targets(_ cell: String, _ relationship: RelationshipDescription) throws -> [ManagedObjectID] {
    try cell.split(separator: " ").map { word in
      let parts = word.split(separator: "/", omittingEmptySubsequences: false)
      guard parts.count == 2, let key = Int64(parts[1]), key > 0 else {
        throw UnusableInput(
          "\(ValueWords.text(word)) doesn't name an object.", property: relationship.name,
          fix: "Name it as ENTITY/KEY, and separate several objects with spaces.")
      }
      return try entity.target(String(parts[0]), key, of: relationship)
    }
  }
}
