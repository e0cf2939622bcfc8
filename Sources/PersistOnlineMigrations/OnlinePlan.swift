public import Persist
import PersistPostgreSQL

/// The plan of an online migration: for each difference of the models, how both are served, or why they can't be.
public struct OnlinePlan: Sendable, Hashable {
  /// The way in which a difference is served.
  public enum Way: String, Sendable, Hashable {
    /// Both models use the same tables and columns.
    case shared
    /// The new model gets a table, a column or an index of its own.
    case added
    /// Two columns or tables have the same content, which triggers keep in step.
    case mirrored
    /// Places of the old model alone, which remain until the store is contracted.
    case kept
    /// Programs with both models can't be served.
    case refused
  }

  /// A difference.
  public struct Step: Sendable, Hashable {
    /// The difference.
    public var operation: MigrationOperation
    /// The way in which it is served.
    public var way: Way
    /// The reason of a refusal; nil for others.
    public var reason: String?
    /// The advice in place of a refused difference; nil for others.
    public var fix: String?
  }

  /// Statements that run together.
  public struct Phase: Sendable, Hashable {
    /// `expand`, `backfill` or `contract`.
    public var name: String
    /// The locks that it holds, in a sentence.
    public var locks: String
    /// The statements, in order.
    public var sql: [String]
  }

  /// The store's version.
  public var from: String
  /// The new version.
  public var to: String
  /// The differences.
  public var steps: [Step]
  /// The work, in order; empty if it isn't possible.
  public var phases: [Phase]
  /// Everything that prevents the migration.
  public var refusals: [OnlineRefusal]

  /// Whether the store can be expanded, as far as that doesn't depend on its rows.
  public var isPossible: Bool { refusals.isEmpty }

  /// The refusals as one error; nil if there are none.
  public var error: PersistenceError? {
    guard !refusals.isEmpty else { return nil }
    let errors = refusals.map { refusal in
      PersistenceError(
        .mappingNotInferable, at: PersistenceError.Place(entity: refusal.entity, property: refusal.property),
        refusal.line, fix: refusal.fix)
    }
    return PersistenceError.combining(
      errors, as: .mappingNotInferable,
      "\(errors.count) differences between '\(from)' and '\(to)' can't be served at the same time. "
        + "The store is unchanged.")
  }
}

extension OnlinePlan {
  /// - Parameter obstacles: The obstacles in the store itself, apart from its models.
  init(_ models: OnlineModels, obstacles: [OnlineConnection.Obstacle]) {
    from = models.forward.source.name
    to = models.forward.destination.name
    refusals =
      models.refusals + obstacles.map { OnlineRefusal(nil, nil, because: RefusalReason($0.reason, fix: $0.fix)) }
    let found = models.refusals
    steps = models.forward.operations.map { operation in
      let refusal = found.first { refusal in
        refusal.entity == operation.entity && (refusal.property == nil || refusal.property == operation.property)
      }
      let way = refusal == nil ? Self.way(of: operation, models) : .refused
      return Step(operation: operation, way: way, reason: refusal?.reason, fix: refusal?.fix)
    }
    phases = refusals.isEmpty ? Self.phases(of: models) : []
  }

  private static func way(of operation: MigrationOperation, _ models: OnlineModels) -> Way {
    let place = [operation.entity, operation.property].compactMap { $0 }.joined(separator: ".")
    let expansion = models.expansion
    let labels = expansion.pairs.map(\.label) + expansion.formulas.map(\.label) + expansion.composites.map(\.label)
    if operation.property != nil, labels.contains(place) { return .mirrored }
    switch operation.kind {
    case .addEntity, .addAttribute, .addRelationship, .addIndex, .addUniquenessConstraint, .makeAttributePersistent,
      .changeIndex, .changeDerivation, .makeOrdered:
      return .added
    case .removeEntity, .removeAttribute, .removeRelationship, .removeIndex, .removeUniquenessConstraint,
      .makeAttributeTransient, .makeUnordered:
      return .kept
    case .renameAttribute, .renameRelationship, .makeToMany, .makeToOne: return .mirrored
    default: return .shared
    }
  }

  private static func phases(of models: OnlineModels) -> [Phase] {
    let joins = Set(models.second.joinTables.map(\.name))
    let hidden = models.first.concreteNumbers(besides: models.second)
    let rest = models.forward.changes.flatMap { $0.change.remaining(besides: joins, without: hidden) }
    let gone = Places(models.first).tables(besides: Places(models.second))
    return [
      Phase(
        name: "expand",
        locks: "Access exclusive on the changed tables, until the end of the transaction; it waits for at most 200 ms.",
        sql: OnlineStatements.shown(models.expansion, for: models.second.model)),
      Phase(
        name: "backfill",
        locks: "The rows of a batch; share update exclusive, beside which others write, for indexes and foreign keys.",
        sql: OnlineStatements.shownBackfill(models.expansion, limit: BackfillPace().batchSize)),
      Phase(
        name: "contract",
        locks: "Access exclusive on the changed tables, until the end of the transaction; it waits for at most 200 ms.",
        sql: OnlineStatements.shown(rest) + gone.map { OnlineStatements.shownDrop($0) }),
    ]
  }
}
