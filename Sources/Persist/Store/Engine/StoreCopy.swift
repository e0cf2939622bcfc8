package import Foundation

/// A copy of a store that is being made with another model.
///
/// Rows are copied by SQL that ``source`` runs, which reads the store and writes the copy, or by contexts that have
/// both open. The copy is complete only after the last step.
package protocol StoreCopy {
  /// The connection that reads the store and, after ``attach()``, writes the copy.
  var source: any MigrationConnection { get }
  /// Whether the destination is created by the copy, and deleted if it fails.
  var isNew: Bool { get }
  /// The layout of the copy.
  var map: TableMap { get }
  /// The options with which contexts open the destination.
  var options: StoreOptions { get }

  // MARK: Before the rows

  /// Creates the destination with its tables, but without indexes.
  ///
  /// - Parameter metadata: The source's metadata: the identifier and the application's own keys are copied.
  func make(metadata: StoreMetadata, coreDataHashes: [String: Data]?) throws
  /// Makes the large values of the store available to the copy.
  func shareLargeValues() throws
  /// The greatest keys in use, by the name of the hierarchy's root, for a destination that already existed.
  func usedKeys() throws -> [String: Int64]
  /// Raises the key counters, so that objects created by policies get unused keys.
  func reserve(_ keys: [String: Int64]) throws
  /// Lets ``source`` write the copy.
  func attach() throws
  /// Runs SQL that copies rows, after ``attach()``.
  func execute(_ sql: SQLText) throws
  /// Creates a temporary table of associations between copied objects.
  func makeAssociations() throws -> any ObjectAssociations

  // MARK: After the rows

  /// Creates the missing indexes.
  ///
  /// - Parameter body: Called for each index with a function that creates it. That takes the number of entries, and a
  ///   closure that is called with the number of those made so far and returns whether to continue.
  func makeIndexes(
    _ body: (_ index: IndexDefinition, _ create: (Int64, ((Int64) -> Bool)?) throws -> Void) throws -> Void) throws
  /// Creates the triggers of derived attributes, and computes the attributes' values.
  func updateDerivedTriggers() throws
  func makeFullTextIndexes() throws
  /// Creates schema objects other than the model's tables, from their definitions in the source store's schema.
  func define(_ definitions: [String]) throws
  /// The schema of the source as the engine rewrites it when tables and columns get other names.
  func renaming(_ schema: StoreSchema, by changes: [SchemaChange]) throws -> StoreSchema
  func apply(_ changes: [SchemaChange]) throws
  func schema() throws -> StoreSchema
  /// Reads the copy.
  func inspect<T>(_ body: (any StoreInspector) throws -> T) throws -> T

  func close()
}

/// A temporary table of associations between the objects of a store and those of its copy.
package protocol ObjectAssociations {
  func add(_ associations: [ObjectAssociation]) throws
  func destinations(of source: Int64, step: Int) throws -> [ObjectAssociation]
  /// The keys of the sources of an object.
  ///
  /// - Parameter entity: The number of the object's entity in the model.
  func sources(of destination: Int64, entity: Int, step: Int) throws -> [Int64]
}

/// A pair of saved objects.
package struct ObjectAssociation {
  /// The number of the entity mapping that created the destination object.
  package let step: Int
  package let source: Int64
  /// The number of the destination object's entity in the model.
  package let entity: Int
  package let destination: Int64

  package init(step: Int, source: Int64, entity: Int, destination: Int64) {
    self.step = step
    self.source = source
    self.entity = entity
    self.destination = destination
  }
}
