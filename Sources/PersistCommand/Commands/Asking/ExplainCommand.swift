import ArgumentParser
import Persist

/// `persist explain`: the SQL of a request, SQLite's plan, and the indexes that it lacks.
struct ExplainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain", abstract: "Show how a request is executed, and where an index is missing. Never writes.")

  @OptionGroup var arguments: StoreArguments

  @Argument(help: "ENTITY [where PREDICATE] [sort by KEY [desc], …] [limit N] [offset N]")
  var request: String

  func run() throws {
    let contents = try arguments.contents()
    let explanation = try contents.context().explain(QueryLine(request).request(ManagedObject.self))
    guard arguments.json else { return try StandardOutput.print(explanation.description) }
    try StandardOutput.print { json in
      json.field("statements", of: explanation.statements) { json, statement in
        json.object {
          $0.field("sql", statement.sql)
          $0.field("values", strings: statement.values)
          $0.field("plan", strings: statement.plan)
          $0.field("scansTable", statement.walksThroughTable)
          $0.field("sorts", statement.sorts)
        }
      }
      json.field("inMemory", explanation.askedInMemory?.description)
      json.field("sortedInMemory", strings: explanation.sortedInMemory.map(\.key))
      json.field("missingIndexes", of: explanation.missingIndexes) { json, index in
        json.object {
          $0.field("entity", index.entity)
          $0.field("attribute", index.attribute)
          $0.field("purpose", index.purpose.rawValue)
        }
      }
    }
  }
}
