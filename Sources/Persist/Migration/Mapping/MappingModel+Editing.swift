extension MappingModel {
  /// Changes an entity mapping.
  ///
  /// ```swift
  /// try mapping.edit("Item") { item in
  ///   try item.map("cents", to: "$source.price * 100")
  ///   item.sourceExpression = .sourceObjects(of: "Item", where: "price > 0")
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - name: The entity of the new version whose objects the mapping creates, or the mapping's own name, such as
  ///     `IEM_Transform_Item`. Names of mappings take precedence.
  ///   - change: Edits the mapping; an error leaves it unchanged.
  /// - Throws: ``PersistenceError/Code/missingMappingModel`` with the names of all mappings if none has this name, or
  ///   if several create objects of the entity; the errors of `change`.
  public mutating func edit<Failure: Error>(
    _ name: String, _ change: (inout EntityMapping) throws(Failure) -> Void
  ) throws {
    let index = try index(of: name)
    var mapping = entityMappings[index]
    try change(&mapping)
    entityMappings[index] = mapping
  }

  /// Returns an entity mapping.
  ///
  /// - Parameter name: The entity of the new version whose objects the mapping creates, or the mapping's own name.
  /// - Throws: ``PersistenceError/Code/missingMappingModel`` with the names of all mappings if none has this name, or
  ///   if several create objects of the entity.
  public func entityMapping(_ name: String) throws -> EntityMapping { entityMappings[try index(of: name)] }

  /// Removes an entity mapping and returns it: the objects that it would have created aren't.
  ///
  /// - Parameter name: The entity of the new version whose objects the mapping creates, or the mapping's own name.
  /// - Throws: ``PersistenceError/Code/missingMappingModel`` with the names of all mappings if none has this name, or
  ///   if several create objects of the entity.
  @discardableResult
  public mutating func removeEntityMapping(_ name: String) throws -> EntityMapping {
    entityMappings.remove(at: try index(of: name))
  }

  private func index(of name: String) throws -> Int {
    if let index = entityMappings.firstIndex(where: { $0.name == name }) { return index }
    let matches = entityMappings.indices.filter { entityMappings[$0].destinationEntityName == name }
    if matches.count == 1, let index = matches.first { return index }
    let names = (matches.isEmpty ? Array(entityMappings.indices) : matches).map { index in
      let mapping = entityMappings[index]
      return "'\(mapping.name)'" + (mapping.destinationEntityName.map { " (creates \($0))" } ?? "")
    }.joined(separator: ", ")
    throw PersistenceError(
      .missingMappingModel, at: .entity(name),
      matches.isEmpty
        ? "The mapping model '\(self.name)' has no entity mapping that is called '\(name)' or creates its objects."
        : "Several entity mappings of the mapping model '\(self.name)' create objects of '\(name)'.",
      fix: names.isEmpty ? "The mapping model is empty: add entity mappings to it." : "Name one of these: \(names).")
  }
}

extension EntityMapping {
  /// Computes a property of the created objects, instead of what was mapped before.
  ///
  /// - Parameters:
  ///   - property: The name of an attribute of the destination entity, or of a relationship that has a mapping. Any
  ///     other name is an error of the plan.
  ///   - format: An expression in the format language, such as `$source.price * 100`; see
  ///     ``PropertyMapping/valueExpression`` for its variables.
  ///   - arguments: The values of the format's placeholders.
  /// - Throws: ``PersistenceError/Code/invalidPredicate`` with the column of the error and what was expected there.
  public mutating func map(_ property: String, to format: String, _ arguments: (any FetchArgument)?...) throws {
    map(property, to: try FetchExpression(format, arguments: arguments))
  }

  /// Computes a property of the created objects by an expression; nil leaves an attribute its default and a
  /// relationship empty.
  public mutating func map(_ property: String, to expression: FetchExpression?) {
    let mapping = PropertyMapping(property, valueExpression: expression)
    if let index = relationshipMappings.firstIndex(where: { $0.name == property }) {
      relationshipMappings[index] = mapping
    } else if let index = attributeMappings.firstIndex(where: { $0.name == property }) {
      attributeMappings[index] = mapping
    } else {
      attributeMappings.append(mapping)
    }
  }
}
