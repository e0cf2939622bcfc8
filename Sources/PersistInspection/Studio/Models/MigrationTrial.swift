import Dispatch
import Foundation
import Persist

/// A migration of a copy of the store: its progress, and what the copy contains afterward.
final class MigrationTrial: Sendable {
  private enum State {
    case none
    case copying
    case migrating(MigrationProgress)
    case done(MigrationReport, counts: [(entity: String, before: Int?, after: Int?)])
    case failed(PersistenceError)
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
    try coordinator.backUp(original, to: copy)
    let migrator = AutomaticMigrator(
      allowsLoss: allowsLoss, downgrade: allowsLoss ? .withLoss : .withoutLoss, countsRows: true
    ) { [self] progress in
      set(.migrating(progress), of: number)
      return self.progress.withLock { !$0.isStopped && $0.number == number }
    }
    let report = try migrator.migrate(storeAt: copy, to: version, registry: registry)
    let after = try StoreContents(readingStoreAt: copy, registry: registry)
    let counts = try Self.counts(after)
    let before = try store.withContents { try Self.counts($0) }
    let names = Set(before.keys).union(counts.keys).sorted()
    return .done(report, counts: names.map { ($0, before[$0], counts[$0]) })
  }

  /// The file of the copy; a store on a server is copied into one too.
  private func copy(in folder: URL) -> URL {
    folder.appendingPathComponent(store.url.isFileURL ? store.url.lastPathComponent : "Store.sqlite")
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
      case .done(let report, let counts):
        json.field("state", "done")
        json.field("from", report.from)
        json.field("to", report.to)
        json.field("way", report.way.rawValue)
        json.field("rows", report.rows)
        json.field("seconds", report.duration / .seconds(1))
        json.field("path", folder.map { copy(in: $0).path })
        json.field("counts", of: counts) { json, count in
          json.object {
            $0.field("entity", count.entity)
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
