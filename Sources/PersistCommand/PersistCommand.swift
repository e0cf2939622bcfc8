import ArgumentParser
import Foundation

/// The command-line program `persist`.
@main
struct PersistCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "persist",
    abstract: "Inspect object stores, compare model versions, and migrate.",
    discussion: """
      Exit status: 0 success, 1 failure, 2 invalid arguments, 3 a finding: damage, an impossible migration, a changed \
      released version.
      With --json, only the result goes to standard output.
      """,
    version: ProgramVersion.text,
    subcommands: [
      InspectCommand.self, DumpCommand.self, FetchCommand.self, CountCommand.self, ShowCommand.self,
      ExplainCommand.self, DiffCommand.self, DiagramCommand.self, PlanCommand.self, MigrateCommand.self,
      CapsuleCommand.self, ReplayCommand.self,
      CheckCommand.self, HistoryCommand.self, ExportCommand.self, ImportCommand.self, CopyCommand.self,
      FillCommand.self,
      GenerateCommand.self, SQLCommand.self, LockCommand.self, VersionsCommand.self, VersionCommand.self,
      MergeVersionsCommand.self, StudioCommand.self, ManualCommand.self,
    ])

  /// Runs a command. The exit codes are this program's, not the parser's.
  static func main() {
    do {
      var command = try parseAsRoot()
      guard type(of: command).configuration.subcommands.isEmpty else {
        exit(withError: ExitCode(Failure.report(missingCommandOf: type(of: command))))
      }
      try command.run()
    } catch {
      exit(withError: ExitCode(Failure.report(error, asJSON: CommandLine.arguments.contains("--json"))))
    }
  }
}
