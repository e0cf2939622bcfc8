import ArgumentParser
import Foundation
import Persist

#if canImport(PersistOnlineMigrations)
  import PersistPostgreSQL
#endif

/// The command-line program `persist`.
@main
struct PersistCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "persist",
    abstract: "Inspect object stores, compare model versions, and migrate.",
    discussion: """
      Exit status: 0 success, 1 failure, 2 invalid arguments, 3 a finding: damage, an impossible migration, a changed \
      released version.
      With --json, only the result goes to standard output. 'persist --version' shows the version of the program.
      """,
    subcommands: [
      InspectCommand.self, DumpCommand.self, FetchCommand.self, CountCommand.self, ShowCommand.self,
      ExplainCommand.self, DiffCommand.self, DiagramCommand.self, PlanCommand.self, MigrateCommand.self,
      ParkedCommand.self, CapsuleCommand.self, ReplayCommand.self,
      CheckCommand.self, HistoryCommand.self, ExportCommand.self, ImportCommand.self, CopyCommand.self,
      RekeyCommand.self, FillCommand.self,
      GenerateCommand.self, PortCommand.self, SQLCommand.self, LockCommand.self, VersionsCommand.self,
      VersionCommand.self, MergeVersionsCommand.self, SyncCommand.self, ReplicasCommand.self, StudioCommand.self,
      ManualCommand.self,
    ] + onlineCommands)

  /// The commands for stores on servers, if the program was built with libpq.
  private static var onlineCommands: [any ParsableCommand.Type] {
    #if canImport(PersistOnlineMigrations)
      [ExpandCommand.self, BackfillCommand.self, ContractCommand.self, AbortCommand.self]
    #else
      []
    #endif
  }

  /// Runs a command. The exit codes are this program's, not the parser's.
  static func main() {
    var called: any ParsableCommand.Type = Self.self
    #if canImport(PersistOnlineMigrations)
      StoreArgument.acceptServers { try StoreLocation.postgreSQL($0) }
    #endif
    do {
      // The parser would list its own option in the help of every command, beside the command's.
      let arguments = Array(CommandLine.arguments.dropFirst())
      if arguments.first == "--version" { return try StandardOutput.print(ProgramVersion.text) }
      try CommandNames(of: Self.self).check(arguments)
      var command = try parseAsRoot()
      called = type(of: command)
      guard called.configuration.subcommands.isEmpty else {
        exit(withError: ExitCode(Failure.report(missingCommandOf: called)))
      }
      try command.run()
    } catch {
      let isJSON = CommandLine.arguments.contains("--json")
      exit(withError: ExitCode(Failure.report(error, of: called, asJSON: isJSON)))
    }
  }
}
