package import Foundation

extension StoreMetadata {
  /// - Throws: ``PersistenceError/Code/storeDamaged`` if the metadata can't be read.
  package init(_ mark: StoreMark, at url: URL?) throws {
    let place = PersistenceError.Place.store(url)
    let list: PropertyList
    do {
      list = try mark.propertyList.isEmpty
        ? .dictionary(Dictionary()) : PropertyList(data: mark.propertyList, place: place)
    } catch let error as PersistenceError {
      throw PersistenceError(
        .storeDamaged, at: place, "The store's metadata can't be read: \(error.message)",
        fix: "Restore the store from a backup.", errors: [error])
    }
    guard let values = list.dictionaryValue else {
      throw PersistenceError(
        .storeDamaged, at: place, "The store's metadata isn't a dictionary.", fix: "Restore the store from a backup.")
    }
    // Core Data uses the table's column; the list may contain the same UUID.
    let spare = values[Key.storeIdentifier]?.stringValue ?? ""
    self.init(identifier: mark.identifier.isEmpty ? spare : mark.identifier, values: values)
  }
}
