public import Foundation

/// The creation of a destination entity's objects from those of a source entity.
///
/// ```swift
/// var people = EntityMapping("PersonToCustomer", from: "Person", to: "Customer")
/// people.attributeMappings = [try PropertyMapping("name", "$source.firstName")]
/// people.relationshipMappings = [
///   PropertyMapping("orders", valueExpression: .destinationInstances(ofRelationship: "orders"))
/// ]
/// ```
///
/// It applies to objects of exactly the source entity; subentities have separate mappings.
public struct EntityMapping: Sendable, Hashable {
  /// The effect on the objects. The raw values are Core Data's.
  public enum MappingType: Int, Sendable, Hashable, CaseIterable {
    /// A policy decides.
    case custom = 1
    /// The entity is new: there are no source objects.
    case add
    /// The objects are discarded.
    case remove
    /// The entity is unchanged.
    case copy
    /// The objects' properties are computed by the property mappings.
    case transform
  }

  /// The mapping's name, unique in its model.
  public var name: String
  /// The effect on the objects; ``MappingType/custom`` calls the policy named by ``policyName``.
  public var type: MappingType
  /// Nil for a mapping that adds an entity.
  public var sourceEntityName: String?
  /// Nil for a mapping that removes an entity.
  public var destinationEntityName: String?
  /// Core Data's hash of the source entity, if known.
  public var sourceEntityVersionHash: Data?
  /// Core Data's hash of the destination entity, if known.
  public var destinationEntityVersionHash: Data?
  /// The mapped source objects: a `FETCH`; nil for all objects of the source entity.
  ///
  /// ```swift
  /// mapping.sourceExpression = .sourceObjects(of: "Feedback", where: "rating > 3")
  /// ```
  public var sourceExpression: FetchExpression?
  /// The registered name of the ``EntityMigrationPolicy`` subclass; nil for default behavior.
  public var policyName: String?
  /// The computations of the destination object's attributes; an attribute without one keeps its default.
  public var attributeMappings: [PropertyMapping]
  /// The computations of the destination object's relationships; a relationship without one stays empty.
  public var relationshipMappings: [PropertyMapping]
  /// Custom data for the policy.
  public var userInfo: [String: StoredValue]

  /// - Parameters:
  ///   - name: nil for `SourceToDestination`.
  ///   - source: the name of the source entity; nil for none.
  ///   - destination: the name of the destination entity; nil for none.
  ///   - type: nil to derive it: `custom` with a policy, `add` without a source, `remove` without a destination,
  ///     otherwise `transform`.
  ///   - policy: the class name of the migration policy; nil for none.
  ///   - attributes: the mappings of the attributes.
  ///   - relationships: the mappings of the relationships.
  ///   - userInfo: values for the policy.
  @inline(never)
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

  /// Returns the mapping of an attribute of the destination entity; nil if it has none.
  public func attributeMapping(named name: String) -> PropertyMapping? { attributeMappings.first { $0.name == name } }

  /// Returns the mapping of a relationship of the destination entity; nil if it has none.
  public func relationshipMapping(named name: String) -> PropertyMapping? {
    relationshipMappings.first { $0.name == name }
  }
}
