import ArgumentParser
import Persist
import PersistSQLMigrations

/// `persist sql stamp`: records migrations as applied, without running them.
struct SQLStampCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stamp", abstract: "Record migrations as applied without running them: a baseline.",
    discussion: "For a database that already has their changes.")

  @OptionGroup var arguments: SQLArguments

  @Option(parsing: .unconditional, help: "The last version to record; the newest by default.")
  var to: Int64?

  func run() throws {
    let stamped = try arguments.migrator().stamp(storeAt: arguments.url, to: to)
    if arguments.json {
      try StandardOutput.print { $0.field("stamped", strings: stamped.map(\.description)) }
    } else {
      try StandardOutput.print((stamped.map(\.description) + ["\(stamped.count) stamped"]).joined(separator: "\n"))
    }
  }
}
