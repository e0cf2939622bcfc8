/// An observable aspect of an object: a property of its entity, or a state of the object itself.
package struct ObservedProperty: Hashable, Sendable {
  /// A property's slot; below 0 for what isn't a property.
  package let slot: Int

  init(slot: Int) { self.slot = slot }

  /// The effect of the next save on the object, and the context that it belongs to.
  package static let state = ObservedProperty(slot: -1)
  /// The version of its row.
  static let version = ObservedProperty(slot: -2)
  static let identifier = ObservedProperty(slot: -3)
  /// Everything: for what depends on all properties, as the list of the changed ones.
  static let whole = ObservedProperty(slot: -4)

  private static let lowest = -4

  // Making a key path allocates memory; there is one for each property of a usual entity.
  private static let paths: [any KeyPath<ManagedObject, ObservedProperty> & Sendable] = (lowest..<64).map(makePath)

  private static func makePath(_ slot: Int) -> any KeyPath<ManagedObject, ObservedProperty> & Sendable {
    let property = ObservedProperty(slot: slot)
    return \ManagedObject[observed: property]
  }

  /// The key path by which a registrar identifies the property.
  var path: any KeyPath<ManagedObject, ObservedProperty> & Sendable {
    let index = slot - Self.lowest
    return index < Self.paths.count ? Self.paths[index] : Self.makePath(slot)
  }
}

extension ManagedObject {
  /// For key paths alone, which are names here.
  final subscript(observed property: ObservedProperty) -> ObservedProperty { property }
}
