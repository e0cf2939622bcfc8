/// What a store says of itself, readable without opening it.
public struct StoreMetadata: Sendable, Hashable {
  /// The store's UUID, part of every object identifier.
  public var identifier: String
  /// The whole property list of `Z_METADATA.Z_PLIST`, keys that Persist doesn't know included.
  public var values: [String: PropertyList]

  public init(identifier: String, values: [String: PropertyList]) {
    self.identifier = identifier
    self.values = values
  }
}
