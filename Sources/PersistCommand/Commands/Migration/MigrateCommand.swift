import ArgumentParser
import Foundation
import Persist
import PersistTools

/// `persist migrate`: migrates a store to another version.
struct MigrateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate", abstract: "Migrate a store to a model version.",
    discussion: "If the process is killed, the store is complete, in either the old or the new version.")

  @OptionGroup var arguments: MigrationArguments

  @Flag(help: "Copy into a new file even if the migration is possible in place.")
  var copy = false

  @Option(help: "Copy the store to this file before migrating. No copy is made if no migration is needed.")
  var backup: String?

  @Flag(help: "Migrate even if the new version has no place for some values, which are parked; `plan` lists them.")
  var allowLoss = false

  @Flag(
    help: ArgumentHelp(
      "Prove a migration in place before committing it.",
      discussion: """
        Copies of the store are migrated in place and by copying, and all their values are compared. That takes the \
        time of copying and reading the whole store, however short the migration is, and up to five times its space.
        """))
  var prove = false

  func validate() throws {
    guard !prove || !copy else {
      throw ValidationError("--prove compares both ways before migrating in place; it can't be combined with --copy.")
    }
  }

  func run() throws {
    // The remains of a killed migration may prevent even reading the store.
    let url = try arguments.url
    if url.isFileURL { try UnfinishedWork.cleanUp(storeAt: url) }
    let (registry, version) = try arguments.target()
    var options = StoreOptions()
    options.backup = try backup.map { .kept(at: try StoreArgument.file($0, "A backup")) }
    // The handler may be called on any thread.
    let bar = LockProtected(ProgressBar("migrating"))
    var migrator = AutomaticMigrator(
      allowsLoss: allowLoss, downgrade: allowLoss ? .withLoss : .withoutLoss, countsRows: true, alwaysCopies: copy
    ) { progress in
      bar.withLock { $0.show(progress) }
      return true
    }
    migrator.defersWork = arguments.defersWork
    migrator.parking = arguments.parking(allowingLoss: allowLoss)
    // The output says more; as JSON, it has the number only.
    migrator.logsParkedValues = arguments.json
    if prove { migrator = migrator.provingInPlace() }
    defer { bar.withLock { $0.finish() } }
    let report = try migrator.migrate(storeAt: url, to: version, registry: registry, options: options)
    let finished = try arguments.defersWork ? 0 : finishDeferredSteps(version, registry)
    bar.withLock { $0.finish() }
    let seconds = report.duration / .seconds(1)
    if arguments.json {
      try StandardOutput.print {
        $0.field("from", report.from)
        $0.field("to", report.to)
        $0.field("hops", report.hops)
        $0.field("way", report.way.rawValue)
        $0.field("rows", report.rows)
        $0.field("seconds", seconds)
        // If the store already has the version, no backup is made.
        $0.field("backup", report.way == .none ? nil : backup)
        if report.parked > 0 { $0.field("parked", report.parked) }
        if report.restored > 0 { $0.field("restored", report.restored) }
        guard prove else { return }
        $0.key("proof")
        guard let proof = report.proof else { return $0.null() }
        $0.object {
          $0.field("objects", proof.objects)
          $0.field("values", proof.values)
        }
      }
    } else if report.way == .none {
      let done = "\(Measure.count(finished, "deferred step")) \(finished == 1 ? "is" : "are") done."
      let steps = finished == 0 ? "" : " \(done)"
      try StandardOutput.print("The store has version '\(report.to)' already.\(steps)")
      if report.restored > 0 { try StandardOutput.print("Restored: \(report.restored) values, objects and pairs.") }
    } else {
      let hops = report.hops == 1 ? "" : " in \(report.hops) hops"
      let time = Measure.duration(seconds: seconds)
      try StandardOutput.print(
        "Migrated from '\(report.from)' to '\(report.to)'\(hops): \(report.rows ?? 0) rows in \(time).")
      if report.parked > 0 {
        let hints = report.renameHints.map { " \($0.advice)" }.joined()
        try StandardOutput.print(
          "Parked: \(report.parkedWords). They come back with a model that has a place for them; 'persist parked' "
            + "lists and purges them.\(hints)")
      }
      if report.restored > 0 { try StandardOutput.print("Restored: \(report.restored) values, objects and pairs.") }
      if let proof = report.proof {
        try StandardOutput.print(
          "Proved: \(proof.values) values of \(proof.objects) objects are the same in place and by copying.")
      } else if prove {
        try StandardOutput.print("Not proved: the migration copies the store, and there is no second way.")
      }
    }
  }

  /// Runs the steps that an earlier migration deferred.
  ///
  /// - Returns: the number of deferred steps.
  private func finishDeferredSteps(_ version: ModelVersion, _ registry: ModelRegistry) throws -> Int {
    let count = try PersistentStoreCoordinator.metadata(at: arguments.url).deferredSteps.count
    guard count > 0 else { return 0 }
    let coordinator = PersistentStoreCoordinator(model: version.model, registry: registry)
    let store = try coordinator.addStore(at: arguments.url)
    // Whoever runs the command wants it done.
    try coordinator.finishDeferredMigration(within: nil, givingWay: false)
    try coordinator.remove(store)
    return count
  }
}
