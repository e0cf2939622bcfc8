import Dispatch
package import Foundation
package import Persist
import PersistInspection

/// A store opened for the page of `persist studio`: answers the page's requests with JSON, values and pictures.
///
/// It is independent of HTTP. Requests run on threads of their own, several at a time, because reading blocks.
package final class StudioSession: Sendable {
  let store: StudioStore
  let lists: RowListCache
  let trial: MigrationTrial
  let storeExport: StoreExport
  let edits: EditingSession?
  private let threads = DispatchQueue(label: "persist.studio", attributes: .concurrent)

  /// Opens a store.
  ///
  /// - Parameters:
  ///   - url: The store's file, or the URL of a server.
  ///   - models: A folder with models, or one model; nil to use the store's embedded model.
  ///   - isWritable: Whether the page may change objects. Otherwise no byte of the store changes, nor is a file created
  ///     beside it.
  ///   - key: The key of an encrypted store; it becomes that of all stores of the program that are opened without one.
  /// - Throws: `PersistenceError`, if the store can't be opened or its model is unknown.
  package init(
    storeAt url: URL, models: URL?, isWritable: Bool, key: StoreEncryption.KeyProvider? = nil
  ) throws {
    // Requests are answered on threads of the session, and migrations are tried in stores beside this one.
    if let key { StoreEncryption.setForProgram(key) }
    let store = try StudioStore(at: url, models: models, isWritable: isWritable)
    self.store = store
    lists = RowListCache(store)
    trial = MigrationTrial(store)
    storeExport = StoreExport(store)
    edits = isWritable ? try EditingSession(store) : nil
  }

  /// The name of the store's file or schema.
  package var name: String { StoreArgument.shortName(of: store.url) }

  /// Answers a request. Errors are answers too.
  package func answer(_ request: StudioRequest) async -> StudioAnswer {
    await withCheckedContinuation { continuation in
      threads.async { continuation.resume(returning: self.respond(to: request)) }
    }
  }

  /// Removes temporary files and closes the store.
  package func close() {
    trial.discard()
    storeExport.discard()
    lists.removeAll()
  }

  private typealias Handler = (StudioSession, StudioRequest) throws -> StudioAnswer

  private static func handler(_ resource: String) -> (StudioRequest.Method, Handler)? {
    switch resource {
    case "store": (.get, { session, _ in try session.store.overview() })
    case "counts": (.get, { session, _ in try session.store.counts() })
    case "rows": (.post, { try $0.rows($1) })
    case "explain": (.post, { try $0.explanation($1) })
    case "export": (.get, { try $0.export($1) })
    case "export/store": (.get, { session, _ in session.storeExport.state() })
    case "export/store/start": (.post, { try $0.startStoreExport($1) })
    case "export/store/stop": (.post, { session, _ in session.storeExport.stop() })
    case "export/store/file": (.get, { session, _ in try session.storeExport.file() })
    case "object": (.post, { try $0.object($1) })
    case "past": (.post, { try $0.past($1) })
    case "members": (.post, { try $0.members($1) })
    case "value": (.get, { try $0.value($1) })
    case "diagram": (.get, { try $0.diagram($1) })
    case "diagram/style": (.get, { session, _ in session.diagramStyle() })
    case "versions": (.get, { session, _ in try session.versions() })
    case "plan": (.get, { try $0.plan($1) })
    case "trial": (.get, { session, _ in session.trial.state() })
    case "trial/start": (.post, { try $0.trial.start($1) })
    case "trial/stop": (.post, { session, _ in session.trial.stop() })
    case "changes": (.get, { try $0.changes($1) })
    case "edits": (.get, { session, _ in try session.requireEdits().state() })
    case "edits/apply": (.post, { try $0.requireEdits().apply($1) })
    case "edits/deletion": (.post, { try $0.requireEdits().deletion($1) })
    default: nil
    }
  }

  private func respond(to request: StudioRequest) -> StudioAnswer {
    do {
      guard let (method, handler) = Self.handler(request.resource) else {
        let error = PersistenceError(.invalidRequest, "There is no '\(request.resource)'.", fix: "Reload the page.")
        return .failure(error, status: 404)
      }
      guard method == request.method else {
        return .failure(PersistenceError(.invalidRequest, "The request has the wrong method."), status: 405)
      }
      return try handler(self, request)
    } catch let error as PlacedError {
      return .failure(error.error.withoutSQL, column: error.column)
    } catch let error as PersistenceError {
      return .failure(error.withoutSQL)
    } catch is CancellationError {
      return .failure(PersistenceError(.interrupted, "Another request replaced this one."))
    } catch {
      return .failure(PersistenceError(.fileAccess, error.localizedDescription))
    }
  }

  private func requireEdits() throws -> EditingSession {
    guard let edits else {
      throw PersistenceError(
        .storeReadOnly, at: .store(store.url), "The store was opened for reading.",
        fix: "Start the studio with --write to change objects.")
    }
    return edits
  }
}

extension PersistenceError {
  /// The same error without the SQL that Persist ran.
  fileprivate var withoutSQL: PersistenceError {
    var error = self
    error.place.sql = nil
    error.errors = errors.map(\.withoutSQL)
    return error
  }
}
