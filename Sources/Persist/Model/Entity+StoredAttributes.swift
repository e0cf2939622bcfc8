extension Entity {
  /// Returns the stored attribute that a key names, and the element if it is composite: `name`, `location.x`.
  ///
  /// - Returns: nil if the key doesn't name anything that is stored in one column.
  func storedAttribute(_ key: String) -> (property: Property, element: Property.Element?)? {
    let path = key.split(separator: ".").map(String.init)
    guard let name = path.first, let property = property(named: name), let attribute = property.attribute,
      !attribute.isTransient
    else { return nil }
    guard attribute.type == .composite else { return path.count == 1 ? (property, nil) : nil }
    return property.elements.first { $0.path == path }.map { (property, $0) }
  }
}
