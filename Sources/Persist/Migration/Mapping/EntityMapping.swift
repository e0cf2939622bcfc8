public import Foundation

/// How the objects of a destination entity come from those of a source entity.
///
/// ```swift
/// var people = EntityMapping("PersonToCustomer", from: "Person", to: "Customer")
/// people.attributeMappings = [try PropertyMapping("name", "$source.firstName")]
/// people.relationshipMappings = [
///   PropertyMapping("orders", valueExpression: .destinationInstances(ofRelationship: "orders"))
/// ]
/// ```
///
/// It takes the objects of exactly the source entity; those of its subentities have mappings of their own.
public struct EntityMapping: Sendable, Hashable {
  /// What becomes of the objects. Raw values are Core Data's numbers.
  public enum MappingType: Int, Sendable, Hashable, CaseIterable {
    /// A policy decides.
    case custom = 1
    /// The entity is new: there are no objects to begin with.
    case add
    /// The objects go.
    case remove
    /// The entity didn't change.
    case copy
    case transform
  }

  /// The mapping's name among those of its model.
  public var name: String
  public var type: MappingType
  /// Nil for a mapping that adds.
  public var sourceEntityName: String?
  /// Nil for a mapping that removes.
  public var destinationEntityName: String?
  /// Core Data's hash of the source entity, where it is known.
  public var sourceEntityVersionHash: Data?
  public var destinationEntityVersionHash: Data?
  /// Which source objects are mapped: a `FETCH`; nil for all of the source entity.
  ///
  /// ```swift
  /// mapping.sourceExpression = .sourceObjects(of: "Feedback", where: "rating > 3")
  /// ```
  public var sourceExpression: FetchExpression?
  /// The class of the ``EntityMigrationPolicy``, as it is registered; nil for the plain one.
  public var policyName: String?
  public var attributeMappings: [PropertyMapping]
  public var relationshipMappings: [PropertyMapping]
  /// What the policy may want to know.
  public var userInfo: [String: StoredValue]

  /// - Parameters:
  ///   - name: nil for `SourceToDestination`.
  ///   - type: nil to take it from the rest: `custom` with a policy, `add` without a source, `remove` without a
  ///     destination, else `transform`.
  public init(
    _ name: String? = nil, from source: String?, to destination: String?, type: MappingType? = nil,
    policy: String? = nil, attributes: [PropertyMapping] = [], relationships: [PropertyMapping] = [],
    userInfo: [String: StoredValue] = [:]
  ) {
    self.name = name ?? Self.defaultName(from: source, to: destination)
    self.type = type ?? (policy != nil ? .custom : source == nil ? .add : destination == nil ? .remove : .transform)
    sourceEntityName = source
    destinationEntityName = destination
    policyName = policy
    attributeMappings = attributes
    relationshipMappings = relationships
    self.userInfo = userInfo
  }

  static func defaultName(from source: String?, to destination: String?) -> String {
    guard let source else { return destination ?? "" }
    return destination.map { "\(source)To\($0)" } ?? source
  }

  public func attributeMapping(named name: String) -> PropertyMapping? { attributeMappings.first { $0.name == name } }

  public func relationshipMapping(named name: String) -> PropertyMapping? {
    relationshipMappings.first { $0.name == name }
  }
}
