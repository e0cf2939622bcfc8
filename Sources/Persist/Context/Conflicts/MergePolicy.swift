/// A strategy for resolving conflicts of a save with rows that others changed, or with values that must be unique.
///
/// ```swift
/// context.mergePolicy = .mergeByPropertyObjectTrump
/// try context.save()
/// ```
///
/// | policy | others changed the row | others deleted the row | others have the unique value |
/// |---|---|---|---|
/// | ``error`` | the save fails | the save fails | the save fails |
/// | ``mergeByPropertyStoreTrump`` | what both changed is the store's | the object is deleted | the row's values |
/// | ``mergeByPropertyObjectTrump`` | what both changed is the object's | the row is reinserted | what was set |
/// | ``overwrite`` | the object's values, changed or not | the row is reinserted | all of the object's values |
/// | ``rollback`` | the object's changes are dropped | the object is deleted | the row's values |
///
/// A new object with a unique value that a row already has becomes the object of that row, with the values of the table
/// above and the members of both; under ``rollback`` it contributes no members of many-to-many relationships. Under
/// ``mergeByPropertyObjectTrump`` such an upsert writes only the properties that the program has set on the new object,
/// including nil and values equal to the default. Other properties keep the row's values: those with a default from the
/// model or the class, those set by `awakeFromInsert`, and those never set. ``overwrite`` writes these too. If the
/// row's object is registered in the context, it receives all of this, and the new object leaves the context.
///
/// A deletion of a row that others changed is kept under ``mergeByPropertyObjectTrump`` and ``overwrite``; under
/// ``mergeByPropertyStoreTrump`` and ``rollback`` it is reverted, with the deletions it cascaded to.
///
/// Members of to-many relationships are merged individually: additions and removals of both sides apply. The order of
/// an ordered relationship is the object's, or the store's if the policy prefers the store. Two contexts that only add
/// members to one owner, or remove some, don't conflict under any policy: new members of an ordered relationship are
/// appended, and the owner shows what others saved after its own save. Reordered members, and relationships with count
/// limits or a validator, are checked like attributes.
///
/// A one-to-one relationship belongs to two rows. ``overwrite`` keeps one that the object didn't change as others saved
/// it, and a reinserted row is paired again unless its partner has another one by now.
///
/// Under ``rollback`` a many-to-many relationship between an object in conflict and one that isn't is kept: it belongs
/// to the changes of the other object, which are saved completely.
///
/// A policy is applied only after a store rejected a save. The resolved objects are validated and written again; if
/// that fails, they return to their state before the save.
public struct MergePolicy: Sendable {
  /// The kinds of merge policies.
  public enum MergeType: Sendable, Hashable, CaseIterable {
    /// One kind for each predefined policy of the same name, and `custom` for a policy with a ``ConflictResolver``.
    case error, mergeByPropertyStoreTrump, mergeByPropertyObjectTrump, overwrite, rollback, custom
  }

  /// The kind of the policy; ``MergeType/custom`` for one with a resolver.
  public let mergeType: MergeType
  private let resolver: (any ConflictResolver)?

  private init(_ type: MergeType) {
    mergeType = type
    resolver = nil
  }

  /// Fails the save with an error that lists every conflict.
  public static let error = MergePolicy(.error)
  /// Merges property by property; if both sides changed one, the store's value wins.
  public static let mergeByPropertyStoreTrump = MergePolicy(.mergeByPropertyStoreTrump)
  /// Merges property by property; if both sides changed one, the object's value wins.
  public static let mergeByPropertyObjectTrump = MergePolicy(.mergeByPropertyObjectTrump)
  /// Writes the object's whole state over the row.
  public static let overwrite = MergePolicy(.overwrite)
  /// Drops the changes of objects in conflict.
  public static let rollback = MergePolicy(.rollback)

  /// Returns a policy with a custom resolver.
  public static func custom(_ resolver: any ConflictResolver) -> MergePolicy { MergePolicy(resolver) }

  private init(_ resolver: any ConflictResolver) {
    mergeType = .custom
    self.resolver = resolver
  }
}

extension ManagedObjectContext {
  /// The handling of save conflicts with rows that others changed, and with values that must be unique.
  public var mergePolicy: MergePolicy {
    get { assignedMergePolicy as? MergePolicy ?? .error }
    set { assignedMergePolicy = newValue }
  }
}

/// Resolves the conflicts of a save with custom rules.
///
/// Both methods run in the context's isolation while the save waits, and may read and change its objects. When one
/// returns, every object is saved with its current values on top of the store's: properties that differ from the values
/// the object had read are written, all others keep the store's values. A thrown error ends the save.
///
/// ```swift
/// /// Adds up both sides' counts; all other values are the object's.
/// struct Counting: ConflictResolver {
///   func resolve(_ conflicts: [MergeConflict], in context: ManagedObjectContext) throws {
///     for conflict in conflicts {
///       guard case .integer(let before)? = conflict.objectSnapshot?["count"],
///         case .integer(let now)? = conflict.cachedSnapshot?["count"]
///       else { continue }
///       let object = context.object(with: conflict.sourceObjectID)
///       object["count"] = (object["count"] as? Int ?? 0) + Int(now - before)
///     }
///   }
/// }
/// ```
///
/// A method without an implementation throws the conflicts, like ``MergePolicy/error``. To delegate conflicts without a
/// custom rule, call ``MergePolicy/resolve(_:in:)-([MergeConflict],_)`` of another policy.
public protocol ConflictResolver: Sendable {
  /// Resolves conflicts with rows that others changed or deleted.
  func resolve(_ conflicts: [MergeConflict], in context: ManagedObjectContext) throws
  /// Resolves conflicts of unique values. Give the objects other values, delete some, or delegate to a policy.
  func resolve(_ conflicts: [ConstraintConflict], in context: ManagedObjectContext) throws
}

extension ConflictResolver {
  /// Fails the save: the default if only conflicts of unique values are resolved.
  ///
  /// - Throws: ``PersistenceError/Code/mergeConflict`` with every conflict.
  public func resolve(_ conflicts: [MergeConflict], in context: ManagedObjectContext) throws {
    throw PersistenceError(conflicts)
  }

  /// Fails the save: the default if only conflicts with changed rows are resolved.
  ///
  /// - Throws: ``PersistenceError/Code/constraintConflict`` with every conflict.
  public func resolve(_ conflicts: [ConstraintConflict], in context: ManagedObjectContext) throws {
    throw PersistenceError(conflicts)
  }
}

extension MergePolicy {
  /// Resolves conflicts with rows that others changed or deleted, in the context's objects. Nothing is written.
  ///
  /// - Throws: ``PersistenceError/Code/mergeConflict`` for ``error``, the errors of a custom policy, the store's
  ///   errors.
  public func resolve(_ conflicts: [MergeConflict], in context: ManagedObjectContext) throws {
    guard let resolver else {
      guard let rule = ConflictRule(mergeType) else { throw PersistenceError(conflicts) }
      var resolution = RowConflictResolution(in: context, by: rule)
      return try resolution.resolve(conflicts)
    }
    try resolver.resolve(conflicts, in: context)
    // Conflicts that the resolver didn't delegate: the objects' changes apply on top of the store's values.
    var resolution = RowConflictResolution(in: context, by: .object)
    try resolution.resolve(conflicts)
  }

  /// Resolves conflicts of unique values, in the context's objects. Nothing is written.
  ///
  /// - Throws: ``PersistenceError/Code/constraintConflict`` for ``error``, the errors of a custom policy, the store's
  ///   errors.
  public func resolve(_ conflicts: [ConstraintConflict], in context: ManagedObjectContext) throws {
    if let resolver { return try resolver.resolve(conflicts, in: context) }
    guard let rule = ConflictRule(mergeType) else { throw PersistenceError(conflicts) }
    try ConstraintResolution(in: context, by: rule).resolve(conflicts)
  }
}

/// The side that wins if both changed the same property.
enum ConflictRule {
  case store, object, overwrite, rollback

  /// Returns nil for policies without a rule for all cases.
  init?(_ type: MergePolicy.MergeType) {
    switch type {
    case .error, .custom: return nil
    case .mergeByPropertyStoreTrump: self = .store
    case .mergeByPropertyObjectTrump: self = .object
    case .overwrite: self = .overwrite
    case .rollback: self = .rollback
    }
  }

  /// Whether the object's changes take precedence over those of others.
  var keepsChanges: Bool { self == .object || self == .overwrite }
}
