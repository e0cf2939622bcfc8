/// A row source that several threads may use at the same time.
package protocol SharedRowSource: RowSource, Sendable {}

/// One state of a store, which stays readable while others write.
///
/// The state is released with the last reference, or earlier if the store limits how long it is kept.
package protocol StoreGeneration: AnyObject, Sendable {
  /// The rows of the state. They can't be written.
  ///
  /// Reading throws ``PersistenceError/Code/queryGenerationExpired`` after the state was released.
  var rows: any SharedRowSource { get }
}
