import Foundation
import Persist
import Synchronization
import Tracing

/// A migrator whose migrations are observed: a span for each, with one for each pass of an `AutomaticMigrator`.
struct ObservedMigrator: StoreMigrator {
  private let base: any StoreMigrator
  private let telemetry: StoreTelemetry

  init(_ base: any StoreMigrator, _ telemetry: StoreTelemetry) { (self.base, self.telemetry) = (base, telemetry) }

  var defersWork: Bool { base.defersWork }
  var continuesWithOpenStore: Bool { base.continuesWithOpenStore }

  func migrateStore(
    at url: URL, to model: ManagedObjectModel, registry: ModelRegistry?, options: StoreOptions
  ) throws {
    try StoreOperation.run(.migrate, of: nil, in: StoreName(StoreLocation(url)), telemetry: telemetry) {
      guard var migrator = base as? AutomaticMigrator else {
        return try base.migrateStore(at: url, to: model, registry: registry, options: options)
      }
      let steps = MigrationSteps(telemetry)
      defer { steps.end() }
      let report = migrator.progress
      migrator.progress = { progress in
        steps.record(progress)
        return report?(progress) ?? true
      }
      try migrator.migrateStore(at: url, to: model, registry: registry, options: options)
    }
  }

  func examineStore(at url: URL, of model: ManagedObjectModel, options: StoreOptions) throws {
    try base.examineStore(at: url, of: model, options: options)
  }

  func maintainStore(
    at url: URL, model: ManagedObjectModel, registry: ModelRegistry?, options: StoreOptions
  ) throws {
    try base.maintainStore(at: url, model: model, registry: registry, options: options)
  }
}

/// The steps of a running migration: each pass over an entity is a span.
private final class MigrationSteps: Sendable {
  private struct Step: Equatable {
    let hop: Int
    let pass: MigrationProgress.Pass
    let entity: String?
  }

  private let telemetry: StoreTelemetry
  private let running = Mutex<(step: Step, span: any Span)?>(nil)

  init(_ telemetry: StoreTelemetry) { self.telemetry = telemetry }

  /// Begins the step that a migration reports, and ends the one before.
  func record(_ progress: MigrationProgress) {
    let step = Step(hop: progress.hop.number, pass: progress.pass, entity: progress.entity)
    running.withLock { running in
      if running?.step == step { return }
      running?.span.end()
      guard progress.pass != .done else { return running = nil }
      let name = [progress.pass.rawValue, progress.entity].compactMap { $0 }.joined(separator: " ")
      let span = telemetry.tracer.startSpan("migrate: \(name)", ofKind: .internal)
      span.updateAttributes { attributes in
        attributes["persist.migration.hop"] = progress.hop.number
        attributes["persist.migration.hops"] = progress.hop.count
        attributes["persist.migration.from"] = progress.hop.from
        attributes["persist.migration.to"] = progress.hop.to
        attributes["persist.migration.pass"] = progress.pass.rawValue
        if let entity = progress.entity { attributes["db.collection.name"] = entity }
      }
      running = (step, span)
    }
  }

  func end() {
    running.withLock { running in
      running?.span.end()
      running = nil
    }
  }
}
