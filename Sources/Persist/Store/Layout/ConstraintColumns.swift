extension TableMap.EntityTable {
  /// Returns the columns of a uniqueness constraint: one for each attribute, to-one relationship or element of a
  /// composite attribute, and those of all elements for a composite attribute.
  ///
  /// - Returns: Nil unless every name has a column, because a constraint over the others would reject rows that the
  ///   model allows.
  func columns(ofConstraint names: [String]) -> [TableMap.Column]? {
    var found: [TableMap.Column] = []
    for name in names {
      let own = columns(ofConstrained: name)
      if own.isEmpty { return nil }
      found += own
    }
    return found.isEmpty ? nil : found
  }

  private func columns(ofConstrained name: String) -> [TableMap.Column] {
    let path = name.dottedKeys
    guard let first = path.first, let property = entity.property(named: first) else { return [] }
    guard property.attribute?.type == .composite else {
      return path.count == 1 ? columns.filter { $0.property == first && $0.role != .toOneEntity } : []
    }
    let slots = property.elements.filter { $0.path.starts(with: path) }.map(\.slot)
    let found = columns.filter { slots.contains($0.slot) }
    return found.count == slots.count ? found : []
  }
}
