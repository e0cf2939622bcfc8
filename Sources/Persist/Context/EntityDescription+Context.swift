extension EntityDescription {
  /// The entity with a name in a context's model; nil where the model has none.
  public static func entity(forEntityName name: String, in context: ManagedObjectContext) -> Entity? {
    context.model.entitiesByName[name]
  }

  /// A new object of the entity with a name, of the class that serves the entity.
  ///
  /// - Parameter name: of an entity of the context's model that isn't abstract; another one stops the program. For
  ///   names from outside there is ``ManagedObjectContext/create(_:)``, which throws.
  @discardableResult
  public static func insertNewObject(forEntityName name: String, into context: ManagedObjectContext) -> ManagedObject {
    do { return try context.create(name) } catch { ProgramStop.failure("\(error)") }
  }
}
