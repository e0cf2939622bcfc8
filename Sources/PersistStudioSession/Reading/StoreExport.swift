import Dispatch
import Foundation
import Persist
import PersistInspection
import PersistTools

/// The export of the rows that a page shows to a new store: its progress, and the file.
final class StoreExport: Sendable {
  private enum State {
    case none
    case writing(written: Int, total: Int)
    case done(StoreExtract.Outcome, seconds: Double, file: URL)
    case failed(PersistenceError)
  }

  private struct Progress {
    var state = State.none
    /// The number of the export: a former one no longer reports.
    var number = 0
    var folder: URL?
  }

  private let store: StudioStore
  private let progress = LockProtected(Progress())
  private let thread = DispatchQueue(label: "persist.studio.store-export")

  init(_ store: StudioStore) { self.store = store }

  /// Begins to write the rows of a list, in place of a former export.
  ///
  /// - Parameter keys: Waits until the list is read.
  func start(named name: String, _ keys: @escaping @Sendable () throws -> RowKeys) throws -> StudioAnswer {
    let folder = try TemporaryFolder.make()
    let (number, former) = progress.withLock { progress in
      defer { progress.folder = folder }
      progress.number += 1
      progress.state = .writing(written: 0, total: 0)
      return (progress.number, progress.folder)
    }
    if let former { try? FileManager.default.removeItem(at: former) }
    let file = folder.appendingPathComponent("Export.sqlite")
    thread.async { [self] in
      let start = ContinuousClock.now
      let state: State
      do {
        let outcome = try write(keys(), to: file, number)
        state = .done(
          outcome, seconds: (ContinuousClock.now - start) / .seconds(1), file: try Self.rename(file, to: name))
      } catch let error as PersistenceError {
        state = .failed(error)
      } catch {
        state = .failed(PersistenceError(.fileAccess, error.localizedDescription))
      }
      set(state, of: number)
    }
    return self.state()
  }

  private func write(_ keys: RowKeys, to file: URL, _ number: Int) throws -> StoreExtract.Outcome {
    var extract = try store.withContents { StoreExtract(of: $0, registry: store.registry) }
    extract.add(keys)
    return try extract.write(to: file) { written, total in
      guard set(.writing(written: written, total: total), of: number) else {
        throw PersistenceError(.interrupted, "The export was stopped.")
      }
    }
  }

  /// Gives the file the name under which a browser stores it.
  private static func rename(_ file: URL, to name: String) throws -> URL {
    let allowed = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-_ "))
    let plain = String(String.UnicodeScalarView(name.unicodeScalars.filter { allowed.contains($0) }).prefix(80))
    let target = file.deletingLastPathComponent().appendingPathComponent("\(plain.isEmpty ? "Export" : plain).sqlite")
    if target != file { try FileManager.default.moveItem(at: file, to: target) }
    return target
  }

  /// - Returns: Whether the export is still the current one.
  @discardableResult
  private func set(_ state: State, of number: Int) -> Bool {
    progress.withLock { progress in
      guard progress.number == number else { return false }
      progress.state = state
      return true
    }
  }

  /// Stops the export; nothing remains of it.
  func stop() -> StudioAnswer {
    discard()
    return state()
  }

  /// Stops the export and removes its file.
  func discard() {
    let folder = progress.withLock { progress in
      defer { progress.folder = nil }
      progress.number += 1
      progress.state = .none
      return progress.folder
    }
    if let folder { try? FileManager.default.removeItem(at: folder) }
  }

  /// The whole new store.
  func file() throws -> StudioAnswer {
    guard case .done(_, _, let file) = progress.withLock({ $0.state }) else {
      throw PersistenceError(.objectNotFound, "There is no exported store.", fix: "Export it again.")
    }
    let handle = LockProtected(try FileHandle(forReadingFrom: file))
    let size = try file.resourceValues(forKeys: [.fileSizeKey]).fileSize
    return StudioAnswer(
      contentType: "application/vnd.sqlite3", fileName: file.lastPathComponent,
      body: .pieces(count: size) { try handle.withLock { try $0.read(upToCount: 256 << 10) } })
  }

  func state() -> StudioAnswer {
    let state = progress.withLock { $0.state }
    return StudioAnswer.json { json in
      switch state {
      case .none: json.field("state", "none")
      case .writing(let written, let total):
        json.field("state", "writing")
        json.field("written", written)
        json.field("total", total)
      case .done(let outcome, let seconds, let file):
        json.field("state", "done")
        json.field("objects", outcome.objects)
        json.field("required", outcome.required)
        json.field("seconds", seconds)
        json.field("bytes", try? file.resourceValues(forKeys: [.fileSizeKey]).fileSize)
      case .failed(let error):
        json.field("state", "failed")
        json.field("message", error.fullMessage)
        json.field("fix", error.fix)
      }
    }
  }
}

extension StudioSession {
  func startStoreExport(_ request: StudioRequest) throws -> StudioAnswer {
    let form = try request.decoded(RowsForm.self)
    let entity = try store.context().entity(named: form.entity)
    let list = try lists.list(for: form.request(), look: form.look, isFresh: form.isFresh == true)
    return try storeExport.start(named: entity.name) {
      guard let keys = try list.keys(within: nil) else { throw CancellationError() }
      return keys
    }
  }
}
