package import Foundation

/// A query that an application wrote in SQL, over the entities and properties of its model instead of a store's tables.
package struct WrittenSQL: Sendable {
  package enum Part: Sendable {
    /// Text from the source code.
    case text(StaticString)
    /// A name to be quoted.
    case name(String)
    /// The objects of an entity and its subentities, as a table whose columns have the names of the properties.
    case entity(Entity)
    /// The pairs of a to-many relationship, as a table with the columns `owner`, `member` and, if it is ordered,
    /// `position`.
    case members(Property, of: Entity)
    /// A value, which is bound.
    case value(StoredValue)
  }

  package let parts: [Part]

  package init(_ parts: [Part]) { self.parts = parts }

  /// The tables in the order of their first use, each once.
  package var tables: [Table] {
    var tables: [Table] = []
    for part in parts {
      guard let table = Table(part), !tables.contains(where: { $0.name == table.name }) else { continue }
      tables.append(table)
    }
    return tables
  }

  /// A table of the query.
  package struct Table: Sendable {
    package let entity: Entity
    /// The relationship whose pairs the table contains; nil for the objects of the entity.
    package let relationship: Property?

    /// Nil for a part that isn't a table.
    package init?(_ part: Part) {
      switch part {
      case .entity(let entity): (self.entity, relationship) = (entity, nil)
      case .members(let property, of: let entity): (self.entity, relationship) = (entity, property)
      case .text, .name, .value: return nil
      }
    }

    /// The table's name in the query.
    package var name: String { relationship.map { "\(entity.name)_\($0.name)" } ?? entity.name }

    /// The name of the column with the objects' keys: `pk`, or `_pk` if a property is named so.
    package var keyName: String { entity.slot(named: "pk") == nil ? "pk" : "_pk" }
  }

  /// The error for SQL that the store can't run.
  package static func failure(_ reason: String, inStoreAt url: URL?) -> PersistenceError {
    PersistenceError(
      .invalidRequest, at: .store(url), "The SQL can't be run: \(reason)",
      fix: "Tables are interpolated entities; columns are named as properties, and 'pk' for the key.")
  }
}

/// The rows that a query in SQL selects.
package struct SelectedRows: Sendable {
  package let names: [String]
  /// Null, integers, floating-point numbers, texts and bytes, as the store has them.
  package let rows: [[StoredValue]]

  package init(names: [String], rows: [[StoredValue]]) {
    self.names = names
    self.rows = rows
  }
}
