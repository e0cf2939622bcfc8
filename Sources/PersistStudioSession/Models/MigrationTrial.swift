import Dispatch
import Foundation
import Persist
import PersistInspection
import PersistTools

/// A migration of a copy of the store: its progress, and the comparison of the copy with the store.
final class MigrationTrial: Sendable {
  private enum State {
    case none
    case copying
    case migrating(MigrationProgress)
    case comparing(objects: Int, total: Int)
    case done(MigrationReport, Findings)
    case failed(PersistenceError)
  }

  /// The numbers of objects of an entity, under both of its names.
  private struct Count {
    let entity: String
    var newEntity: String?
    let before: Int?
    let after: Int?
  }

  /// The comparison of the migrated copy with the store.
  private struct Findings {
    let counts: [Count]
    let comparison: MigratedComparison.Outcome
    /// Whether others have written to the store since it was copied, which the comparison shows as differences.
    let hasChanged: Bool
  }

  private struct Progress {
    var state = State.none
    /// The number of the trial: a former one no longer reports.
    var number = 0
    var isStopped = false
    var folder: URL?
  }

  private let store: StudioStore
  private let progress = LockProtected(Progress())
  private let thread = DispatchQueue(label: "persist.studio.trial")

  init(_ store: StudioStore) { self.store = store }

  /// The error of a request that needs model versions.
  static func withoutModels(_ store: StudioStore) -> PersistenceError {
    PersistenceError(
      .modelNotFound, at: .store(store.url), "No models were given, so there is no version to migrate to.",
      fix: "Start the studio with --models and the folder of the models.")
  }

  private struct Form: Decodable {
    let to: Int
    var allowsLoss: Bool?
  }

  /// Copies the store and migrates the copy, on a thread of its own.
  func start(_ request: StudioRequest) throws -> StudioAnswer {
    let form = try request.decoded(Form.self)
    guard let registry = store.registry else { throw Self.withoutModels(store) }
    guard registry.versions.indices.contains(form.to) else {
      throw PersistenceError(.modelNotFound, "There is no such model version.", fix: "Reload the page.")
    }
    let folder = try TemporaryFolder.make()
    let (number, former) = progress.withLock { progress in
      defer { progress.folder = folder }
      progress.number += 1
      progress.isStopped = false
      progress.state = .copying
      return (progress.number, progress.folder)
    }
    if let former { try? FileManager.default.removeItem(at: former) }
    let version = registry.versions[form.to]
    thread.async { [self] in
      let state: State
      do {
        state = try run(number, in: folder, to: version, registry, allowsLoss: form.allowsLoss == true)
      } catch let error as PersistenceError {
        state = .failed(error)
      } catch {
        state = .failed(PersistenceError(.migrationFailed, error.localizedDescription))
      }
      set(state, of: number)
    }
    return self.state()
  }

  private func set(_ state: State, of number: Int) {
    progress.withLock { if $0.number == number { $0.state = state } }
  }

  private func run(
    _ number: Int, in folder: URL, to version: ModelVersion, _ registry: ModelRegistry, allowsLoss: Bool
  ) throws -> State {
    let copy = copy(in: folder)
    let coordinator = try store.openCoordinator()
    guard let original = coordinator.persistentStores.first else {
      throw PersistenceError(.storeOpenFailed, at: .store(store.url), "The store isn't open.")
    }
    let mark = try store.mark()
    try coordinator.backUp(original, to: copy)
    let migrator = AutomaticMigrator(
      allowsLoss: allowsLoss, downgrade: allowsLoss ? .withLoss : .withoutLoss, countsRows: true
    ) { [self] progress in
      set(.migrating(progress), of: number)
      return isWanted(number)
    }
    let report = try migrator.migrate(storeAt: copy, to: version, registry: registry)
    // Opens the contents separately: requests of the page would wait for the session's own.
    let before = try StoreContents(readingStoreAt: store.url, registry: registry)
    let after = try StoreContents(readingStoreAt: copy, registry: registry)
    let comparison = try MigratedComparison(of: before, with: after, to: version, registry: registry)
    let counts = try Self.counts(in: before, and: after, by: comparison)
    let total = counts.reduce(0) { $0 + ($1.before ?? 0) }
    let outcome = try comparison.run { objects in
      set(.comparing(objects: objects, total: total), of: number)
      guard isWanted(number) else {
        throw PersistenceError(.interrupted, at: .store(copy), "The comparison was stopped; the copy is migrated.")
      }
    }
    return .done(
      report,
      Findings(
        counts: counts, comparison: outcome, hasChanged: try store.mark() != mark))
  }

  /// Whether a trial is the current one and wasn't stopped.
  private func isWanted(_ number: Int) -> Bool { progress.withLock { !$0.isStopped && $0.number == number } }

  /// The file of the copy; a store on a server is copied into one too.
  private func copy(in folder: URL) -> URL {
    folder.appendingPathComponent(store.url.isFileURL ? store.url.lastPathComponent : "Store.sqlite")
  }

  private static func counts(
    in before: StoreContents, and after: StoreContents, by comparison: MigratedComparison
  ) throws -> [Count] {
    let (old, new) = (try counts(before), try counts(after))
    let kept = old.map { name, count in
      let newName = comparison.newName(ofEntity: name)
      return Count(entity: name, newEntity: newName, before: count, after: newName.flatMap { new[$0] })
    }
    let known = Set(kept.compactMap(\.newEntity))
    let added = new.filter { !known.contains($0.key) }.map { Count(entity: $0, before: nil, after: $1) }
    return (kept + added).sorted { $0.entity < $1.entity }
  }

  private static func counts(_ contents: StoreContents) throws -> [String: Int] {
    try Dictionary(uniqueKeysWithValues: contents.model.entities.map { ($0.name, try contents.count(of: $0)) })
  }

  /// Stops the trial; the copy is removed with the next one, or when the studio ends.
  func stop() -> StudioAnswer {
    progress.withLock { $0.isStopped = true }
    return state()
  }

  /// Removes the copy.
  func discard() {
    let folder = progress.withLock { progress in
      defer { progress.folder = nil }
      progress.isStopped = true
      return progress.folder
    }
    if let folder { try? FileManager.default.removeItem(at: folder) }
  }

  func state() -> StudioAnswer {
    let (state, folder) = progress.withLock { ($0.state, $0.folder) }
    return StudioAnswer.json { json in
      switch state {
      case .none: json.field("state", "none")
      case .copying: json.field("state", "copying")
      case .migrating(let progress):
        json.field("state", "migrating")
        json.field("fraction", progress.fraction)
        json.field("current", progress.current)
        json.field("pass", progress.pass.rawValue)
        json.field("secondsLeft", progress.timeLeft.map { Int($0 / .seconds(1)) })
      case .comparing(let objects, let total):
        json.field("state", "comparing")
        json.field("objects", objects)
        json.field("total", total)
      case .done(let report, let findings):
        json.field("state", "done")
        json.field("from", report.from)
        json.field("to", report.to)
        json.field("way", report.way.rawValue)
        json.field("rows", report.rows)
        json.field("seconds", report.duration / .seconds(1))
        json.field("path", folder.map { copy(in: $0).path })
        json.field("hasChanged", findings.hasChanged)
        json.key("comparison")
        json.value(findings.comparison)
        json.field("counts", of: findings.counts) { json, count in
          json.object {
            $0.field("entity", count.entity)
            $0.field("newEntity", count.newEntity)
            $0.field("before", count.before)
            $0.field("after", count.after)
          }
        }
      case .failed(let error):
        json.field("state", "failed")
        json.field("message", error.fullMessage)
        json.field("fix", error.fix)
      }
    }
  }
}
