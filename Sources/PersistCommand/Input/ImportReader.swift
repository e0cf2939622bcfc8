import Foundation
import Persist

/// Reads the objects of a file, one after the other.
protocol ImportReader {
  /// The number of bytes read so far, for the progress.
  var position: Int { get }
  /// The file and line of the last object.
  var source: ImportSlice.Source { get }
  /// Returns the next object; nil at the end.
  mutating func next() throws -> (entity: ImportedEntity, draft: ImportedEntity.Draft)?
}

/// The entities that objects can be imported into.
struct ImportedEntities {
  private let byName: [String: ImportedEntity]

  init(_ model: ManagedObjectModel, storeIdentifier: String) {
    byName = Dictionary(
      uniqueKeysWithValues: model.entities.filter { !$0.isAbstract }.map {
        ($0.name, ImportedEntity($0, of: model, storeIdentifier: storeIdentifier))
      })
  }

  func entity(named name: String) throws -> ImportedEntity {
    if let entity = byName[name] { return entity }
    throw UnusableInput(
      "The store's model has no entity '\(name)' with objects.", code: .unknownEntity,
      fix: "It has \(byName.keys.sorted().joined(separator: ", ")).")
  }
}
