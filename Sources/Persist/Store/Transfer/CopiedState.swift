/// A store that is being copied, in the state that is copied.
package final class CopiedState {
  package let identified: IdentifiedStore
  /// The models among which the store's was found; nil if the store contains its model.
  package let registry: ModelRegistry?
  /// The store, for reading. Others can write meanwhile, which it doesn't show if it can hold a state.
  package let store: any PersistentStore
  private let opened: any PersistentStore
  private let generation: (any StoreGeneration)?

  /// Opens a store for reading, with the model that it contains, and holds its current state.
  ///
  /// - Parameter registry: The models of a store that contains none, such as one of an early version of Core Data.
  init(of location: StoreLocation, registry: ModelRegistry?) throws {
    let engine = try location.engine
    do {
      identified = try engine.identifyStore(at: location, registry: nil)
      self.registry = nil
    } catch let error as PersistenceError where error.code == .missingSourceModel {
      guard let registry else { throw error }
      identified = try engine.identifyStore(at: location, registry: registry)
      self.registry = registry
    }
    // The state must remain readable however long copying takes.
    var options = StoreOptions(isReadOnly: true)
    options.queryGenerationLifetime = .seconds(1_000_000)
    opened = try engine.openStore(at: location, model: identified.model, options: options, allowsGaps: false)
    do {
      generation = try opened.generation()
    } catch {
      try? opened.close()
      throw error
    }
    store = (generation?.rows as? any PersistentStore) ?? opened
  }

  /// Whether the store shows one state, whatever others write.
  package var isHeld: Bool { generation != nil }

  func close() { try? opened.close() }
}
