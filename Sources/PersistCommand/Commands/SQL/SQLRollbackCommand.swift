import ArgumentParser
import Persist
import PersistSQLMigrations

/// `persist sql rollback`: reverts applied migrations.
struct SQLRollbackCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rollback", abstract: "Revert applied migrations, each in its own transaction.",
    discussion: """
      The SQL that reverts '0003_add_prices.sql' is in that file after a line '-- down', or in the file \
      '0003_add_prices.down.sql'. If a migration has none, nothing is reverted.
      """)

  @OptionGroup var arguments: SQLArguments

  @Option(
    parsing: .unconditional,
    help: "The newest version that remains applied, 0 for none; by default only the newest is reverted.")
  var to: Int64?

  func validate() throws {
    if let to, to < 0 { throw ValidationError("A version can't be negative.") }
  }

  func run() throws {
    let report = try arguments.migrator().rollBack(storeAt: arguments.url, to: to)
    try report.print("reverted", report.reverted, asJSON: arguments.json)
  }
}
