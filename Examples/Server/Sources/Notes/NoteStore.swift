public import Foundation
public import Persist
import PersistMacrosless
public import PersistObservability

/// The notes in a store, for many requests at once.
///
/// Each call has a context of its own, which ends with it: what it reads is as of one moment, and no object is shared.
public struct NoteStore: Sendable {
  /// The store, for the service that closes it and for the readiness check.
  public let container: PersistentContainer
  /// How long a call may take. What waits then ends: for a lane, for another process, for a lock.
  let deadline: Duration

  /// Opens a store in a file or on a server, and brings one of an older version to the newest.
  ///
  /// - Parameters:
  ///   - replicas: replicas of the store's server, from which lists of notes are read.
  ///   - telemetry: traces and measures the store's work; nil for none.
  public init(
    at location: StoreLocation, replicas: [StoreLocation] = [], deadline: Duration = .seconds(2),
    telemetry: StoreTelemetry? = nil
  ) throws {
    var options = StoreOptions.automaticMigration
    // A commit is on the disk before it is acknowledged, even if the power fails then. SQLite's default in this mode,
    // NORMAL, survives the end of the program but may lose the last commits with the power. A server's default is safe.
    options.pragmas = ["synchronous": "FULL"]
    options.busyTimeout = deadline
    options.readsFrom = replicas
    options.telemetry = telemetry
    container = try PersistentContainer(at: location, model: ManagedObjectModel(Note.self), options: options)
    self.deadline = deadline
  }

  /// Some of the notes, the oldest first.
  public func notes(limit: Int, offset: Int) async throws -> [SavedNote] {
    try await inTime {
      try await container.read { context in
        context.readsFromReplicas = true
        return try context.fetch(Note.all.sorted(by: \.created).sorted(by: \.id).limited(to: limit, offset: offset))
          .map(SavedNote.init)
      }
    }
  }

  /// - Throws: ``PersistenceError/Code/objectNotFound``.
  public func note(_ id: UUID) async throws -> SavedNote {
    try await inTime { try await container.read { context in try SavedNote(context.note(id)) } }
  }

  /// - Parameter id: the client's own, so that it can send the same again where it got no answer.
  /// - Throws: ``PersistenceError/Code/constraintConflict`` where there is a note with this identifier.
  public func create(_ content: NoteContent, id: UUID = UUID()) async throws -> SavedNote {
    try await inTime {
      try await container.save { context in
        let note = Note(context: context)
        note.id = id
        note.set(content)
        // The version is there after the save.
        try context.save()
        return SavedNote(note)
      }
    }
  }

  /// - Parameter version: the one that the client has read; nil to change any. Where another process saves between
  ///   reading and writing, the closure runs again and compares anew.
  /// - Throws: ``VersionMismatch``; ``PersistenceError/Code/objectNotFound``.
  public func update(_ id: UUID, to content: NoteContent, ifVersion version: Int64?) async throws -> SavedNote {
    try await inTime {
      try await container.save(retrying: 3) { context in
        let note = try context.note(id)
        try note.require(version)
        note.set(content)
        try context.save()
        return SavedNote(note)
      }
    }
  }

  public func delete(_ id: UUID, ifVersion version: Int64?) async throws {
    try await inTime {
      try await container.save(retrying: 3) { context in
        let note = try context.note(id)
        try note.require(version)
        context.delete(note)
      }
    }
  }

  /// Copies the store, as it is at one moment, while requests go on; who writes waits meanwhile.
  ///
  /// It has no deadline: a whole copy is the point of it.
  public func backUp(to url: URL) async throws {
    try await container.performBackgroundTask { context in
      let coordinator = context.persistentStoreCoordinator
      for store in coordinator.persistentStores { try coordinator.backUp(store, to: url) }
    }
  }

  /// Closes the file when all calls have ended.
  public func close() throws {
    let coordinator = container.persistentStoreCoordinator
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  /// Cancels a call that takes longer than it may.
  ///
  /// What is being waited for ends with `CancellationError`, and what hadn't begun is never run. What was committed in
  /// the last moment is returned.
  private func inTime<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result {
    let work = Task { try await body() }
    let timer = Task {
      try await Task.sleep(for: deadline)
      work.cancel()
    }
    defer { timer.cancel() }
    return try await withTaskCancellationHandler { try await work.value } onCancel: { work.cancel() }
  }
}

/// The note has another version than the client has read.
public struct VersionMismatch: Error {
  public let version: Int64
}

extension ManagedObjectContext {
  fileprivate func note(_ id: UUID) throws -> Note {
    guard let note = try fetch(Note.where(\.id == id)).first else {
      throw PersistenceError(.objectNotFound, at: .entity("Note"), "There is no note \(id.uuidString).")
    }
    return note
  }
}

extension Note {
  fileprivate func set(_ content: NoteContent) { (title, text) = (content.title, content.text) }

  fileprivate func require(_ expected: Int64?) throws {
    if let expected, let version, version != expected { throw VersionMismatch(version: version) }
  }
}
