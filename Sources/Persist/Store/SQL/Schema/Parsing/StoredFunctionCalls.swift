/// The functions called by a definition in a store, found without parsing SQL.
package struct StoredFunctionCalls {
  /// One name, and whether its result is discarded.
  package struct Call: Hashable {
    package let name: String
    /// Whether it directly follows a `SELECT` that is its own statement in a trigger, so that its result is discarded.
    package let isForEffect: Bool
  }

  package private(set) var calls: Set<Call> = []

  /// - Parameter isTrigger: False for an index, view or table, which can't discard results.
  package init(in definition: StoredDefinition, isTrigger: Bool) {
    // A table's name before its columns isn't a call.
    let beforeTables: Set<String> = isTrigger ? ["INTO"] : ["INTO", "ON", "TABLE", "REFERENCES"]
    var previous: Substring?
    var beforePrevious: Substring?
    for token in SQLTokens(definition.sql) {
      defer {
        beforePrevious = previous
        previous = token
      }
      if token == "(", let name = previous, SQLTokens.isPlainName(name) {
        let before = beforePrevious?.uppercased() ?? ""
        if beforeTables.contains(before) { continue }
        let behindSelect = before == "SELECT"
        calls.insert(Call(name: String(name), isForEffect: isTrigger && behindSelect && startsStatement))
      }
      if token.uppercased() == "SELECT" {
        startsStatement = previous == ";" || previous?.uppercased() == "BEGIN"
      }
    }
  }

  /// Whether the last `SELECT` began a statement of the trigger.
  private var startsStatement = false
}
