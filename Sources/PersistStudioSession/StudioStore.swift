import Foundation
import Persist
import PersistTools

/// The store of a studio, open for reading and, on request, for writing.
final class StudioStore: Sendable {
  let url: URL
  let registry: ModelRegistry?
  let model: ManagedObjectModel
  let metadata: StoreMetadata
  let versionName: String?
  let origin: ModelOrigin
  /// The parts of the model without storage, in words.
  let gaps: [String]
  let notes: [PersistenceError]
  let isWritable: Bool
  let hasHistory: Bool
  private let coordinator: Result<PersistentStoreCoordinator, PersistenceError>
  /// Reads whole objects; one thread at a time.
  private let contents: LockProtected<StoreContents>
  /// The objects of each entity when the page last asked for their number.
  let lastCounts = LockProtected<[String: Int]>([:])

  init(at url: URL, models: URL?, isWritable: Bool) throws {
    let registry = try models.map { try ModelRegistry(contentsOf: $0, needsCurrent: false) }
    let contents = try StoreContents(readingStoreAt: url, registry: registry)
    self.url = url
    self.registry = registry
    self.isWritable = isWritable
    (model, metadata, versionName) = (contents.model, contents.metadata, contents.versionName)
    (origin, gaps, notes) = (contents.modelOrigin, contents.gaps, contents.modelNotes)
    hasHistory = contents.hasHistory
    if isWritable {
      let writing = PersistentStoreCoordinator(model: contents.model, registry: registry)
      try writing.addStore(at: url)
      coordinator = .success(writing)
    } else {
      coordinator = Result { () throws(PersistenceError) in
        do {
          return try contents.context().persistentStoreCoordinator
        } catch let error as PersistenceError {
          throw error
        } catch {
          throw PersistenceError(.storeOpenFailed, at: .store(url), error.localizedDescription)
        }
      }
    }
    // The context's coordinator has the same store as the contents, and closes neither.
    self.contents = LockProtected(contents)
  }

  /// Returns a new context, for requests.
  ///
  /// - Throws: `PersistenceError.Code.incompatibleModel` if the store lacks tables or columns.
  func context() throws -> ManagedObjectContext { ManagedObjectContext(try coordinator.get()) }

  /// The coordinator, with the store as its only one.
  func openCoordinator() throws -> PersistentStoreCoordinator { try coordinator.get() }

  /// Runs a closure over the store's rows, with no other thread in it.
  func withContents<Answer: Sendable>(_ body: (StoreContents) throws -> Answer) throws -> Answer {
    try contents.withLock { contents in try body(contents) }
  }

  /// Returns the identifier of an object of the store.
  func identifier(_ entity: String, _ key: Int64) -> ManagedObjectID {
    ManagedObjectID(entityName: entity, storeIdentifier: metadata.identifier, key: .permanent(key))
  }
}
