import ArgumentParser
import Foundation

/// The command-line program `persist`.
@main
struct PersistCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "persist",
    abstract: "Looks into object stores, compares model versions and migrates.",
    discussion: """
      Exit status: 0 done, 1 the work failed, 2 the call was wrong, 3 found what it was asked to look for: damage, a \
      migration that isn't possible, a released version that was changed.
      With --json the result, and nothing else, goes to standard output.
      """,
    subcommands: [
      InspectCommand.self, DumpCommand.self, DiffCommand.self, PlanCommand.self, MigrateCommand.self,
      CheckCommand.self, FillCommand.self, GenerateCommand.self, SQLCommand.self, LockCommand.self,
    ])

  /// Runs a command. The exit codes are this program's, not the parser's.
  static func main() {
    do {
      var command = try parseAsRoot()
      try command.run()
    } catch {
      exit(withError: ExitCode(Failure.report(error, asJSON: CommandLine.arguments.contains("--json"))))
    }
  }
}
