extension CheckStep {
  /// Finds values that aren't of their attribute's type, which would be read as something else or as no value: those of
  /// a wrong storage class, and numbers, dates, UUIDs and decimals that the type can't represent.
  static func typeSteps(_ map: TableMap, _ table: TableMap.EntityTable) -> [CheckStep] {
    let attributes = table.columns.compactMap { column -> CheckStep? in
      guard case .attribute(let attribute) = column.role, let values = ColumnValues(attribute.type),
        table.entity.property(named: column.property)?.declaringEntity == table.entity.name
      else { return nil }
      let type = attribute.type.rawValue
      return CheckStep(
        kind: .wrongType, entity: table.entity.name, property: column.property,
        query: .ofFile(
          .values(
            in: column.name, of: table.table, besides: values,
            entityNumbers: map.model.hierarchy(of: table.entity).map { map.numbers[$0] })),
        detail: { value, _ in
          values.contains(value)
            ? nil : "'\(column.property)' holds \(value.words), which isn't a value of type \(type)."
        })
    }
    return attributes + columnSteps(map, table)
  }

  /// Columns that aren't properties: the versions of rows, and positions in ordered relationships.
  private static func columnSteps(_ map: TableMap, _ table: TableMap.EntityTable) -> [CheckStep] {
    let versions = table.entity.superentity == nil ? [(column: "Z_OPT", what: "version", property: String?.none)] : []
    let positions = table.orderColumns.compactMap { slot, column in
      table.entity.properties.first { $0.slot == slot && $0.declaringEntity == table.entity.name }.map { property in
        (column: column, what: "position in the inverse of '\(property.name)'", property: Optional(property.name))
      }
    }
    return (versions + positions.sorted(on: \.column)).map { column, what, property in
      CheckStep(
        kind: .wrongType, entity: table.entity.name, property: property,
        query: .ofFile(
          .values(
            in: column, of: table.table, besides: .integers,
            entityNumbers: map.model.hierarchy(of: table.entity).map { map.numbers[$0] })),
        detail: { value, _ in "The \(what) is \(value.words), which isn't an integer." })
    }
  }
}
