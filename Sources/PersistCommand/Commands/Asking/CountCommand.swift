import ArgumentParser
import Persist
import PersistTools

/// `persist count`: the number of objects that a request finds.
struct CountCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "count", abstract: "Count the objects that a request finds. Never writes.")

  @OptionGroup var arguments: StoreArguments

  @Argument(help: "ENTITY [where PREDICATE]")
  var request: String

  func run() throws {
    let contents = try arguments.contents()
    let count = try contents.context().count(for: QueryLine(request).request(ManagedObject.self))
    if arguments.json {
      try StandardOutput.print { $0.field("count", count) }
    } else {
      try StandardOutput.print(String(count))
    }
  }
}
