import Foundation

/// Reads a compiled mapping model (`.cdm`): a keyed archive of `NSMappingModel`.
struct MappingArchiveReader {
  private let url: URL
  private let root: ArchivedObject

  init(_ url: URL) throws {
    self.url = url
    let data = try BoundedFile.data(at: url, limit: PropertyList.Limits.bytes)
    root = try KeyedArchive(data: data, place: .file(url)).root()
    guard root.isKind(of: "NSMappingModel") else {
      throw PersistenceError(
        .malformedFile, at: root.place(),
        "The archive contains an object of the class \(root.className ?? "unknown"); a mapping model was expected.")
    }
  }

  func mappingModel() throws -> MappingModel {
    MappingModel(url.stem, entityMappings: try root.elements("NSEntityMappings").map(entityMapping), url: url)
  }

  private func entityMapping(_ object: ArchivedObject) throws -> EntityMapping {
    let number = try object.integer("NSMappingType")
    var mapping = EntityMapping(
      try object.text("NSMappingName"), from: try object.text("NSSourceEntityName"),
      to: try object.text("NSDestinationEntityName"),
      // Core Data uses the number 0 for a mapping without a specified type.
      type: EntityMapping.MappingType(rawValue: Int(clamping: number)),
      policy: try object.text("NSEntityMigrationPolicyClassName"),
      attributes: try object.elements("NSAttributeMappings").map(propertyMapping),
      relationships: try object.elements("NSRelationshipMappings").map(propertyMapping),
      userInfo: try Self.userInfo(of: object, "NSUserInfo"))
    mapping.sourceExpression = try expression(object, "NSSourceExpression")
    mapping.sourceEntityVersionHash = try object.member("NSSourceEntityVersionHash")?.storedValue?.bytes
    mapping.destinationEntityVersionHash = try object.member("NSDestinationEntityVersionHash")?.storedValue?.bytes
    return mapping
  }

  private func propertyMapping(_ object: ArchivedObject) throws -> PropertyMapping {
    PropertyMapping(
      try object.requiredText("NSDestinationPropertyName"),
      valueExpression: try expression(object, "NSValueExpression"),
      userInfo: try Self.userInfo(of: object, "NSUserInfo"))
  }

  private func expression(_ object: ArchivedObject, _ key: String) throws -> FetchExpression? {
    guard let archived = try object.member(key) else { return nil }
    return try Self.expression(archived)
  }

  /// Reads an archived expression of a mapping model.
  static func expression(_ archived: ArchivedObject) throws -> FetchExpression {
    do {
      return try FetchExpression(ArchivedFormat().expression(archived))
    } catch let error as UnsupportedExpression {
      throw PersistenceError(
        .malformedFile, at: archived.place(),
        "The archive contains \(error.what), which the predicate language can't express.")
    } catch var error as PersistenceError {
      error.place.file = error.place.file ?? archived.archive.place.file
      throw error
    }
  }

  static func userInfo(of object: ArchivedObject, _ key: String) throws -> [String: StoredValue] {
    try userInfo(object.entries(key))
  }

  static func userInfo(_ entries: [(name: String, value: ArchivedObject)]) throws -> [String: StoredValue] {
    var values: [String: StoredValue] = Dictionary()
    for (name, value) in entries { values[name] = try value.storedValue }
    return values
  }
}

extension StoredValue {
  fileprivate var bytes: Data? { if case .data(let data) = self { data } else { nil } }
}
