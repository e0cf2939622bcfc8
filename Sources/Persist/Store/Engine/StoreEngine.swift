import Foundation

/// Creates, opens, identifies, copies and removes the stores of one database system.
///
/// Coordinators, contexts and the stack reach databases only through this protocol and ``PersistentStore``;
/// ``StoreLocation`` chooses the engine. Every engine passes the suite `StoreEngineContract` of the tests.
package protocol StoreEngine: Sendable {
  // MARK: Opening

  /// Whether a store can be created at a location: nothing is there yet, or an empty file.
  func canCreateStore(at location: StoreLocation) throws -> Bool

  /// Creates a store. If another program creates one at the same moment, that one is opened.
  func createStore(
    at location: StoreLocation, model: ManagedObjectModel, options: StoreOptions
  ) throws -> any PersistentStore

  /// Opens a store whose model is known.
  ///
  /// - Parameter allowsGaps: whether to open a store that lacks parts of the model, which then read as empty: for
  ///   showing a store's contents, only with ``StoreOptions/isReadOnly``.
  /// - Throws: ``PersistenceError/Code/incompatibleModel`` if the store lacks parts of the model and gaps aren't
  ///   allowed, and the errors of locations without a store.
  func openStore(
    at location: StoreLocation, model: ManagedObjectModel, options: StoreOptions, allowsGaps: Bool
  ) throws -> any PersistentStore

  /// Opens a store if it has the model; otherwise returns how it differs.
  ///
  /// - Parameter registry: every known version of the model.
  func openStore(
    at location: StoreLocation, ifOf model: ManagedObjectModel, registry: ModelRegistry?, options: StoreOptions
  ) throws -> StoreOpening

  /// Rolls back or completes what a process that was killed left of a store.
  ///
  /// - Returns: whether a process that had the store open ended without closing it, or still has it open.
  func recoverStore(at location: StoreLocation, options: StoreOptions) throws -> Bool

  // MARK: Identifying

  /// Finds the model of a store. Nothing is written.
  ///
  /// - Throws: ``PersistenceError/Code/missingSourceModel`` and the errors of locations without a store.
  func identifyStore(at location: StoreLocation, registry: ModelRegistry?) throws -> IdentifiedStore
  /// The metadata of a store, whatever its model is. Nothing is written.
  func metadata(ofStoreAt location: StoreLocation) throws -> StoreMetadata
  /// Replaces the application's own metadata of a store at once.
  func setMetadata(_ metadata: StoreMetadata, ofStoreAt location: StoreLocation) throws

  /// Replaces all metadata of a store that nobody has open, including its identifier.
  func replaceMetadata(_ metadata: StoreMetadata, ofStoreAt location: StoreLocation) throws

  // MARK: Removing and replacing

  /// The number of coordinators of this process that have a store open.
  func openCount(ofStoreAt location: StoreLocation) -> Int
  /// Deletes a store with everything that belongs to it. Does nothing if there is none.
  func destroyStore(at location: StoreLocation) throws
  /// Makes a copy, of the same engine and used by nobody, the store at a location that has none.
  ///
  /// - Throws: ``PersistenceError/Code/fileAccess`` if there is a store, also if it was created meanwhile.
  func createStore(at location: StoreLocation, fromCopyAt copy: StoreLocation) throws
  /// Lets a copy, of the same engine and used by nobody, take the place of a store in one transaction.
  func replaceStore(at location: StoreLocation, withCopyAt copy: StoreLocation) throws

  // MARK: Searching texts

  /// Searches single texts as the engine's full-text indexes do.
  func textSearcher(_ search: FullTextSearch) throws -> any TextSearcher
}

/// An engine whose stores can be checked, in the module that checks them.
package protocol CheckingEngine: StoreEngine {
  /// Looks for damage in a store. Nothing is written, and memory use doesn't grow with the store.
  ///
  /// - Parameters:
  ///   - registry: The candidate models for the store; nil uses the model in the store.
  ///   - report: Called with each problem. An error that it throws ends the check.
  func checkStore(
    at location: StoreLocation, registry: ModelRegistry?, _ report: (StoreProblem) throws -> Void
  ) throws
}

/// The outcome of opening a store that may have another model.
package enum StoreOpening {
  /// The store has the given model and is open.
  case opened(any PersistentStore)
  /// The store has another model.
  case differs(StoreDifference)
}
