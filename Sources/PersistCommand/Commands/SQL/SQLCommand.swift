import ArgumentParser
import Foundation
import Persist
import PersistSQLMigrations

/// `persist sql`: migrates databases whose schema the application owns, using SQL files.
struct SQLCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sql", abstract: "Migrate any SQLite database with numbered or time-stamped SQL files.",
    discussion: """
      A file's name consists of its version and a name: '0003_add_prices.sql'. The database records applied migrations \
      in its table 'schema_migrations'; entries of Rails, dbmate, golang-migrate, Diesel and others are recognized.
      """,
    subcommands: [
      SQLStatusCommand.self, SQLMigrateCommand.self, SQLRollbackCommand.self, SQLStampCommand.self,
      SQLNewCommand.self, SQLAcceptCommand.self,
    ])
}

/// The arguments of the commands for SQL files.
struct SQLArguments: ParsableArguments {
  @Argument(help: "The database's file.")
  var store: String

  @Option(help: "The folder with the SQL files.")
  var files: String

  @Option(help: "The table of applied versions; by default 'schema_migrations', or another tool's table.")
  var table: String?

  @OptionGroup var common: OutputArguments

  var json: Bool { common.json }

  var url: URL {
    get throws {
      try StoreArgument.file(store, "A database for SQL files", fix: "SQL files migrate only SQLite databases.")
    }
  }

  func migrator() throws -> SQLMigrator {
    _ = try url
    var migrator = try SQLMigrator(filesIn: StoreArgument.file(files, "A folder of SQL files", isFolder: true))
    migrator.table = table
    for file in migrator.skippedFiles {
      StandardError.print("note: '\(file.lastPathComponent)' is skipped: its name has no version.")
    }
    return migrator
  }
}

/// `persist sql status`: the applied and the pending migrations of a database.
struct SQLStatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show which migrations are applied and which are pending. Never writes.",
    discussion: "Exits with status 3 if migrating isn't possible, for example if an applied file was edited.")

  @OptionGroup var arguments: SQLArguments

  func run() throws {
    let status = try arguments.migrator().status(ofStoreAt: arguments.url)
    let problems = status.problems.map(\.advisingCommand)
    if arguments.json {
      try StandardOutput.print {
        $0.field("table", status.table)
        $0.field("version", status.currentVersion)
        $0.field("migrations", of: status.entries) { json, entry in json.object { $0.fields(of: entry) } }
        $0.field("problems", of: problems) { json, problem in
          json.object {
            $0.field("name", problem.code.name)
            $0.field("file", problem.place.file?.path)
            $0.field("message", problem.message)
            $0.field("fix", problem.fix)
          }
        }
      }
    } else {
      for problem in problems { StandardError.printError("persist: \(problem)") }
      try StandardOutput.print(text(status))
    }
    guard problems.isEmpty else { throw Failure.found }
  }

  private func text(_ status: SQLMigrationStatus) -> String {
    var table = TextTable(columns: 3)
    for entry in status.entries {
      let state = entry.isOutOfOrder ? "\(entry.state.rawValue), out of order" : entry.state.rawValue
      let moment = entry.appliedAt.map { ValueWords.date($0) } ?? ""
      table.add(entry.words, state, moment)
    }
    let counts = "\(status.applied.count) applied, \(status.pending.count) pending"
    return table.isEmpty ? counts : "\(table.text())\n\(counts)"
  }
}

/// `persist sql migrate`: runs the pending migrations.
struct SQLMigrateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate", abstract: "Run the pending migrations, each in its own transaction.",
    discussion: "If the process is killed, the running migration is applied either completely or not at all.")

  @OptionGroup var arguments: SQLArguments

  @Option(parsing: .unconditional, help: "The last version to run; the newest by default.")
  var to: Int64?

  func run() throws {
    var migrator = try arguments.migrator()
    // The handler may be called on any thread.
    let bar = LockProtected(ProgressBar("migrating"))
    migrator.progress = { progress in
      let version = progress.version.map { ", \($0) \(progress.name)" } ?? ""
      bar.withLock { $0.show(progress.fraction, detail: "\(progress.completed) of \(progress.total)\(version)") }
      return true
    }
    defer { bar.withLock { $0.finish() } }
    let report = try migrator.migrate(storeAt: arguments.url, to: to)
    bar.withLock { $0.finish() }
    if let to, let version = report.to, version > to, report.applied.isEmpty {
      throw PersistenceError(
        .invalidRequest, at: .store(try arguments.url),
        "The database has version \(version), and migrating can't go back to \(to).",
        fix: "Run 'persist sql rollback --to \(to)', or correct it in a migration with a new version.")
    }
    try report.print("applied", report.applied, asJSON: arguments.json)
  }
}

extension SQLMigrationReport {
  /// Prints the migrations that ran.
  ///
  /// - Parameter key: the key of the migrations in JSON.
  func print(_ key: String, _ entries: [SQLMigrationStatus.Entry], asJSON: Bool) throws {
    let seconds = duration / .seconds(1)
    guard !asJSON else {
      return try StandardOutput.print {
        $0.field("from", from)
        $0.field("to", to)
        $0.field(key, of: entries) { json, entry in json.object { $0.fields(of: entry) } }
        $0.field("seconds", seconds)
      }
    }
    for entry in entries { try StandardOutput.print(entry.words) }
    let count = entries.count
    let version = to.map(String.init) ?? "no version"
    let work = "\(Measure.count(count, "migration")) \(key)"
    try StandardOutput.print(
      count == 0
        ? "Nothing to do: the database has \(to == nil ? "" : "version ")\(version)."
        : "\(work) in \(Measure.duration(seconds: seconds)): \(to == nil ? "" : "version ")\(version).")
  }
}

/// `persist sql accept`: accepts edits of files that have already been applied.
struct SQLAcceptCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "accept",
    abstract: "Accept files that were edited after they were applied, without running them.",
    discussion: "For edits that don't affect the database, such as in comments.")

  @OptionGroup var arguments: SQLArguments

  func run() throws {
    let changed = try arguments.migrator().acceptChanges(inStoreAt: arguments.url)
    if arguments.json {
      try StandardOutput.print { $0.field("accepted", strings: changed.map(\.description)) }
    } else {
      try StandardOutput.print((changed.map(\.description) + ["\(changed.count) accepted"]).joined(separator: "\n"))
    }
  }
}

extension SQLMigrationStatus.Entry {
  /// The file's name, or version and name if there is no file.
  var words: String {
    guard let file else {
      return [version.map(String.init), name.isEmpty ? nil : name].compactMap { $0 }.joined(separator: " ")
    }
    let isInFolder = file.lastPathComponent == "up.sql"
    return (isInFolder ? file.deletingLastPathComponent() : file).lastPathComponent
  }
}

extension JSONText {
  mutating func fields(of entry: SQLMigrationStatus.Entry) {
    field("version", entry.version)
    field("name", entry.name)
    field("file", entry.file?.path)
    field("state", entry.state.rawValue)
    field("outOfOrder", entry.isOutOfOrder)
    key("appliedAt")
    if let moment = entry.appliedAt { value(moment.timeIntervalSinceReferenceDate) } else { null() }
  }
}
