/// The columns of dictionary results: the requested ones, followed by those that only the order and the condition on
/// groups use.
struct DictionaryColumns {
  let names: [String]
  let resultTypes: [AttributeType?]
  private(set) var columns: [ValueQuery.Column]
  let groups: [FetchExpression]
  /// The condition on groups, with column indexes as keys.
  private(set) var having: FetchPredicate?
  /// The order of the lines, by column indexes; nil if the rows already have the request's order.
  private(set) var order: [(place: Int, descriptor: FetchSortDescriptor)]?

  private let entity: Entity
  private let model: ManagedObjectModel

  /// Whether a line represents a group of objects instead of a single one.
  var isGrouped: Bool {
    !groups.isEmpty || columns.contains { if case .aggregate = $0 { true } else { false } }
  }

  /// The expressions that are evaluated for objects.
  var expressions: [FetchExpression] {
    groups
      + columns.compactMap { column in
        switch column {
        case .value(let expression): expression
        case .aggregate(let aggregate): aggregate.argument
        }
      }
  }

  /// - Throws: ``PersistenceError/Code/unknownProperty``; ``PersistenceError/Code/invalidRequest`` for a to-many
  ///   relationship, and for a value that may differ between members of a group.
  init(_ request: FetchRequest<ManagedObject>, of entity: Entity, in model: ManagedObjectModel) throws {
    self.entity = entity
    self.model = model
    let asked =
      request.propertiesToFetch.isEmpty
      ? entity.properties.filter { $0.attribute != nil && !$0.isTransient }.map { ExpressionDescription($0.name) }
      : request.propertiesToFetch
    names = asked.map(\.name)
    resultTypes = asked.map(\.resultType)
    groups = request.propertiesToGroupBy.map(\.expression)
    columns = asked.map { Self.column($0.expression, of: entity, in: model) }
    for expression in asked.map(\.expression) + groups { try Self.check(expression, of: entity, in: model) }
    try parseOrder(request.sortDescriptors)
    try takeCondition(request.havingPredicate)
    try requireSingleValues()
  }

  private static func column(
    _ expression: FetchExpression, of entity: Entity, in model: ManagedObjectModel
  ) -> ValueQuery.Column {
    GroupAggregate(expression, over: entity, in: model).map(ValueQuery.Column.aggregate) ?? .value(expression)
  }

  /// - Throws: If the expression has an unknown key, or evaluates to objects of a to-many relationship.
  private static func check(_ expression: FetchExpression, of entity: Entity, in model: ManagedObjectModel) throws {
    var argument = expression
    if let aggregate = GroupAggregate(expression, over: entity, in: model) { argument = aggregate.argument ?? .current }
    try PredicateCheck.check(.compare(argument, .equal, .constant(.null)), over: entity, in: model)
    guard let keys = argument.keys else { return }
    var current = entity
    for key in keys {
      guard let relationship = current.relationship(named: key) else { return }
      current = model.destination(of: relationship)
      guard relationship.isToMany else { continue }
      if keys.contains(where: { CollectionOperator(rawValue: $0) != nil }) { return }
      throw PersistenceError(
        .invalidRequest, at: .property(entity.name, keys.joined(separator: ".")),
        "A result row can't contain the objects of the to-many relationship '\(key)'.",
        fix: "Fetch an aggregate over it, such as '\(key).@count', or the objects themselves.")
    }
  }

  /// Returns the index of the column with a name or an expression, or nil if there is none.
  private func place(of expression: FetchExpression) -> Int? {
    if case .variable(let name) = expression { return names.firstIndex(of: name) }
    if let keys = expression.keys, let index = names.firstIndex(of: keys.joined(separator: ".")) { return index }
    return columns.firstIndex(of: Self.column(expression, of: entity, in: model))
  }

  private mutating func placeAdding(_ expression: FetchExpression) throws -> Int? {
    if let place = place(of: expression) { return place }
    let column = Self.column(expression, of: entity, in: model)
    switch column {
    case .aggregate: try Self.check(expression, of: entity, in: model)
    case .value: guard groups.contains(expression) else { return nil }
    }
    columns.append(column)
    return columns.count - 1
  }

  /// Groups are sorted by their columns; objects are sorted by the store if the order uses properties alone.
  private mutating func parseOrder(_ descriptors: [FetchSortDescriptor]) throws {
    let isByProperties = descriptors.allSatisfy { descriptor in
      (try? SortCheck.check(descriptor, of: entity, in: model)) != nil
    }
    guard isGrouped || !isByProperties else { return }
    order = try descriptors.map { descriptor in
      guard descriptor.textQuery == nil else {
        throw PersistenceError(
          .invalidRequest, at: .property(entity.name, descriptor.key),
          "Only objects can be sorted by relevance, not \(isGrouped ? "groups" : "computed columns").",
          fix: "Fetch the objects, or sort by columns only.")
      }
      if let place = try placeAdding(descriptor.expression) { return (place, descriptor) }
      throw PersistenceError(
        .unknownProperty, at: .property(entity.name, descriptor.key),
        "Result rows can't be sorted by '\(descriptor.key)', which isn't one of their columns.",
        fix: "Sort by the name of a column, or by a property that the rows are grouped by.")
    }
  }

  private mutating func takeCondition(_ condition: FetchPredicate?) throws {
    having = try condition?.replacing { expression in
      if let place = try placeAdding(expression) { return .path(of: .current, [String(place)]) }
      guard let keys = expression.keys else { return nil }
      let key = keys.joined(separator: ".")
      throw PersistenceError(
        .invalidRequest, at: .property(entity.name, key),
        "The condition on the result rows uses '\(key)', which isn't one of their columns.",
        fix: "Use the name of a column, a property that the rows are grouped by, or an aggregate.")
    }
  }

  private func requireSingleValues() throws {
    guard isGrouped else { return }
    for column in columns {
      guard case .value(let expression) = column, !groups.contains(expression), expression.constantValue == nil
      else { continue }
      throw PersistenceError(
        .invalidRequest, at: .entity(entity.name),
        "'\(ValueWords.format(expression))' may have several values within a group.",
        fix: "Put it into propertiesToGroupBy, or fetch an aggregate over it.")
    }
  }
}
