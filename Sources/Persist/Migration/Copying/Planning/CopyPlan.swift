import Foundation

/// The execution plan of a mapping model for a store: data, created before anything is written.
///
/// No new keys are assigned: an object keeps the key of its source, plus a fixed offset if two entity mappings would
/// otherwise produce the same key. The source of each object is thus known without being recorded.
struct CopyPlan: Sendable {
  /// An entity mapping with its analysis.
  struct Step: Sendable {
    let index: Int
    var mapping: EntityMapping
    let source: Entity?
    var destination: Entity?
    /// The policy's class; nil for the default behavior.
    let policy: EntityMigrationPolicy.Type?
    /// The mapped source objects; all objects of the entity unless the mapping restricts them.
    let selection: Selection
    /// The difference between the keys of the objects and those of their sources.
    var offset: Int64 = 0
    /// The statement that copies the attributes of all objects; nil if they are copied object by object.
    var rows: RowCopy?
    /// By the destination's relationship names; unmapped relationships are missing.
    var relationships: [String: RelationshipWay] = Dictionary()

    /// Whether every mapped source object has one destination object with a known key.
    var isKeyed: Bool { policy == nil && selection != .custom && source != nil && destination != nil }
    /// Whether every object of the source entity has a destination object.
    var isComplete: Bool { isKeyed && selection == .all }
    /// Whether the first pass goes object by object.
    var createsByObject: Bool {
      rows == nil && source != nil && mapping.type != .remove && (destination != nil || policy != nil)
    }
    /// Whether the second pass goes object by object.
    var relatesByObject: Bool { policy != nil || relationships.values.contains(.objects) }
  }

  enum Selection: Sendable, Equatable {
    case all
    case predicate(FetchPredicate)
    /// Any other kind of expression.
    case custom
  }

  /// The way in which a relationship's members are set.
  enum RelationshipWay: Sendable, Equatable {
    /// Copied together with the attributes.
    case withRows
    /// Set through the inverse.
    case byInverse
    case pairs([PairCopy])
    case objects
  }

  let model: MappingModel
  let old: TableMap
  let new: TableMap
  /// The time that `now()` returns.
  let now: Date
  var steps: [Step]
  /// Changes made after linking: entity numbers next to keys, positions of members without one.
  var completions: [SchemaChange] = []
  /// Pairs that are related object by object and whose members keep the order of their old inverse.
  var orders: [PairCopy] = []
  /// Row counts that must be zero before the copy begins, with the blockers if they aren't.
  var checks: [(count: RowCount, blocker: MigrationBlocker)] = []
  /// The greatest key that a copied row may have, by the name of the destination hierarchy's root.
  var reservedKeys: [String: Int64] = Dictionary()

  var usesObjects: Bool { steps.contains { $0.createsByObject || $0.relatesByObject || $0.policy != nil } }

  /// The SQL of the passes, for display.
  func sql(of step: Step) -> [String] {
    (step.rows.map { [SQLText.copy($0).text] } ?? [])
      + step.relationships.sorted(on: \.key).flatMap { _, way -> [String] in
        guard case .pairs(let copies) = way else { return [] }
        return copies.map { SQLText.copy($0).text }
      }
  }
}
