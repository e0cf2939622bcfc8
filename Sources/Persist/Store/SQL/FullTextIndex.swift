/// The index of the words of one column's texts: an FTS5 table that reads the texts in the column's own table, and the
/// triggers that keep it.
///
/// One for each attribute, so that marking another, or renaming it, leaves the rest alone, and a change of a row costs
/// something only where a searched text changes. Core Data passes over tables that it doesn't know.
///
/// - SeeAlso: <https://sqlite.org/fts5.html#external_content_tables>
struct FullTextIndex: Sendable, Hashable {
  /// What the names of Persist's own tables and triggers for full-text search begin with.
  static let prefix = "PERSIST_FTS_"

  let table: String
  let column: String
  let search: FullTextSearch
  /// The entity that declares the attribute.
  let entity: String
  let attribute: String

  /// No name of an entity or attribute has the sign in it, so that no two indexes have one name.
  var name: String { "\(Self.prefix)\(table)$\(column)" }

  /// By name, the texts of the FTS5 table and of its triggers, as a store has them.
  var definitions: [String: String] {
    var definitions = [name: SQLText.create(self).text]
    for event in Event.allCases { definitions[triggerName(event)] = SQLText.trigger(self, event).text }
    return definitions
  }

  /// What a trigger hears of.
  enum Event: String, Sendable, CaseIterable {
    case insert = "INSERT"
    case delete = "DELETE"
    case update = "UPDATE"
  }

  func triggerName(_ event: Event) -> String { "\(name)_\(event.rawValue)" }
}
