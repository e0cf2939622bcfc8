public import Foundation
public import Persist

/// A shop whose programs are replaced version by version while the others go on: its models, and the names of what all
/// of them have.
public enum RolloutShop {
  public enum Version: Int, CaseIterable, Sendable {
    case first = 1
    case second, third

    public var next: Version? { Version(rawValue: rawValue + 1) }
  }

  /// A property of an entry, or the sum of a counter.
  public enum Property: Sendable { case name, count, category, tags, total }

  public static let categories = ["tea", "coffee", "water"]
  public static let tags = ["hot", "cold", "new"]
  public static let counters = ["left", "right"]

  public static func name(_ property: Property, in version: Version) -> String {
    switch (property, version) {
    case (.name, .first): "name"
    case (.name, .second): "title"
    case (.name, .third): "heading"
    case (.count, .third): "quantity"
    case (.count, _): "count"
    case (.category, .first): "category"
    case (.category, .second): "group"
    case (.category, .third): "section"
    case (.tags, .first): "tags"
    case (.tags, _): "labels"
    case (.total, .first): "total"
    case (.total, _): "sum"
    }
  }

  /// Names change with each version. The second one also changes a type, requires a value and unique codes, and has
  /// another attribute in the place of one; the third orders a relationship.
  public static func model(_ version: Version) throws -> ModelVersion {
    func own(_ property: Property) -> String { name(property, in: version) }
    func former(_ property: Property) -> String? {
      let former = Version(rawValue: version.rawValue - 1).map { name(property, in: $0) }
      return former == own(property) ? nil : former
    }
    var attributes = [
      AttributeDescription("code", .string),
      AttributeDescription(own(.name), .string, renamingIdentifier: former(.name)),
      version == .first
        ? AttributeDescription(own(.count), .int64)
        : AttributeDescription(
          own(.count), .decimal, isOptional: false, default: .decimal(0), renamingIdentifier: former(.count)),
    ]
    switch version {
    case .first: attributes.append(AttributeDescription("colour", .string))
    case .second:
      attributes.append(
        AttributeDescription("state", .string, isOptional: false, default: .string("new"), isIndexed: true))
    case .third:
      attributes.append(
        AttributeDescription(
          "status", .string, isOptional: false, default: .string("new"), renamingIdentifier: "state", isIndexed: true))
    }
    let entities = [
      EntityDescription(
        "Entry", attributes: attributes,
        relationships: [
          RelationshipDescription(
            own(.category), to: "Category", inverse: "entries", renamingIdentifier: former(.category)),
          RelationshipDescription(
            own(.tags), toMany: "Tag", inverse: "entries", isOrdered: version == .third,
            renamingIdentifier: former(.tags)),
        ], uniquenessConstraints: version == .first ? [] : [["code"]]),
      EntityDescription(
        "Category", attributes: [AttributeDescription("label", .string)],
        relationships: [RelationshipDescription("entries", toMany: "Entry", inverse: own(.category))]),
      EntityDescription(
        "Tag", attributes: [AttributeDescription("label", .string)],
        relationships: [RelationshipDescription("entries", toMany: "Entry", inverse: own(.tags))]),
      EntityDescription(
        "Counter",
        attributes: [
          AttributeDescription("label", .string),
          AttributeDescription(own(.total), .int64, default: .integer(0), renamingIdentifier: former(.total)),
        ]),
    ]
    let title = "Rollout \(version.rawValue)"
    return ModelVersion(
      name: title, model: try ManagedObjectModel(ModelDescription(entities: entities, versionIdentifiers: [title])))
  }

  /// Nobody waits as long as this; a busy machine may take its time.
  public static var options: StoreOptions { StoreOptions(busyTimeout: .seconds(120)) }

  /// Opens the store with the model of a version.
  public static func open(_ url: URL, _ version: Version) throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(model: try model(version).model)
    try coordinator.addStore(at: url, options: options)
    return coordinator
  }

  /// What all versions have of an entry, in the same words.
  public static func text(of entry: ManagedObject, _ version: Version) -> String {
    func value(_ property: Property) -> Any? { entry[name(property, in: version)] }
    let tags = (value(.tags) as? RelationshipSet<ManagedObject>)?.compactMap { $0["label"] as? String }
    return RolloutEntry(
      name: value(.name) as? String ?? "", count: value(.count).map { "\($0)" } ?? "0",
      category: (value(.category) as? ManagedObject)?["label"] as? String ?? "", tags: tags ?? []
    ).text
  }
}

/// What all versions have of an entry.
public struct RolloutEntry: Sendable {
  public var name: String
  public var count: String
  public var category: String
  public var tags: [String]

  public init(name: String, count: String, category: String = "", tags: [String] = []) {
    (self.name, self.count, self.category, self.tags) = (name, count, category, tags)
  }

  public var text: String { "\(name)|\(count)|\(category)|\(tags.sorted().joined(separator: ","))" }
}
