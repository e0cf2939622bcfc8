import ArgumentParser
import Persist
import PersistTools

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
    try StandardOutput.print { $0.fields(of: explanation) }
  }
}
