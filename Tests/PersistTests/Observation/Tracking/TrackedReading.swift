import Observation
import PersistTestSupport

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// One readable property of an object.
enum TrackedReading: Hashable {
  case property(String, Way)
  case isMember(String, of: ManagedObject)
  case isInserted, isUpdated, isDeleted, hasChanges, hasContext
  case version, changedNames, identifier

  /// The ways to read an attribute; all have the same result.
  enum Way: CaseIterable { case key, subscripted, primitive, path, stored }

  /// The values that an object shows, for comparison.
  enum Shown: Hashable {
    case value(String)
    case object(ObjectIdentifier?)
    case members([ObjectIdentifier])
    case set(Set<ObjectIdentifier>)
  }

  /// The slot of the property being read, or its substitute.
  func observed(of object: ManagedObject) -> ObservedProperty {
    switch self {
    case .property(let name, _), .isMember(let name, _):
      ObservedProperty(slot: object.layout.entity.slot(named: name) ?? ObservedProperty.whole.slot)
    case .isInserted, .isUpdated, .isDeleted, .hasChanges, .hasContext: .state
    case .version: .version
    case .identifier: .identifier
    case .changedNames: .whole
    }
  }

  /// Reads the property.
  ///
  /// - Parameter holding: Retains every object encountered, so that it stays the same instance.
  func read(_ object: ManagedObject, holding: (ManagedObject) -> Void) throws -> Shown {
    switch self {
    case .property(let name, let way): return try read(object, name, way, holding: holding)
    case .isMember(let name, let other): return .value("\(try object.table != nil && object.many(name).contains(other))")
    case .isInserted: return .value("\(object.isInserted)")
    case .isUpdated: return .value("\(object.isUpdated)")
    case .isDeleted: return .value("\(object.isDeleted)")
    case .hasChanges: return .value("\(object.hasChanges)")
    case .hasContext: return .value("\(object.managedObjectContext != nil)")
    case .version: return .value("\(object.version ?? 0)")
    case .changedNames: return .value("\(object.changedPropertyNames.sorted())")
    case .identifier: return .value("\(object.objectID)")
    }
  }

  /// Whether the two sides of a relationship were read before and after others saved without being merged, so that the
  /// result depends on which of them is in memory.
  func dependsOnUnmergedRows(of object: ManagedObject) -> Bool {
    guard case .isMember(let name, let member) = self, object.table != nil, member.table != nil,
      let relationship = object.layout.relationships.first(where: { $0.name == name }),
      let back = member.back(of: relationship), !back.isToMany
    else { return false }
    let isListed = (try? object.many(name)).map { Array($0).contains(member) }
    return isListed != (member.destination(at: back.slot) === object)
  }

  private func read(
    _ object: ManagedObject, _ name: String, _ way: Way, holding: (ManagedObject) -> Void
  ) throws -> Shown {
    guard let property = object.entity.property(named: name) else { return .value("none") }
    if property.isToMany {
      guard object.table != nil else { return .set([]) }
      let members = try object.many(name)
      members.forEach(holding)
      let ids = members.map { ObjectIdentifier($0) }
      return members.source.isOrdered ? .members(ids) : .set(Set(ids))
    }
    if property.isToOne {
      let end = way == .stored ? object.toOne(at: property.slot) : object[name] as? ManagedObject
      if let end { holding(end) }
      return .object(end.map { ObjectIdentifier($0) })
    }
    let value: Any? =
      switch way {
      case .key: try object.value(forKey: name)
      case .subscripted: object[name]
      case .primitive: try object.primitiveValue(forKey: name)
      case .path: try object.value(forKeyPath: name)
      case .stored:
        switch property.attribute?.type {
        case .string: object.string(at: property.slot)
        case .int64: object.integer(at: property.slot)
        default: DynamicValue.any(object.attributeValue(at: property.slot))
        }
      }
    if let parts = value as? [String: Any] {
      return .value(parts.map { "\($0.key) = \($0.value)" }.sorted().joined(separator: ", "))
    }
    return .value(value.map { "\($0)" } ?? "none")
  }

  static func random(of object: ManagedObject, using random: inout SeededRandom) -> TrackedReading {
    switch Int.random(in: 0..<12, using: &random) {
    case 0...7:
      let name = object.layout.properties.randomElement(using: &random)?.name ?? ""
      return .property(name, Way.allCases.randomElement(using: &random) ?? .key)
    case 8:
      guard let relationship = object.layout.relationships.filter(\.isToMany).randomElement(using: &random),
        let context = object.table?.context,
        let member = context.liveObjects.filter({
          $0.layout.isKind(ofEntityAt: relationship.destinationIndex)
        }).sorted(by: { "\($0.objectID)" < "\($1.objectID)" }).randomElement(using: &random)
      else { return .isDeleted }
      return .isMember(relationship.name, of: member)
    default:
      return [.isInserted, .isUpdated, .isDeleted, .hasChanges, .hasContext, .version, .changedNames, .identifier]
        .randomElement(using: &random) ?? .isDeleted
    }
  }
}

/// Whether an observer was notified.
final class Told: Sendable {
  private let state = LockProtected(0)

  var count: Int { state.withLock { $0 } }
  func tell() { state.withLock { $0 += 1 } }
}

/// Reads a property under observation.
func tracking<Value>(_ read: () throws -> Value) throws -> (result: Value, told: Told) {
  let told = Told()
  let result = withObservationTracking {
    Result { try read() }
  } onChange: {
    told.tell()
  }
  return (try result.get(), told)
}
