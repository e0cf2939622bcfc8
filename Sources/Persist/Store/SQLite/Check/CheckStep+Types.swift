extension CheckStep {
  /// Values of a kind that no attribute of the column's type has: they would be read as something else.
  static func typeSteps(_ map: TableMap, _ table: TableMap.EntityTable) -> [CheckStep] {
    table.columns.compactMap { column in
      guard case .attribute(let attribute) = column.role, let kinds = attribute.type.storageClasses,
        table.entity.property(named: column.property)?.declaringEntity == table.entity.name
      else { return nil }
      let type = attribute.type.rawValue
      return CheckStep(
        kind: .wrongType, entity: table.entity.name, property: column.property,
        sql: .values(
          in: column.name, of: table.table, besides: kinds,
          entityNumbers: map.model.hierarchy(of: table.entity).map { map.numbers[$0] }),
        detail: { value, kind in
          "'\(column.property)' holds \(value.words) (\(kind.words)) instead of a \(type) value."
        })
    }
  }
}

extension AttributeType {
  /// SQLite's storage classes that values of the type can have; nil where any is read as it is.
  ///
  /// A column's affinity turns whole numbers into reals and the other way round, so that both occur for every number
  /// that isn't an integer. A decimal may be a number or text, and a UUID bytes or text.
  fileprivate var storageClasses: [String]? {
    switch self {
    case .int16, .int32, .int64, .boolean: ["integer"]
    case .double, .float, .date: ["integer", "real"]
    case .string, .uri: ["text"]
    case .binary, .transformable: ["blob"]
    case .uuid: ["blob", "text"]
    case .decimal: ["integer", "real", "text", "blob"]
    case .composite, .objectID, .undefined: nil
    }
  }
}
