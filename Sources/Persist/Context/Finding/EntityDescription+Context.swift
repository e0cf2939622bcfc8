extension EntityDescription {
  /// Returns the entity with a name in a context's model, or nil if there is none.
  public static func entity(forEntityName name: String, in context: ManagedObjectContext) -> Entity? {
    context.model.entitiesByName[name]
  }

  /// Inserts a new object of the entity with a name, using the entity's class.
  ///
  /// - Parameters:
  ///   - name: The name of a non-abstract entity of the context's model; any other name traps. For names from outside,
  ///     use ``ManagedObjectContext/create(_:)``, which throws.
  ///   - context: The context of the new object.
  @discardableResult
  public static func insertNewObject(forEntityName name: String, into context: ManagedObjectContext) -> ManagedObject {
    do { return try context.create(name) } catch { ProgramStop.failure("\(error)") }
  }
}
