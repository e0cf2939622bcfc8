import Foundation

/// The model that a store carries: Persist's note of it, or Core Data's archive in `Z_MODELCACHE`.
enum EmbeddedModel: Sendable {
  case none
  case model(ManagedObjectModel)
  /// There is one, but it can't be read, or isn't that of the store any more.
  case unusable(PersistError)

  var model: ManagedObjectModel? { if case .model(let model) = self { model } else { nil } }

  /// - Complexity: linear in the size of the model, which for Core Data's archive means milliseconds.
  init(_ connection: SQLiteConnection, catalog: StoreCatalog) throws {
    let place = PersistError.Place(store: connection.url, key: "embedded model")
    let read: () throws -> ModelDescription
    if catalog.record != nil, let text = try ModelRecord.modelText(connection) {
      read = { try ModelDescription(json: text, from: connection.url) }
    } else if catalog.schema.column("Z_CONTENT", of: "Z_MODELCACHE") != nil,
      let archive = try connection.first(.modelCache, { $0.data(0) }), !archive.isEmpty
    {
      read = { try XcodeModelArchive.model(fromModelCache: archive, place: place) }
    } else {
      self = .none
      return
    }
    do {
      let model = try ManagedObjectModel(read())
      let strangers = catalog.metadata.versionHashes.keys.filter { model.entitiesByName[$0] == nil }.sorted()
      if let stranger = strangers.first {
        // A framework from before embedded models migrates a store and leaves the old model in it.
        self = .unusable(
          PersistError(
            .incompatibleModel, at: place, "The embedded model doesn't know the store's entity '\(stranger)'."))
      } else {
        self = .model(model)
      }
    } catch let error as PersistError {
      self = .unusable(error)
    }
  }
}
