#if canImport(PersistOnlineMigrations)
  import ArgumentParser
  import Foundation
  import Persist
  import PersistOnlineMigrations

  /// `persist expand`: lets a store on a server serve a second model.
  struct ExpandCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "expand",
      abstract: "Let a store on a server serve programs with a new model beside those with the old one.",
      discussion: """
        Takes moments. Afterward, 'backfill' completes older rows, programs with the new model can start, and \
        'contract' or 'abort' ends it. 'plan --online' shows what will be done.
        """)

    @Argument(help: "The store: postgresql://USER@HOST/DATABASE?schema=NAME.")
    var store: String

    @Option(help: "A folder with models, or one model.")
    var models: String

    @Option(help: "The version to serve; the current one by default.")
    var to: String?

    @OptionGroup var common: OutputArguments

    func run() throws {
      let (registry, version) = try MigrationArguments.target(store: store, models: models, to: to)
      let migration = OnlineMigration(storeAt: try StoreArgument.url(store), registry: registry)
      let plan = try migration.expand(to: version)
      try migration.printState(
        asJSON: common.json,
        "Expanded: '\(plan.from)' and '\(plan.to)' are kept in step. Run 'persist backfill' before programs with "
          + "'\(plan.to)' start.")
    }
  }

  /// `persist backfill`: completes older rows for the second model.
  struct BackfillCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "backfill", abstract: "Complete older rows of an expanded store, in small transactions.",
      discussion: "If the process is killed, run it again: it continues where it ended.")

    @OptionGroup var arguments: OnlineArguments

    @Option(name: .customLong("batch"), help: "The maximum number of rows in a transaction.")
    var batchSize = BackfillPace().batchSize

    @Option(name: .customLong("rate"), help: "The maximum number of rows in a second; no limit by default.")
    var rate: Double?

    @Option(
      name: .customLong("replica-lag"),
      help: "Rest while a replica hasn't replayed this many megabytes of the log; no limit by default.")
    var replicaLag: Int?

    @Option(
      name: .customLong("sessions"),
      help: "Rest while more than this many other sessions run statements; no limit by default.")
    var sessions: Int?

    func validate() throws {
      guard batchSize > 0 else { throw ValidationError("--batch must be greater than 0.") }
      guard replicaLag.map({ (0...1_000_000_000).contains($0) }) != false else {
        throw ValidationError("--replica-lag must be from 0 to 1000000000.")
      }
      guard sessions.map({ $0 >= 0 }) != false else { throw ValidationError("--sessions must be 0 or greater.") }
      guard rate.map({ $0 > 0 }) != false else { throw ValidationError("--rate must be greater than 0.") }
    }

    func run() throws {
      let migration = try arguments.migration()
      var pace = BackfillPace()
      (pace.batchSize, pace.rowsPerSecond, pace.activeSessions) = (batchSize, rate, sessions)
      pace.replicaLag = replicaLag.map { Int64($0) << 20 }
      var bar = ProgressBar("completing rows")
      defer { bar.finish() }
      try migration.backfill(pace: pace) { progress in
        let obstacle = progress.obstacle.map { ", waiting for \($0)" } ?? ""
        bar.show(progress.fraction, detail: progress.current + obstacle)
        return true
      }
      bar.finish()
      let to = try migration.status().to ?? ""
      try migration.printState(asJSON: arguments.json, "The store serves programs with '\(to)' too.")
    }
  }

  /// `persist contract`: removes what only the old model needs.
  struct ContractCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "contract", abstract: "End an online migration with the new model.",
      discussion: "Fails while programs with the old model use the store, or if values would be lost.")

    @OptionGroup var arguments: OnlineArguments

    @Flag(help: "Go on although programs with the old model use the store, or values would be lost.")
    var force = false

    func run() throws {
      let migration = try arguments.migration()
      let status = try migration.status()
      if force { for program in status.oldPrograms { StandardError.print("Ended for: \(program)") } }
      let report = try migration.contract(force: force)
      if arguments.json {
        try StandardOutput.print {
          $0.field("from", report.from)
          $0.field("to", report.to)
          $0.field("seconds", report.duration / .seconds(1))
          if report.parked > 0 { $0.field("parked", report.parked) }
        }
      } else {
        let parked = report.parked > 0 ? " Parked: \(report.parked) values, objects and pairs." : ""
        try StandardOutput.print("The store has version '\(report.to)' alone.\(parked)")
      }
    }
  }

  /// `persist abort`: returns an expanded store to its old model.
  struct AbortCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "abort", abstract: "End an online migration with the old model.",
      discussion: "What only the new model has is parked, and returns with the next migration to it.")

    @OptionGroup var arguments: OnlineArguments

    func run() throws {
      let migration = try arguments.migration()
      let from = try migration.status().from ?? ""
      let parked = try migration.abort()?.parked ?? 0
      if arguments.json {
        try StandardOutput.print {
          $0.field("version", from)
          $0.field("parked", parked)
        }
      } else {
        let text = parked > 0 ? " Parked: \(parked) values, objects and pairs." : ""
        try StandardOutput.print("The store has version '\(from)' alone.\(text)")
      }
    }
  }
#endif
