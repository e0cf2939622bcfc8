package import Persist

extension JSONText {
  /// The fields of an explanation, as in `explain`.
  package mutating func fields(of explanation: FetchExplanation) {
    field("statements", of: explanation.statements) { json, statement in
      json.object {
        $0.field("sql", statement.sql)
        $0.field("values", strings: statement.values)
        $0.field("plan", strings: statement.plan)
        $0.field("scansTable", statement.walksThroughTable)
        $0.field("sorts", statement.sorts)
      }
    }
    field("inMemory", explanation.askedInMemory?.description)
    field("sortedInMemory", strings: explanation.sortedInMemory.map(\.key))
    field("missingIndexes", of: explanation.missingIndexes) { json, index in
      json.object {
        $0.field("entity", index.entity)
        $0.field("attribute", index.attribute)
        $0.field("purpose", index.purpose.rawValue)
      }
    }
  }
}
