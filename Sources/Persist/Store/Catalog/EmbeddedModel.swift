package import Foundation

/// The model embedded in a store: Persist's record of it, or Core Data's archive in `Z_MODELCACHE`.
package enum EmbeddedModel: Sendable {
  case none
  case model(ManagedObjectModel)
  /// There is one, but it can't be read, or is no longer that of the store.
  case unusable(PersistenceError)

  var model: ManagedObjectModel? { if case .model(let model) = self { model } else { nil } }

  /// - Complexity: Linear in the size of the model, which for Core Data's archive means milliseconds.
  ///
  /// - Parameters:
  ///   - modelText: Reads the text of Persist's record.
  ///   - archive: Reads Core Data's archive.
  package init(
    of catalog: StoreCatalog, at url: URL?, modelText: () throws -> Data?, archive: () throws -> Data?
  ) throws {
    let place = PersistenceError.Place(store: url, key: "embedded model")
    self = .none
    if catalog.record != nil, let text = try modelText() {
      self = Self.checked(against: catalog, at: place) { ParsedModel(try ModelDescription(json: text, from: url)) }
    }
    guard model == nil, let archive = try archive(), !archive.isEmpty else { return }
    self = Self.checked(against: catalog, at: place) {
      try XcodeModelArchive.model(fromModelCache: archive, place: place)
    }
  }

  private static dynamic func checked(
    against catalog: StoreCatalog, at place: PersistenceError.Place, _ read: () throws -> ParsedModel
  ) -> EmbeddedModel {
    do {
      let model = try ManagedObjectModel(read())
      // A framework older than embedded models migrates a store without replacing the old model in it.
      let strangers = catalog.metadata.versionHashes.keys.filter { model.entitiesByName[$0] == nil }.sorted()
      if let stranger = strangers.first {
        return .unusable(
          PersistenceError(
            .incompatibleModel, at: place, "The embedded model doesn't have the store's entity '\(stranger)'."))
      }
      return .model(model)
    } catch let error as PersistenceError {
      return .unusable(error)
    } catch {
      return .unusable(PersistenceError(.malformedFile, at: place, "The embedded model can't be read: \(error)"))
    }
  }
}
