import Foundation

/// How a mapping model is carried out on a store: data, made before anything is written.
///
/// Keys aren't given out anew: an object keeps the key of its source, raised by a fixed distance where two entity
/// mappings would give the same one. Which object came from which source is so known without being written down.
struct CopyPlan: Sendable {
  /// One entity mapping with all that was found out about it.
  struct Step: Sendable {
    let index: Int
    var mapping: EntityMapping
    let source: Entity?
    var destination: Entity?
    /// The policy's class; nil for the plain way.
    let policy: EntityMigrationPolicy.Type?
    /// Which source objects are mapped; nil for all of the entity.
    let selection: Selection
    /// How much greater the objects' keys are than those of their sources.
    var offset: Int64 = 0
    /// The attributes of all objects in one statement; nil where it goes object by object.
    var rows: RowCopy?
    /// By the destination's relationship names; what isn't mapped isn't there.
    var relationships: [String: RelationshipWay] = [:]

    /// Whether every source object has one destination object, whose key is known.
    var isKeyed: Bool { policy == nil && selection != .custom && source != nil && destination != nil }
    /// Whether there is an object for every object of the source entity.
    var isComplete: Bool { isKeyed && selection == .all }
    /// Whether the first pass goes object by object.
    var createsByObject: Bool {
      rows == nil && source != nil && mapping.type != .remove && (destination != nil || policy != nil)
    }
    /// Whether the second pass does.
    var relatesByObject: Bool { policy != nil || relationships.values.contains(.objects) }
  }

  enum Selection: Sendable, Hashable {
    case all
    case predicate(FetchPredicate)
    /// An expression of another kind.
    case custom
  }

  /// How a relationship gets its members.
  enum RelationshipWay: Sendable, Hashable {
    /// Together with the attributes.
    case withRows
    /// By the other side.
    case byInverse
    case pairs([PairCopy])
    case objects
  }

  let model: MappingModel
  let old: TableMap
  let new: TableMap
  /// The time that `now()` stands for.
  let now: Date
  var steps: [Step]
  /// What follows on the links: entity numbers beside keys, places of members that have none yet.
  var completions: [SchemaChange] = []
  /// Pairs related object by object whose members keep the order that their old inverse had.
  var orders: [PairCopy] = []
  /// What must be zero before it begins, and what it means if it isn't.
  var checks: [(count: RowCount, blocker: MigrationBlocker)] = []
  /// The greatest key that may be given out to a copied row, by the destination hierarchy's root.
  var reservedKeys: [String: Int64] = [:]

  var usesObjects: Bool { steps.contains { $0.createsByObject || $0.relatesByObject || $0.policy != nil } }

  /// The SQL of the passes, for showing.
  func sql(of step: Step) -> [String] {
    (step.rows.map { [SQLText.copy($0).text] } ?? [])
      + step.relationships.sorted { $0.key < $1.key }.flatMap { _, way -> [String] in
        guard case .pairs(let copies) = way else { return [] }
        return copies.map { SQLText.copy($0).text }
      }
  }
}
