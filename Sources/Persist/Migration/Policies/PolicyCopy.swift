/// A copy of objects that calls policies, as their manager sees it.
protocol PolicyCopy: AnyObject {
  var sourceContext: ManagedObjectContext { get }
  var destinationContext: ManagedObjectContext { get }

  /// Records that an entity mapping created a destination object from a source object.
  func associate(_ source: ManagedObject, with destination: ManagedObject, for mapping: EntityMapping) throws
  /// Returns the objects that an entity mapping created from source objects.
  func destinationInstances(
    forEntityMapping name: String, _ sources: [ManagedObject]
  ) throws -> [ManagedObject]
  /// Returns the objects that any entity mapping created from source objects.
  func destinationInstances(for sources: [ManagedObject]) throws -> [ManagedObject]
  /// Returns the source objects from which an entity mapping created destination objects.
  func sourceInstances(
    forEntityMapping name: String, _ destinations: [ManagedObject]
  ) throws -> [ManagedObject]
  /// Creates the destination object of a source object.
  func create(from source: ManagedObject, in mapping: EntityMapping) throws
  /// Sets the relationships of a destination object.
  func relate(_ destination: ManagedObject, in mapping: EntityMapping) throws
}
