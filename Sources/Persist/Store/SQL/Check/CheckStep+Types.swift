extension CheckStep {
  /// Finds values whose storage class doesn't match the attribute's type: they would be read as something else.
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
          "'\(column.property)' holds \(value.words) (\(kind.words)) instead of a value of type \(type)."
        })
    }
  }
}

extension AttributeType {
  /// The SQLite storage classes for values of the type; nil if every class is accepted.
  ///
  /// A column's affinity converts integers to reals and vice versa, so that both occur for every non-integer number
  /// type. A decimal may be a number or text, and a UUID bytes or text.
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
