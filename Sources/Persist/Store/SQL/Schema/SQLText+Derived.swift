/// The triggers that maintain derived columns of a file.
///
/// - SeeAlso: <https://sqlite.org/lang_createtrigger.html>
extension SQLText {
  package static func create(_ trigger: DerivedTrigger) -> SQLText {
    let event: SQLText =
      switch trigger.event {
      case .insert: "INSERT"
      case .delete: "DELETE"
      case .update(let columns): "UPDATE OF \(names: columns)"
      }
    return """
      CREATE TRIGGER \(name: trigger.name) AFTER \(event) ON \(name: trigger.table) FOR EACH ROW BEGIN \
      \(SharedSQL.action(of: trigger)); END
      """
  }

  package static let derivedTriggers: SQLText = """
    SELECT name FROM sqlite_master WHERE type = 'trigger' AND substr(name, 1, 11) = 'PERSIST_DA_'
    """
}
