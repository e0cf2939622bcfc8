import ArgumentParser
import Foundation
import Persist
import PersistTools

#if canImport(PersistOnlineMigrations)
  import PersistOnlineMigrations
#endif

/// `persist plan`: the migration that would run.
struct PlanCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plan",
    abstract: "Show the migration that would run: steps, SQL, losses, rows, disk. Never writes.",
    discussion: "Exits with status 3 if the migration isn't possible.")

  @OptionGroup var arguments: MigrationArguments

  @Option(
    help: ArgumentHelp(
      "The application's policy classes to treat as registered, separated by commas.",
      discussion: "The command can't run an application's classes; without this option it reports them as missing."))
  var policies: String?

  @Option(
    name: .customLong("sql"),
    help: ArgumentHelp(
      "Write the migration to this file as a script for sqlite3, with checks.",
      discussion: "Only for a migration in place. The script has been run on a copy of the store."))
  var sqlFile: String?

  @Flag(
    help: ArgumentHelp(
      "Show how the store would serve both versions at once.",
      discussion: "Only for a store on a server: for each difference what 'persist expand' does, or why it can't."))
  var online = false

  func run() throws {
    let (registry, version) = try arguments.target()
    if online { return try planOnline(registry, version) }
    var migrator = AutomaticMigrator()
    migrator.defersWork = arguments.defersWork
    migrator.parking = arguments.parking
    for name in policies?.split(separator: ",") ?? [] {
      // A plan only checks whether a class of the name is registered.
      migrator.policies.register(EntityMigrationPolicy.self, as: name.trimmingCharacters(in: .whitespaces))
    }
    var plan = try MigrationPlan(storeAt: arguments.url, to: version, registry: registry, migrator: migrator)
    if plan.isPossible, !plan.losses.isEmpty, !arguments.discard {
      migrator.parking = .always
      plan = try MigrationPlan(storeAt: arguments.url, to: version, registry: registry, migrator: migrator)
      plan.notes.append("The new version has no place for some values, so 'persist migrate' needs --allow-loss.")
    }
    // Before the plan, so that an error is the only output.
    if plan.isPossible, let sqlFile {
      let script = try MigrationScript(
        storeAt: arguments.url, to: version, registry: registry, migrator: migrator)
      try ExportedFile.write(script.text, to: StoreArgument.file(sqlFile, "A script"))
    }
    if arguments.json {
      try StandardOutput.print { $0.fields(of: plan) }
    } else {
      try StandardOutput.print(
        TerminalStyle.plan(
          plan.description, isShown: TerminalStyle.areShown(isTerminal: StandardOutput.isTerminal)))
    }
    guard plan.isPossible else { throw Failure.found }
  }

  private func planOnline(_ registry: ModelRegistry, _ version: ModelVersion) throws {
    #if canImport(PersistOnlineMigrations)
      let plan = try OnlineMigration(storeAt: arguments.url, registry: registry).plan(to: version)
      if plan.isPossible, let sqlFile {
        try ExportedFile.write(plan.script, to: StoreArgument.file(sqlFile, "A script"))
      }
      if arguments.json {
        try StandardOutput.print { $0.fields(of: plan) }
      } else {
        try StandardOutput.print(plan.description)
      }
      guard plan.isPossible else { throw Failure.found }
    #else
      throw ValidationError("--online needs a program that was built with libpq.")
    #endif
  }
}
