/// A step that is executed object by object, with data needed for each object.
///
/// A class with few, small fields: copying a ``CopyPlan/Step`` for each object costs more than inserting it.
final class StepWork {
  let step: CopyPlan.Step
  let index: Int
  let mappingName: String
  let source: Entity?
  /// The difference between the keys of the objects and those of their sources.
  let offset: Int64
  let isKeyed: Bool
  let isComplete: Bool
  /// Whether an object created by default behavior has the key of its source, plus the offset.
  let givesKeys: Bool
  /// A plain `EntityMigrationPolicy` if the mapping names none.
  let policy: EntityMigrationPolicy
  /// The table of the destination objects; nil if the step creates none.
  let place: ManagedObjectContext.RowPlace?
  let evaluator: ExpressionEvaluator
  let program: MappingProgram
  /// The program of the last mapping that the policy changed before it requested the default behavior.
  private var changed: (mapping: EntityMapping, program: MappingProgram)?
  /// Ascending ranges of keys whose sources all have an object with their key, created by default behavior for a
  /// policy. A range comprises at least a batch, so that there are few.
  private var ownRanges: [ClosedRange<Int64>] = []
  private var isLastBatchOwn = false

  init(
    _ step: CopyPlan.Step, for manager: MigrationManager, policy: EntityMigrationPolicy,
    place: ManagedObjectContext.RowPlace?, evaluator: ExpressionEvaluator
  ) {
    self.step = step
    index = step.index
    mappingName = step.mapping.name
    source = step.source
    offset = step.offset
    isKeyed = step.isKeyed
    isComplete = step.isComplete
    givesKeys = step.selection != .custom && step.source != nil && place != nil
    self.policy = policy
    self.place = place
    self.evaluator = evaluator
    program = MappingProgram(step, for: manager, evaluator: evaluator)
  }

  /// The program of a mapping that a policy passes on: the step's own, or one for a mapping that the policy changed.
  ///
  /// - Parameter make: prepares a step with a changed mapping.
  func program(
    for mapping: EntityMapping, _ make: (CopyPlan.Step) throws -> MappingProgram
  ) rethrows -> MappingProgram {
    // Without a policy, the mapping is unchanged.
    guard step.policy != nil, !mapping.createsObjects(like: step.mapping) else { return program }
    if let changed, changed.mapping.createsObjects(like: mapping) { return changed.program }
    var step = step
    step.mapping = mapping
    let program = try make(step)
    changed = (mapping, program)
    return program
  }

  /// Records the keys of a batch of source objects. Batches are in ascending order of their keys.
  func record(_ keys: ClosedRange<Int64>, areOwn: Bool) {
    defer { isLastBatchOwn = areOwn }
    guard areOwn else { return }
    guard isLastBatchOwn, let last = ownRanges.popLast() else { return ownRanges.append(keys) }
    ownRanges.append(last.lowerBound...keys.upperBound)
  }

  /// Whether a source object's destination object with its key is saved.
  func hasOwn(_ key: Int64) -> Bool {
    var (low, high) = (0, ownRanges.count)
    while low < high {
      let middle = (low + high) / 2
      if ownRanges[middle].upperBound < key { low = middle + 1 } else { high = middle }
    }
    return low < ownRanges.count && ownRanges[low].contains(key)
  }
}

extension EntityMapping {
  /// Whether both create the same objects from the same source: everything is equal that expressions can use.
  ///
  /// Compared for each object. Equal arrays and dictionaries share their storage, so that it takes little time.
  fileprivate func createsObjects(like other: EntityMapping) -> Bool {
    attributeMappings == other.attributeMappings && relationshipMappings == other.relationshipMappings
      && userInfo == other.userInfo && name == other.name && policyName == other.policyName
      && sourceEntityName == other.sourceEntityName && destinationEntityName == other.destinationEntityName
  }
}
