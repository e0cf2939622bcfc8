/// The full-text index of one column: an FTS5 table that reads the texts from the column's own table, and the triggers
/// that maintain it.
///
/// Each attribute has its own index, so that marking or renaming another attribute doesn't affect it, and changing a
/// row only incurs a cost if a searched text changes. Core Data ignores tables that it doesn't know.
///
/// - SeeAlso: <https://sqlite.org/fts5.html#external_content_tables>
package struct FullTextIndex: Sendable, Hashable {
  /// The prefix of the names of Persist's own tables and triggers for full-text search.
  package static let prefix = "PERSIST_FTS_"

  package let table: String
  let column: String
  let search: FullTextSearch
  /// The entity that declares the attribute.
  package let entity: String
  package let attribute: String

  /// Names of entities and attributes can't contain `$`, so that index names are unique.
  @inline(never)
  package var name: String { "\(Self.prefix)\(table)$\(column)" }

  /// The SQL texts of the FTS5 table and its triggers as a store contains them, by name.
  package var definitions: [String: String] {
    var definitions = [name: SQLText.create(self).text]
    for event in Event.allCases { definitions[triggerName(event)] = SQLText.trigger(self, event).text }
    return definitions
  }

  /// The event that fires a trigger.
  package enum Event: String, Sendable, CaseIterable {
    case insert = "INSERT"
    case delete = "DELETE"
    case update = "UPDATE"
  }

  func triggerName(_ event: Event) -> String { "\(name)_\(event.rawValue)" }
}

extension TableMap {
  /// The indexes of all attributes that are marked for full-text search.
  package var fullTextIndexes: Set<FullTextIndex> {
    var indexes: Set<FullTextIndex> = []
    for entity in model.entities where !absent.contains(entity.name) {
      for attribute in entity.description.attributes where attribute.isFullTextSearched {
        if let index = fullTextIndex(of: attribute.name, in: entity) { indexes.insert(index) }
      }
    }
    return indexes
  }

  /// The index of an attribute that is marked for full-text search.
  package func fullTextIndex(of name: String, in entity: Entity) -> FullTextIndex? {
    guard let property = entity.property(named: name), let attribute = property.attribute,
      let search = attribute.fullTextSearch, attribute.isFullTextSearched,
      let column = self[entity].column(slot: property.slot)
    else { return nil }
    return FullTextIndex(
      table: self[entity].table, column: column.name, search: search, entity: property.declaringEntity, attribute: name)
  }
}
