import Foundation

/// The values of attribute columns, as SQL over the source row.
extension CopyPlanner {
  /// The columns of an attribute with their values; nil if SQL has no exact equivalent.
  mutating func values(
    of attribute: AttributeDescription, _ property: Property, in step: CopyPlan.Step
  ) -> [RowCopy.Column]? {
    guard let destination = step.destination, let source = step.source else { return nil }
    let columns = new[destination].columns.filter { $0.property == property.name }
    let expression = step.mapping.attributeMapping(named: property.name)?.valueExpression
    if attribute.type == .composite {
      return composite(attribute, property, columns: columns, expression: expression, from: source, in: step)
    }
    guard let column = columns.first else { return [] }
    guard let value = value(of: attribute, expression, from: source, in: step) else { return nil }
    return [.init(column.name, value)]
  }

  private mutating func value(
    of attribute: AttributeDescription, _ expression: FetchExpression?, from source: Entity, in step: CopyPlan.Step
  ) -> RowCopy.Value? {
    guard let expression else { return literal(attribute.defaultValue, attribute).map(RowCopy.Value.expression) }
    if let value = expression.constantValue { return literal(value, attribute).map(RowCopy.Value.expression) }
    if let name = expression.sourceKey {
      return column(name, of: source, as: attribute, in: step).map(RowCopy.Value.expression)
    }
    if let (name, fill) = expression.sourceKeyAndFill, let fill,
      let column = column(name, of: source, as: attribute, in: step),
      case .constant(let constant)? = literal(fill, attribute)
    {
      return .expression(.filled(column, with: constant))
    }
    return term(expression, from: source, as: attribute)
  }

  private func literal(_ value: StoredValue, _ attribute: AttributeDescription) -> RowExpression? {
    if value.isNull { return .constant(.null) }
    guard let value = AttributeValue(attribute).converted(value) else { return nil }
    // A value too large for its row needs a file.
    if case .data(let data) = value, attribute.storesMarkedBytes, data.count > TableMap.largestInlineValue {
      return nil
    }
    return SQLValue(value, of: attribute).map(RowExpression.constant)
  }

  /// A source attribute's column, if its values have the same meaning in the new attribute.
  private mutating func column(
    _ name: String, of source: Entity, as attribute: AttributeDescription, in step: CopyPlan.Step
  ) -> RowExpression? {
    guard let property = source.property(named: name), let before = property.attribute, before.type != .composite,
      !before.isTransient, let column = old[source].column(slot: property.slot)
    else { return nil }
    return self.column(column, of: source, from: before, name: name, as: attribute, in: step)
  }

  /// - Parameter name: The name of the source's attribute, or of its element.
  private mutating func column(
    _ column: TableMap.Column, of source: Entity, from before: AttributeDescription, name: String,
    as attribute: AttributeDescription, in step: CopyPlan.Step
  ) -> RowExpression? {
    switch AttributeConversion(from: before.type, to: attribute.type) {
    case .same, .exact: break
    case .refused: return nil
    case .exactWithin(let range):
      plan.checks.append(
        (
          .outside(range, old[source].table, column: column.name, .entities([old[source].number])),
          MigrationBlocker(
            .migrationFailed, entity: step.destination?.name, property: attribute.name,
            what: "Values of \(source.name).\(name) that \(attribute.summary) can't represent",
            fix: "Give the property a larger type, or change the values first.")
        ))
    }
    if before.type == .string, attribute.type == .uri {
      plan.checks.append(
        (
          .otherThanURIs(old[source].table, column: column.name, .entities([old[source].number])),
          MigrationBlocker(
            .migrationFailed, entity: step.destination?.name, property: attribute.name,
            what: "Values of \(source.name).\(name) that aren't URIs",
            fix: "Change the values first, or give the property another type.")
        ))
    }
    switch MarkChange(from: before, to: attribute) {
    case .added: return .marked(column.name)
    case .removed: return nil
    case .same:
      guard before.storesMarkedBytes else { return .column(column.name) }
      // A file belongs to one value. Further copies of the value are made object by object, which writes new files.
      return takenFiles.insert([source.name, column.name]).inserted ? .column(column.name) : nil
    }
  }

  /// An expression over the source row, if its kind is the attribute's.
  private func term(
    _ expression: FetchExpression, from source: Entity, as attribute: AttributeDescription
  ) -> RowCopy.Value? {
    guard !attribute.storesMarkedBytes, expression.variables.isSubset(of: [MappingVariable.source]) else {
      return nil
    }
    var translation = PredicateTranslation(old, storeIdentifier: storeIdentifier, now: now, fullText: [])
    let scope = PredicateTranslation.Scope(root: .init(row: SQLText.RowSelection.root, entity: source))
    switch translation.operand(expression.overSource, in: scope) {
    case nil: return nil
    case .constant(let value)?: return literal(value, attribute).map(RowCopy.Value.expression)
    case .term(let term, _)? where !ParserStackUse.holds(term): return nil
    case .term(let term, let kind)?:
      switch (kind, attribute.type) {
      case (.whole, .int64), (.text, .string), (.uri, .uri), (.uuid, .uuid), (.decimal, .decimal), (.data, .binary),
        (.data, .transformable):
        return .term(term)
      case (.whole, .double), (.number, .double), (.date, .date): return .term(.real(term))
      default: return nil
      }
    }
  }

  /// A composite attribute, element by element.
  private mutating func composite(
    _ attribute: AttributeDescription, _ property: Property, columns: [TableMap.Column],
    expression: FetchExpression?, from source: Entity, in step: CopyPlan.Step
  ) -> [RowCopy.Column]? {
    if let constant = expression.map(\.constantValue) ?? attribute.defaultValue {
      return constants(constant, for: property, in: columns)
    }
    guard let (key, fill) = expression?.sourceKeyAndFill, let before = source.property(named: key),
      before.attribute?.type == .composite, before.attribute?.isTransient == false
    else { return nil }
    let move = CompositeMove(from: before, to: property)
    var values: [RowCopy.Column] = []
    for part in move.parts {
      guard let column = columns.first(where: { $0.slot == part.element.slot }) else { continue }
      let (place, former) = (old[source], part.old.flatMap { old[source].column(slot: $0.slot) })
      var own: RowExpression?
      if let former, let element = part.old {
        own = self.column(
          former, of: source, from: element.attribute, name: element.path.joined(separator: "."),
          as: part.element.attribute, in: step)
      }
      let value = move.expression(
        of: part, filling: fill, column: { place.column(slot: $0.slot)?.name }, converted: { _ in own })
      guard let value else { return nil }
      values.append(.init(column.name, value))
    }
    return values
  }

  private func constants(
    _ value: StoredValue, for property: Property, in columns: [TableMap.Column]
  ) -> [RowCopy.Column]? {
    var values: [RowCopy.Column] = []
    for column in columns {
      guard let element = property.elements.first(where: { $0.slot == column.slot }),
        let literal = literal(value.element(at: element.path.dropFirst()), element.attribute)
      else { return nil }
      values.append(.init(column.name, literal))
    }
    return values
  }
}

extension FetchExpression {
  /// The key, if the expression is just `$source.key`.
  var sourceKey: String? {
    guard case .path(of: .variable(MappingVariable.source), let keys) = self, keys.count == 1, let key = keys.first,
      !key.hasPrefix("@")
    else { return nil }
    return key
  }

  /// The key, and the replacement for missing values, if the expression is `$source.key`, with or without a replacement
  /// as inferred mapping models have it.
  var sourceKeyAndFill: (key: String, fill: StoredValue?)? {
    if let sourceKey { return (sourceKey, nil) }
    guard case .ternary(let condition, .constant(let fill), let value) = self, let key = value.sourceKey,
      condition == .compare(value, .equal, .constant(.null))
    else { return nil }
    return (key, fill)
  }

  /// The expression with the source object as the evaluated object.
  var overSource: FetchExpression { replacingVariables([MappingVariable.source: .current]) }
}
